#include "rollout/demonstration.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/strings.h"
#include "envs/agents.h"
#include "record/validate.h"
#include "support/desk_policy.h"
#include "support/shared_data.h"

namespace hone {
namespace {

TEST(DemonstrationTest, TurnsArePolicyNodesWithTheCallsThatWereMade) {
  const DeskPolicy desk({.tasks = 12});
  for (size_t i = 0; i < desk.tasks().size(); ++i) {
    const Playthrough& played = desk.demonstrations()[i];
    const Tree tree = DemonstrationTree(desk.codec(), desk.tasks()[i], 1, played).value();
    EXPECT_EQ(Validate({tree, {}, {}}), std::vector<std::string>());
    size_t turn = 0;
    for (const Node& node : tree.nodes) {
      if (node.author != Author::kPolicy) continue;
      ASSERT_LT(turn, played.turns.size());
      const AgentTurn& agent = played.turns[turn++].agent;
      ASSERT_EQ(node.calls.size(), agent.calls.size());
      for (size_t c = 0; c < agent.calls.size(); ++c) {
        EXPECT_EQ(node.calls[c].name, agent.calls[c].name);
        EXPECT_EQ(node.calls[c].arguments, agent.calls[c].arguments);
        EXPECT_FALSE(node.calls[c].span.empty());
      }
      EXPECT_EQ(node.policy_version, kDemonstrated);
    }
    EXPECT_EQ(turn, played.turns.size());
    EXPECT_EQ(tree.leaves[0].ending, Ending::kAnswered);
    EXPECT_EQ(*tree.leaves[0].final_state.Find("verdict"), Json(true));
  }
}

TEST(DemonstrationTest, WhatTheDialectCannotSpellIsRefused) {
  const DeskPolicy desk({.tasks = 2});
  Playthrough played = desk.demonstrations()[0];
  played.turns[0].agent.calls.clear();
  played.turns[0].agent.answer = "a</answer>b";
  EXPECT_FALSE(DemonstrationTree(desk.codec(), desk.tasks()[0], 1, played).ok());
  played = desk.demonstrations()[0];
  played.turns[0].agent.faults.push_back({FaultKind::kBadJson, "bad", {}});
  EXPECT_NE(
      DemonstrationTree(desk.codec(), desk.tasks()[0], 1, played).error().message().find("faults"),
      std::string::npos);
  played.turns.clear();
  EXPECT_FALSE(DemonstrationTree(desk.codec(), desk.tasks()[0], 1, played).ok());
}

// The rendering of the whole conversation, which is what a template gives, has the same tokens.
TEST(DemonstrationTest, HasTheTokensOfTheWholeRendering) {
  for (const char* dialect : {"tagged:desk", "hermes", "action-json"}) {
    const DeskPolicy desk({.dialect = dialect, .tasks = 12});
    for (size_t i = 0; i < desk.tasks().size(); ++i) {
      const Playthrough& played = desk.demonstrations()[i];
      const Tree tree = DemonstrationTree(desk.codec(), desk.tasks()[i], 1, played).value();
      const Conversation conversation =
          ConversationFromJson(
              Json::Of({{"messages", MessagesOf(played)}, {"tools", played.opening.tools}}))
              .value();
      std::vector<TokenId> whole =
          EncodePieces(desk.tokenizer(), desk.dialect().Render(conversation).value());
      const std::vector<TokenId> tokens = TokensOf(tree, PathTo(tree, tree.leaves[0].node));
      ASSERT_LE(tokens.size(), whole.size());
      whole.resize(tokens.size());  // behind the last turn a template may close it
      EXPECT_EQ(tokens, whole) << dialect;
    }
  }
}

Conversation ConversationFrom(const char* text) {
  return ConversationFromJson(ParseJson(text).value()).value();
}

// Text of the nodes that are imitated.
std::vector<std::string> ImitatedIn(const Tree& tree, const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (const Node& node : tree.nodes) {
    if (node.author == Author::kPolicy) texts.push_back(tokenizer.BytesOf(node.tokens));
  }
  return texts;
}

// What was played and what is told of it are the same to whoever imitates it.
TEST(ConversationTreeTest, HasTheTokensOfTheDemonstration) {
  for (const char* dialect : {"tagged:desk", "hermes", "action-json"}) {
    const DeskPolicy desk({.dialect = dialect, .tasks = 12});
    for (size_t i = 0; i < desk.tasks().size(); ++i) {
      const Playthrough& played = desk.demonstrations()[i];
      const Tree shown = DemonstrationTree(desk.codec(), desk.tasks()[i], 1, played).value();
      Conversation told = ConversationOf(played.opening).value();
      std::vector<bool> imitated(told.messages.size(), false);
      for (const PlayedTurn& turn : played.turns) {
        told.messages.push_back(MessageOf(turn.agent));
        imitated.push_back(true);
        for (Message& message : MessagesAfter(turn.agent, turn.environment)) {
          told.messages.push_back(std::move(message));
          imitated.push_back(false);
        }
      }
      const Tree tree = ConversationTree(desk.codec(), told, imitated).value();
      EXPECT_EQ(TokensOf(tree, PathTo(tree, tree.leaves[0].node)),
                TokensOf(shown, PathTo(shown, shown.leaves[0].node)));
      EXPECT_EQ(ImitatedIn(tree, desk.tokenizer()), ImitatedIn(shown, desk.tokenizer()));
    }
  }
}

class TemplateCodec {
 public:
  explicit TemplateCodec(const std::string& dialect)
      : dialect_(NewDialect(dialect).value()),
        tokenizer_(TrainBpe({"a"}, {.vocab_size = 256, .added = AddedTokensOf(dialect_->traits())})
                       .value()) {}
  TurnCodec codec() const { return TurnCodec::New(dialect_.get(), &tokenizer_).value(); }
  const Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  std::unique_ptr<Dialect> dialect_;
  Tokenizer tokenizer_;
};

TEST(TextTreeTest, EveryTokenIsImitatedAndTheEndIsATokenOfItsOwn) {
  const TemplateCodec hermes("hermes");
  const Tree tree = TextTree(hermes.codec(), "ab <|im_end|> <tool_call>", 0);
  ASSERT_EQ(tree.nodes.size(), 1u);
  EXPECT_EQ(ImitatedIn(tree, hermes.tokenizer()),
            (std::vector<std::string>{"ab <|im_end|> <tool_call><|endoftext|>"}));
  // What the text has of markers is characters.
  EXPECT_EQ(tree.nodes[0].tokens.size(), std::string("ab <|im_end|> <tool_call>").size() + 1);
}

TEST(TextTreeTest, WhatIsLongerThanTheContextIsCutIntoSegments) {
  const TemplateCodec hermes("hermes");
  const Tree tree = TextTree(hermes.codec(), "abcdefghij", 4);  // and the end
  EXPECT_EQ(ImitatedIn(tree, hermes.tokenizer()),
            (std::vector<std::string>{"abcd", "efgh", "ij<|endoftext|>"}));
  ASSERT_EQ(tree.leaves.size(), 1u);
  for (const Node& node : tree.nodes) EXPECT_EQ(node.parent, kNoNode);
  EXPECT_EQ(tree.nodes[2].folded_from, 1);
  EXPECT_FALSE(IsFold(tree.nodes[2]));
}

TEST(ConversationTreeTest, TurnsThatAreNotImitatedAreReadOnly) {
  const TemplateCodec hermes("hermes");
  const Conversation told = ConversationFrom(
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                       {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}]})");
  const Tree tree = ConversationTree(hermes.codec(), told, {false, false, false, true}).value();
  EXPECT_EQ(ImitatedIn(tree, hermes.tokenizer()), (std::vector<std::string>{"d<|im_end|>"}));
  const std::string whole =
      hermes.tokenizer().BytesOf(TokensOf(tree, PathTo(tree, tree.leaves[0].node)));
  EXPECT_NE(whole.find("assistant\nb<|im_end|>"), std::string::npos) << whole;
}

