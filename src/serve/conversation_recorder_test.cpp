#include "serve/conversation_recorder.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "record/validate.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

ServedChat Request(const std::string& messages, const std::string& task = "",
                   const std::string& more = "") {
  return ReadChatRequest(R"({"model": "m", "metadata": {"task": ")" + task +
                         R"("}, "messages": [)" + messages + "]" + more + "}")
      .value();
}

constexpr char kHello[] = R"({"role": "user", "content": "Hello"})";

class ServeRecordTest : public testing::Test {
 protected:
  void SetUp() override { Open("hermes"); }
  void Open(const std::string& dialect) {
    recorder_.reset();
    served_ = TinyServed(dialect);
    recorder_ = ConversationRecorder::Open(directory_.path(), served_->dialect.get(),
                                           served_->tokenizer.get())
                    .value();
  }

  // A turn that says this.
  RecordedTurn Turn(const std::string& text, const std::vector<std::string>& ids = {}) {
    RecordedTurn turn;
    turn.node.author = Author::kPolicy;
    turn.node.tokens = served_->tokenizer->Encode(text);
    turn.node.logprobs.assign(turn.node.tokens.size(), -0.5f);
    turn.node.entropies.assign(turn.node.tokens.size(), 0.5f);
    const ParsedTurn parsed = served_->dialect->Parse(text, TurnEnd::kEnded);
    RecordTurn(*served_->tokenizer, parsed, &turn.node);
    turn.message.role = Role::kAssistant;
    turn.message.content = parsed.answer.value_or(parsed.content);
    for (const ParsedCall& call : parsed.calls) {
      turn.message.calls.push_back({call.name, call.arguments});
    }
    turn.call_ids = ids;
    return turn;
  }

  RecordedPlace Talk(const std::string& messages, const std::vector<std::string>& texts,
                     const std::string& completion, const std::vector<std::string>& ids = {},
                     const std::string& task = "") {
    const ServedChat request = Request(messages, task);
    const auto place = recorder_->Enter(request);
    EXPECT_TRUE(place.ok()) << place.error().message();
    std::vector<RecordedTurn> turns;
    for (const std::string& text : texts) turns.push_back(Turn(text, ids));
    const auto added = recorder_->Add(request, 7, *place, completion, std::move(turns));
    EXPECT_TRUE(added.ok()) << added.error().message();
    return *place;
  }

  std::vector<ScoredTree> Trees() {
    const auto store = RunStore::OpenForReading(directory_.path() / "store.sqlite").value();
    std::vector<ScoredTree> trees;
    for (const auto& one : store->ListTrees().value()) {
      trees.push_back(store->ReadTree(one.id).value());
      EXPECT_EQ(Validate(trees.back()), std::vector<std::string>());
    }
    return trees;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ServedModel> served_;
  std::unique_ptr<ConversationRecorder> recorder_;
};

TEST_F(ServeRecordTest, WhatFollowsIsAppendedToTheTokensThatWereDrawn) {
  // Spelled with other tokens than the tokenizer would choose.
  const RecordedPlace first = Talk(kHello, {"Hi there<|im_end|>"}, "c1");
  const RecordedPlace second = Talk(
      std::string(kHello) +
          R"(, {"role": "assistant", "content": "Hi there"}, {"role": "user", "content": "x"})",
      {"Good<|im_end|>"}, "c2");
  EXPECT_EQ(second.tree, 1);
  const auto trees = Trees();
  ASSERT_EQ(trees.size(), 1u);
  const Tree& tree = trees[0].tree;
  ASSERT_EQ(tree.leaves.size(), 1u);
  std::vector<TokenId> expected = first.context;
  const std::vector<TokenId> drawn = served_->tokenizer->Encode("Hi there<|im_end|>");
  expected.insert(expected.end(), drawn.begin(), drawn.end());
  ASSERT_GT(second.context.size(), expected.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), second.context.begin()));
  EXPECT_EQ(TokensOf(tree, PathTo(tree, tree.leaves[0].node)).size(),
            second.context.size() + served_->tokenizer->Encode("Good<|im_end|>").size());
  EXPECT_EQ(tree.seed, 7u);
}

// Two conversations that say the same: one asks for too much, is refused and asks again.
TEST_F(ServeRecordTest, ARefusedRequestDoesNotMoveToAnotherConversation) {
  Talk(kHello, {"Hi<|im_end|>"}, "a1");
  Talk(kHello, {"Hi<|im_end|>"}, "b1");
  const std::string said = std::string(kHello) + R"(, {"role": "assistant", "content": "Hi"},)";
  const auto enter = [&](const char* more) { return recorder_->Enter(Request(said + more, "")); };
  int64_t refused = 0;
  {
    const auto place = enter(R"({"role": "user", "content": "far too long"})");
    ASSERT_TRUE(place.ok());
    refused = place->tree;
    const auto other = enter(R"({"role": "user", "content": "meanwhile"})");
    EXPECT_NE(other->tree, refused) << "while it is under way the other one is taken";
  }
  const auto again = enter(R"({"role": "user", "content": "short"})");
  EXPECT_EQ(again->tree, refused);
}