// Qwen3's template takes earlier thoughts out: every turn stands behind what the model would read.
TEST(ConversationTreeTest, AHistoryThatIsRewrittenBeginsASegment) {
  const TemplateCodec qwen3("hermes:qwen3");
  const Conversation told = ConversationFrom(
      R"({"messages": [{"role": "user", "content": "a"},
                       {"role": "assistant", "content": "b", "reasoning_content": "first"},
                       {"role": "user", "content": "c"},
                       {"role": "assistant", "content": "d", "reasoning_content": "second"}]})");
  const Tree tree = ConversationTree(qwen3.codec(), told, {false, true, false, true}).value();
  const std::vector<std::string> imitated = ImitatedIn(tree, qwen3.tokenizer());
  ASSERT_EQ(imitated.size(), 2u);
  EXPECT_NE(imitated[0].find("first"), std::string::npos);
  EXPECT_NE(imitated[1].find("second"), std::string::npos);
  const std::string last =
      qwen3.tokenizer().BytesOf(TokensOf(tree, PathTo(tree, tree.leaves[0].node)));
  EXPECT_EQ(last.find("first"), std::string::npos) << last;
}

TEST(ConversationTreeTest, AThoughtThatTheDialectWouldDropIsRefused) {
  const TemplateCodec hermes("hermes");
  const Conversation told = ConversationFrom(
      R"({"messages": [{"role": "user", "content": "a"},
                       {"role": "assistant", "content": "b", "reasoning_content": "why"}]})");
  const Result<Tree> tree = ConversationTree(hermes.codec(), told, {false, true});
  ASSERT_FALSE(tree.ok());
  EXPECT_NE(tree.error().message().find("messages[1]"), std::string::npos);
  EXPECT_NE(tree.error().message().find("a thought"), std::string::npos);
}

TEST(ConversationTreeTest, WhatTheDialectCannotSpellIsRefusedByItsPlace) {
  const DeskPolicy desk({.tasks = 2});
  const Conversation told = ConversationFrom(
      R"({"messages": [{"role": "user", "content": "a"},
                       {"role": "assistant", "content": "x</answer>y"}]})");
  EXPECT_FALSE(ConversationTree(desk.codec(), told, {false, true}).ok());
}

TEST(ConversationTreeTest, ACallThatTheModelsTemplateCannotWriteIsRefusedWithWhatToDo) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(
      WriteFileAtomic(folder.path() / "plain.jinja",
                      "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content or '' }}</s>\n"
                      "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}")
          .ok());
  const TemplateCodec plain("template:" + (folder.path() / "plain.jinja").string());
  const Conversation told = ConversationFrom(
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [
          {"type": "function", "function": {"name": "f", "arguments": {}}}]}]})");
  const Result<Tree> tree = ConversationTree(plain.codec(), told, {false, true});
  ASSERT_FALSE(tree.ok());
  const std::string& message = tree.error().message();
  EXPECT_TRUE(message.starts_with("messages[1]: the dialect template:")) << message;
  EXPECT_NE(message.find("the model's own chat template writes no calls; put a template with tools "
                         "into the model's folder as chat_template.jinja"),
            std::string::npos)
      << message;
}

// Where the n-th character of a text begins.
size_t ByteOf(std::string_view text, int64_t character) {
  size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    const bool begins = (static_cast<unsigned char>(text[byte]) & 0xC0) != 0x80;
    if (begins && character-- == 0) break;
  }
  return byte;
}

// TRL's training templates say which characters are learned, and transformers say where they are.
// Two of them are not learned here: the line's end before a turn, which stands in the prompt that
// generation begins with, and the one behind the marker that ends it, which nobody ever draws.
TEST(ConversationTreeTest, ImitatesTheCharactersThatTrlsTemplatesMark) {
  HONE_NEED_SHARED(data, "data/chat-templates");
  const Json contexts = *ParseJson(*ReadFile(data / "contexts.json"));
  int equal = 0, refused = 0;
  for (const Json& row : *ParseJsonLines(*ReadFile(data / "renderings.jsonl"))) {
    const Json* spans = row.Find("assistant_char_spans");
    if (spans == nullptr) continue;
    const std::string& name = row.Find("template")->AsString();
    const TemplateCodec model("template:" + (data / "templates" / (name + ".jinja")).string());
    const Conversation told =
        ConversationFromJson(*contexts.Find(row.Find("context")->AsString())).value();
    std::vector<bool> imitated;
    for (const Message& message : told.messages) {
      imitated.push_back(message.role == Role::kAssistant);
    }
    const Result<Tree> tree = ConversationTree(model.codec(), told, imitated);
    if (!tree.ok()) {
      // Arguments as text, which the template writes as text, or no text at all: turns that nobody
      // could read.
      EXPECT_NE(tree.error().message().find("cannot spell this turn"), std::string::npos)
          << name << ": " << tree.error().message();
      ++refused;
      continue;
    }
    const std::string& expected = row.Find("expected")->AsString();
    std::vector<std::string> marked;
    for (const Json& span : spans->AsArray()) {
      const size_t begin = ByteOf(expected, span.AsArray()[0].AsInteger());
      const size_t end = ByteOf(expected, span.AsArray()[1].AsInteger());
      marked.emplace_back(Trim(std::string_view(expected).substr(begin, end - begin), "\n"));
    }
    EXPECT_EQ(ImitatedIn(*tree, model.tokenizer()), marked)
        << name << " " << row.Find("context")->AsString();
    ++equal;
  }
  EXPECT_EQ(equal + refused, 22);
  EXPECT_GE(equal, 14);
}

}  // namespace
}  // namespace hone