TEST_F(ServeRecordTest, ResultsBelongToTheirCalls) {
  const std::string calls =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n"
      "<tool_call>\n{\"name\": \"g\", \"arguments\": {\"a\": 1}}\n</tool_call><|im_end|>";
  Talk(kHello, {calls}, "c1", {"id-f", "id-g"});
  const std::string said = std::string(kHello) + R"(, {"role": "assistant", "content": null,
      "tool_calls": [{"id": "id-f", "function": {"name": "f", "arguments": "{}"}},
                     {"id": "id-g", "function": {"name": "g", "arguments": "{\"a\": 1}"}}]})";
  Talk(said + R"(, {"role": "tool", "tool_call_id": "id-g", "content": "G"},
                   {"role": "tool", "tool_call_id": "id-f", "content": "F"})",
       {"Done<|im_end|>"}, "c2");
  const auto trees = Trees();
  ASSERT_EQ(trees.size(), 1u);
  const auto& nodes = trees[0].tree.nodes;
  const Node& tool = nodes[nodes.size() - 2];
  ASSERT_EQ(tool.author, Author::kTool);
  ASSERT_EQ(tool.results.size(), 2u);
  EXPECT_EQ(tool.results[0].call, 1);
  EXPECT_EQ(tool.results[0].content, "G");
  EXPECT_EQ(tool.results[1].call, 0);
  const auto twice =
      recorder_->Enter(Request(said + R"(, {"role": "tool", "tool_call_id": "id-f", "content": "F"},
                          {"role": "tool", "tool_call_id": "id-f", "content": "F"})"));
  EXPECT_EQ(twice.error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(ServeRecordTest, ChoicesBranchAndNamedTasksAreGroups) {
  Talk(kHello, {"One<|im_end|>", "Two<|im_end|>"}, "c1", {}, "greet");
  Talk(kHello, {"Three<|im_end|>"}, "c2", {}, "greet");
  Talk(kHello, {"Four<|im_end|>"}, "c3", {}, "other");
  Talk(kHello, {"Five<|im_end|>"}, "c4");
  Talk(std::string(kHello) +
           R"(, {"role": "assistant", "content": "Two"}, {"role": "user", "content": "?"})",
       {"More<|im_end|>"}, "c5", {}, "greet");
  const auto trees = Trees();
  ASSERT_EQ(trees.size(), 3u);
  EXPECT_EQ(trees[0].tree.leaves.size(), 3u);
  EXPECT_EQ(trees[0].tree.task.id, "greet");
  EXPECT_EQ(trees[1].tree.leaves.size(), 1u);
}

TEST_F(ServeRecordTest, ARewrittenHistoryIsANewTreeThatSaysSo) {
  Talk(kHello, {"Hi<|im_end|>"}, "c1");
  const std::string said =
      std::string(kHello) +
      R"(, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "x"})";
  Talk(said, {"Good<|im_end|>"}, "c2");
  const RecordedPlace place =
      Talk(said + R"(, {"role": "assistant", "content": "Bad"}, {"role": "user", "content": "y"})",
           {"Fine<|im_end|>"}, "c3");
  EXPECT_EQ(place.tree, 0);
  const auto trees = Trees();
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(*trees[1].tree.task.metadata.Find("rewrote_tree"), Json(1));
}

TEST_F(ServeRecordTest, WhereTheDialectRewritesThePastASegmentBegins) {
  Open("hermes:qwen3");  // drops earlier thoughts when the user speaks again
  Talk(kHello, {"<think>\nhm\n</think>\n\nHi<|im_end|>"}, "c1");
  const RecordedPlace place =
      Talk(std::string(kHello) +
               R"(, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "x"})",
           {"Good<|im_end|>"}, "c2");
  EXPECT_EQ(place.tree, 1);
  EXPECT_NE(place.folded_from, kNoNode);
  const auto trees = Trees();
  ASSERT_EQ(trees.size(), 1u);
  EXPECT_EQ(trees[0].tree.leaves.size(), 1u);
  EXPECT_GT(WholePathTo(trees[0].tree, trees[0].tree.leaves[0].node).size(),
            PathTo(trees[0].tree, trees[0].tree.leaves[0].node).size());
}

TEST_F(ServeRecordTest, RewardsStayWithTheirTrajectories) {
  Talk(kHello, {"One<|im_end|>", "Two<|im_end|>"}, "c1");
  ASSERT_TRUE(recorder_->Reward("c1", 1, "outcome", 1).ok());
  ASSERT_TRUE(recorder_->Reward("c1", 0, "outcome", 0.5).ok());
  ASSERT_TRUE(recorder_->Reward("c1", 0, "outcome", 0.25).ok()) << "the last word counts";
  EXPECT_EQ(recorder_->Reward("c9", 0, "outcome", 1).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(recorder_->Reward("c1", 2, "outcome", 1).error().code(), ErrorCode::kNotFound);
  Talk(std::string(kHello) +
           R"(, {"role": "assistant", "content": "One"}, {"role": "user", "content": "?"})",
       {"More<|im_end|>"}, "c2");
  EXPECT_EQ(recorder_->Reward("c1", 0, "outcome", 1).error().code(), ErrorCode::kNotFound)
      << "the conversation went on";
  ASSERT_TRUE(recorder_->Reward("c2", 0, "outcome", 0.75).ok());
  const auto trees = Trees();
  ASSERT_EQ(trees[0].scores.size(), 2u);
  std::map<NodeId, double> rewards;
  for (const Score& score : trees[0].scores) {
    rewards[trees[0].tree.leaves[static_cast<size_t>(score.leaf)].node] = *Total(score);
  }
  EXPECT_EQ(rewards.begin()->second, 1) << "that of the older leaf is where it was";
  EXPECT_EQ(rewards.rbegin()->second, 0.75);
}

TEST_F(ServeRecordTest, ThinkingStaysSwitchedOffInLaterTurns) {
  const TemporaryDirectory model;
  ASSERT_TRUE(WriteFileAtomic(model.path() / "chat_template.jinja",
                              "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content "
                              "}}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}"
                              "<|im_start|>assistant\n{% if enable_thinking is defined and not "
                              "enable_thinking %}[quick]{% endif %}{% endif %}")
                  .ok());
  for (const std::string& dialect :
       {"template:" + model.path().string(), std::string("hermes:qwen3-training")}) {
    Open(dialect);
    const std::string off = R"(, "chat_template_kwargs": {"enable_thinking": false})";
    const ServedChat first = Request(kHello, "", off);
    const RecordedPlace place = recorder_->Enter(first).value();
    std::vector<RecordedTurn> turns;
    turns.push_back(Turn("Hi<|im_end|>"));
    ASSERT_TRUE(recorder_->Add(first, 7, place, "c-" + dialect, std::move(turns)).ok());
    const RecordedPlace next =
        recorder_
            ->Enter(Request(std::string(kHello) + R"(, {"role": "assistant", "content": "Hi"},
                                {"role": "user", "content": "x"})",
                            "", off))
            .value();
    const std::string before = served_->tokenizer->Decode(place.context);
    const std::string after = served_->tokenizer->Decode(next.context);
    EXPECT_EQ(after.substr(after.rfind("assistant\n")), before.substr(before.rfind("assistant\n")))
        << dialect;
  }
}

TEST_F(ServeRecordTest, AFolderWhereSomebodyTrainsIsRefused) {
  const auto other = ConversationRecorder::Open(directory_.path(), served_->dialect.get(),
                                                served_->tokenizer.get());
  ASSERT_FALSE(other.ok()) << "the fixture records there";
  EXPECT_EQ(other.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(other.error().message().find("another folder"), std::string::npos);
}

TEST_F(ServeRecordTest, TheTreesOfATaskStaySmall) {
  for (int i = 0; i < 130; ++i) Talk(kHello, {"One<|im_end|>"}, "c", {}, "greet");
  const auto trees = Trees();
  ASSERT_EQ(trees.size(), 3u);
  EXPECT_EQ(trees[0].tree.leaves.size(), 64u);
  EXPECT_EQ(trees[2].tree.leaves.size(), 2u);
  EXPECT_EQ(trees[2].tree.task.id, "greet");
}

TEST_F(ServeRecordTest, TheTokenizerStandsBesideTheStore) {
  const auto file = directory_.path() / "tokenizer.json";
  EXPECT_TRUE(Tokenizer::Load(file).ok());
  recorder_.reset();
  ASSERT_TRUE(WriteFileAtomic(file, "{}").ok());
  EXPECT_FALSE(ConversationRecorder::Open(directory_.path(), served_->dialect.get(),
                                          served_->tokenizer.get())
                   .ok())
      << "tokens of two tokenizers in one store mean nothing";
}

TEST_F(ServeRecordTest, AStoreOfAnEarlierServerIsContinuedBehind) {
  Talk(kHello, {"One<|im_end|>"}, "c1");
  Open("hermes");
  Talk(kHello, {"Two<|im_end|>"}, "c1");
  const auto trees = Trees();
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[1].tree.task.id, "conversation-2");
}

}  // namespace
}  // namespace hone
