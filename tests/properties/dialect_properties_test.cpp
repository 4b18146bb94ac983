// What every dialect promises, over random conversations.

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "base/file.h"
#include "base/rng.h"
#include "base/strings.h"
#include "envs/agents.h"
#include "envs/environments.h"
#include "support/env_player.h"
#include "support/random_record.h"
#include "text/bpe_trainer.h"
#include "text/dialect.h"
#include "text/normalize.h"

namespace hone {
namespace {

// How conversations in a dialect may look: what the generator below may produce.
struct Case {
  const char* dialect;
  bool parallel_calls = false;  // several calls in a turn
  bool thought = true;          // text beside a call
  // Text-only calls of these tools ("" for any tool with any arguments).
  std::vector<std::pair<std::string, std::string>> text_tools;
  bool boxed_answer = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.dialect; }

const Case kCases[] = {
    {.dialect = "hermes", .parallel_calls = true},
    {.dialect = "hermes:qwen3-training", .parallel_calls = true},
    {.dialect = "action-json"},
    {.dialect = "action-json:plain"},
    {.dialect = "tagged:desk", .thought = false},
    {.dialect = "tagged:tapo", .text_tools = {{"search", "query"}, {"code", "code"}}},
    {.dialect = "tagged:study", .text_tools = {{"search", "query"}, {"python", "code"}}},
    {.dialect = "tagged:search-r1", .text_tools = {{"search", "query"}}},
    {.dialect = "tagged:retool", .text_tools = {{"code_interpreter", "code"}}},
    {.dialect = "tagged:deepagent", .boxed_answer = true},
};

// Prose without markers of any dialect, but with everything else that is awkward.
std::string Prose(Rng* rng, size_t longest) {
  static const std::vector<std::string> kPieces = {
      "rain",  " in ",   "Paris", "\n",      "\n\n", " ",  "\t",   "\"",    "\\", "{",
      "}",     "[1, 2]", "é",     "e\u0301", "語",   "😀",  "<",    ">",     "</", "< b",
      "&amp;", "1999",   "'s",    ":",       "|>",   "<|", "user", "\u00a0"};
  std::string text;
  for (uint64_t i = rng->Below(longest) + 1; i > 0; --i)
    text += kPieces[rng->Below(kPieces.size())];
  return text;
}

// Text that survives trimming and has no loose end that could begin a marker.
std::string Sentence(Rng* rng, size_t longest) { return "a" + Prose(rng, longest) + "z"; }

MessageCall RandomCall(Rng* rng, const Case& c) {
  if (!c.text_tools.empty()) {
    const auto& [tool, argument] = c.text_tools[rng->Below(c.text_tools.size())];
    return {tool, Json::Of({{argument, Sentence(rng, 8)}})};
  }
  Json arguments = Json::Object();
  for (uint64_t i = rng->Below(4); i > 0; --i) {
    Json value;
    switch (rng->Below(5)) {
      case 0: value = static_cast<int64_t>(rng->Below(1000)); break;
      case 1: value = rng->NextNormal(); break;
      case 2: value = Json::Array{true, nullptr, Prose(rng, 3)}; break;
      case 3: value = "</tool_call></action></think>"; break;
      default: value = Prose(rng, 8);
    }
    // The number keeps keys apart that only differ in their normalisation.
    arguments.Set(Prose(rng, 2) + std::to_string(i), std::move(value));
  }
  return {"tool_" + std::to_string(rng->Below(5)), std::move(arguments)};
}

Conversation RandomConversation(Rng rng, const Case& c) {
  Conversation conversation;
  auto add = [&](Message message) { conversation.messages.push_back(std::move(message)); };
  if (rng.Below(2) == 0) add({.role = Role::kSystem, .content = Prose(&rng, 10)});
  if (rng.Below(2) == 0) {
    conversation.tools.push_back(
        Json::Of({{"type", "function"}, {"function", Json::Of({{"name", "f"}})}}));
  }
  for (uint64_t rounds = rng.Below(3) + 1; rounds > 0; --rounds) {
    add({.role = Role::kUser, .content = Prose(&rng, 10)});
    for (uint64_t turns = rng.Below(3); turns > 0; --turns) {
      Message message{.role = Role::kAssistant};
      const uint64_t calls = c.parallel_calls ? rng.Below(3) + 1 : 1;
      for (uint64_t i = 0; i < calls; ++i) message.calls.push_back(RandomCall(&rng, c));
      if (c.thought && rng.Below(2) == 0) message.content = Sentence(&rng, 5);
      add(message);
      for (const MessageCall& call : message.calls) {
        add({.role = Role::kTool, .content = Prose(&rng, 8), .name = call.name});
      }
    }
    const std::string answer = Sentence(&rng, 6);
    add({.role = Role::kAssistant,
         .content = c.boxed_answer ? "so \\boxed{4" + std::to_string(rng.Below(9)) + "}" : answer});
  }
  return conversation;
}

// A tokenizer that has the dialect's markers as tokens.
Tokenizer TokenizerFor(const Dialect& dialect) {
  BpeTrainingOptions options;
  options.vocab_size = 500;
  for (size_t i = 0; i < dialect.traits().markers.size(); ++i) {
    options.added.push_back(
        {.content = dialect.traits().markers[i], .special = i < dialect.traits().specials});
  }
  return TrainBpe({*ReadFile(HONE_SOURCE_DIR "/README.md")}, options).value();
}

std::vector<TokenId> IdsOf(const Tokenizer& tokenizer, const std::vector<Piece>& pieces) {
  std::vector<TokenId> ids;
  for (const Piece& piece : pieces) {
    const auto more = EncodePiece(tokenizer, piece);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}

Conversation Prefix(const Conversation& conversation, size_t count) {
  Conversation prefix = conversation;
  prefix.messages.resize(count);
  return prefix;
}

class DialectProperties : public testing::TestWithParam<Case> {
 protected:
  const Case& c_ = GetParam();
  const std::unique_ptr<Dialect> dialect_ = NewDialect(c_.dialect).value();
};

TEST_P(DialectProperties, RenderingOneMessageMoreOnlyAppends) {
  const Tokenizer tokenizer = TokenizerFor(*dialect_);
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Conversation conversation = RandomConversation(Rng(seed), c_);
    std::string before;
    std::vector<TokenId> ids_before;
    for (size_t count = 1; count <= conversation.messages.size(); ++count) {
      auto pieces = dialect_->Render(Prefix(conversation, count));
      ASSERT_TRUE(pieces.ok()) << pieces.error().message();
      const std::string text = TextOf(*pieces);
      ASSERT_TRUE(text.starts_with(before)) << "seed " << seed << ", message " << count << "\n"
                                            << before << "\n----\n"
                                            << text;
      const auto ids = IdsOf(tokenizer, *pieces);
      EXPECT_EQ(tokenizer.Decode(ids), ToNfc(text));
      // Results that are still to come belong to the same node; ids are whole at its end.
      const auto role = conversation.messages[count - 1].role;
      if (role != Role::kTool) {
        ASSERT_GE(ids.size(), ids_before.size());
        EXPECT_TRUE(std::equal(ids_before.begin(), ids_before.end(), ids.begin())) << seed;
        ids_before = ids;
      }
      before = text;
    }
  }
}

// What a rollout does (opening, turn, continuation, turn, ...) gives what rendering the whole
// gives.
TEST_P(DialectProperties, ContinuingEqualsRenderingTheWhole) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Conversation conversation = RandomConversation(Rng(seed), c_);
    const auto& messages = conversation.messages;
    size_t at = 0;
    while (messages[at].role != Role::kAssistant) ++at;
    std::string text = TextOf(*dialect_->Render(Prefix(conversation, at)));
    while (at < messages.size()) {
      // The policy's turn: the policy pieces that this message adds.
      const auto with = *dialect_->Render(Prefix(conversation, at + 1));
      const auto turn = std::find_if(with.rbegin(), with.rend(), [](const Piece& piece) {
        return piece.author == Author::kPolicy;
      });
      text += turn->text;
      Conversation next;
      for (++at; at < messages.size() && messages[at].role != Role::kAssistant; ++at) {
        next.messages.push_back(messages[at]);
      }
      if (next.messages.empty()) break;
      auto piece = dialect_->Continue(turn->text, next);
      ASSERT_TRUE(piece.ok()) << piece.error().message();
      text += piece->text;
    }
    const std::string whole = TextOf(*dialect_->Render(conversation));
    ASSERT_TRUE(whole.starts_with(text)) << seed << "\n" << text << "\n----\n" << whole;
    EXPECT_LE(whole.size() - text.size(), std::string("<|im_end|>\n").size());
  }
}

TEST_P(DialectProperties, SpansOfParsedCallsDecodeToExactlyTheCallText) {
  const Tokenizer tokenizer = TokenizerFor(*dialect_);
  int calls_seen = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Conversation conversation = RandomConversation(Rng(seed), c_);
    const auto pieces = *dialect_->Render(conversation);
    size_t message = 0;
    for (const Piece& piece : pieces) {
      if (piece.author != Author::kPolicy) continue;
      while (conversation.messages[message].role != Role::kAssistant) ++message;
      const Message& said = conversation.messages[message++];
      Node node;
      node.author = Author::kPolicy;
      node.tokens = EncodePiece(tokenizer, piece);
      std::string bytes;
      for (const TokenId id : node.tokens) bytes += tokenizer.TokenBytes(id);
      const ParsedTurn turn = dialect_->Parse(bytes, TurnEnd::kEnded);
      ASSERT_TRUE(turn.faults.empty()) << turn.faults[0].message << "\n" << bytes;
      ASSERT_EQ(turn.calls.size(), said.calls.size()) << bytes;
      RecordTurn(tokenizer, turn, &node);
      for (size_t i = 0; i < turn.calls.size(); ++i, ++calls_seen) {
        EXPECT_EQ(turn.calls[i].name, said.calls[i].name);
        const Span span = node.calls[i].span;
        const std::span<const TokenId> tokens(node.tokens.data() + span.begin,
                                              node.tokens.data() + span.end);
        const ByteRange range = turn.calls[i].range;
        EXPECT_EQ(tokenizer.Decode(tokens), bytes.substr(range.begin, range.end - range.begin));
      }
      if (said.calls.empty()) {
        EXPECT_EQ(turn.answer.has_value(), true) << bytes;
      }
    }
  }
  EXPECT_GT(calls_seen, 100);
}

TEST_P(DialectProperties, WhatWasSaidIsReadBack) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Conversation conversation;
    Rng rng(seed + 1000);
    Message message{.role = Role::kAssistant};
    message.calls.push_back(RandomCall(&rng, c_));
    conversation.messages = {{.role = Role::kUser, .content = "q"}, message};
    const auto pieces = *dialect_->Render(conversation);
    const auto policy = std::find_if(pieces.begin(), pieces.end(), [](const Piece& piece) {
      return piece.author == Author::kPolicy;
    });
    const ParsedTurn turn = dialect_->Parse(policy->text, TurnEnd::kEnded);
    ASSERT_EQ(turn.calls.size(), 1u) << policy->text;
    EXPECT_EQ(turn.calls[0].arguments, message.calls[0].arguments) << policy->text;
  }
}

// Where a turn thinks is on its node, markers included, and nothing else is: the call is not, and
// what is left of the turn without it holds no thought.
TEST_P(DialectProperties, SpansOfThoughtsDecodeToTheThoughtBetweenItsMarkers) {
  const Tokenizer tokenizer = TokenizerFor(*dialect_);
  const TurnMarks& marks = dialect_->traits().marks;
  int thoughts_seen = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Rng rng(seed + 2000);
    Conversation conversation;
    Message said{.role = Role::kAssistant, .calls = {RandomCall(&rng, c_)}};
    if (rng.Below(3) > 0) said.reasoning = Sentence(&rng, 8);
    conversation.messages = {{.role = Role::kUser, .content = "q"}, said};
    const auto pieces = dialect_->Render(conversation);
    if (!pieces.ok()) continue;  // not every dialect has a place for thought
    for (const Piece& piece : *pieces) {
      if (piece.author != Author::kPolicy) continue;
      Node node{.author = Author::kPolicy, .tokens = EncodePiece(tokenizer, piece)};
      const ParsedTurn turn = dialect_->Parse(tokenizer.BytesOf(node.tokens), TurnEnd::kEnded);
      RecordTurn(tokenizer, turn, &node);
      if (!turn.reasoning.empty()) {
        ASSERT_EQ(node.thoughts.size(), 1u) << piece.text;
      }
      for (const Span& span : node.thoughts) {
        const std::string text =
            tokenizer.Decode(std::span(node.tokens).subspan(span.begin, span.end - span.begin));
        EXPECT_NE(text.find(turn.reasoning), std::string::npos) << text;
        EXPECT_TRUE(text.starts_with(marks.think_open)) << text;
        EXPECT_TRUE(text.ends_with(marks.think_close)) << text;
        EXPECT_LE(span.end, node.calls[0].span.begin);
        thoughts_seen += turn.reasoning.empty() ? 0 : 1;
      }
    }
  }
  // A dialect whose thoughts are free text says that it has none.
  const ParsedTurn free = dialect_->Parse("a thought", TurnEnd::kCut);
  EXPECT_TRUE(free.thoughts.empty() || !free.reasoning.empty());
  if (!marks.think_open.empty() && c_.dialect != std::string_view("hermes")) {
    EXPECT_GT(thoughts_seen, 50);
  }
}

// Every truncation of a valid turn is a fault or incomplete, and never holds a call that the whole
// turn does not hold.
TEST_P(DialectProperties, ATruncatedTurnNeverGivesAWrongCall) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Conversation conversation = RandomConversation(Rng(seed), c_);
    for (const Piece& piece : *dialect_->Render(conversation)) {
      if (piece.author != Author::kPolicy) continue;
      const ParsedTurn whole = dialect_->Parse(piece.text, TurnEnd::kEnded);
      for (size_t size = 0; size < piece.text.size(); ++size) {
        const std::string_view cut = std::string_view(piece.text).substr(0, size);
        const ParsedTurn told = dialect_->Parse(cut, TurnEnd::kCut);
        EXPECT_FALSE(told.faults.empty()) << cut;
        EXPECT_EQ(told.answer, std::nullopt) << cut;
        for (const TurnEnd end : {TurnEnd::kCut, TurnEnd::kUnknown, TurnEnd::kEnded}) {
          const ParsedTurn turn = dialect_->Parse(cut, end);
          ASSERT_LE(turn.calls.size(), whole.calls.size()) << cut;
          for (size_t i = 0; i < turn.calls.size(); ++i) {
            EXPECT_EQ(turn.calls[i].name, whole.calls[i].name) << cut;
            EXPECT_EQ(turn.calls[i].arguments, whole.calls[i].arguments) << cut;
            EXPECT_EQ(turn.calls[i].range, whole.calls[i].range) << cut;
          }
          if (!whole.calls.empty() && turn.calls.empty() && turn.faults.empty()) {
            // Only plain text before a call can look like a whole turn, and then as an answer.
            EXPECT_TRUE(turn.answer.has_value()) << cut;
            EXPECT_EQ(cut.find("<tool_call>"), std::string_view::npos) << cut;
          }
        }
      }
    }
  }
}

TEST_P(DialectProperties, AnEmptyListOfToolsEqualsNoTools) {
  const Json without = *ParseJson(R"({"messages": [{"role": "user", "content": "q"}]})");
  for (const char* tools : {"[]", "null"}) {
    Json with = without;
    with.Set("tools", *ParseJson(tools));
    EXPECT_EQ(TextOf(*dialect_->Render(*ConversationFromJson(with))),
              TextOf(*dialect_->Render(*ConversationFromJson(without))));
  }
}

TEST_P(DialectProperties, NobodyCanTypeAMarker) {
  const Tokenizer tokenizer = TokenizerFor(*dialect_);
  const auto ids = [&](const std::string& typed) {
    Conversation conversation;
    conversation.messages = {{.role = Role::kSystem, .content = "a " + typed},
                             {.role = Role::kUser, .content = "b " + typed}};
    Message call{.role = Role::kAssistant};
    Rng rng(1);
    call.calls.push_back(RandomCall(&rng, c_));
    conversation.messages.push_back(call);
    conversation.messages.push_back(
        {.role = Role::kTool, .content = typed + " c", .name = call.calls[0].name});
    conversation.tools.push_back(Json::Of(
        {{"type", "function"}, {"function", Json::Of({{"name", "f"}, {"description", typed}})}}));
    return IdsOf(tokenizer, *dialect_->Render(conversation));
  };
  const std::vector<TokenId> neutral = ids("");
  for (const std::string& marker : dialect_->traits().markers) {
    const TokenId id = *tokenizer.FindAdded(marker);
    const std::vector<TokenId> forged = ids(marker);
    EXPECT_EQ(std::count(forged.begin(), forged.end(), id),
              std::count(neutral.begin(), neutral.end(), id))
        << marker;
  }
}

// Keeping markers from being typed changes no token of a text that holds none: nothing that was
// learned from the environments is learned otherwise.
TEST_P(DialectProperties, WhatTheEnvironmentsSayHasTheTokensOfPlainText) {
  const Tokenizer tokenizer = TokenizerFor(*dialect_);
  int compared = 0;
  for (const RegisteredEnvironment& built_in : BuiltInEnvironments()) {
    if (!built_in.traits.in_process) continue;
    const LoadedEnvironment loaded = NewBuiltIn(built_in.name).value();
    EnvPlayer player(loaded.environment);
    for (uint64_t i = 0; i < 4; ++i) {
      const Task task = loaded.tasks->Make(Split::kTrain, i);
      const Playthrough played = player.Run(task, loaded.gold_agent(task).value());
      const Json messages =
          Json::Of({{"messages", MessagesOf(played)}, {"tools", played.opening.tools}});
      const auto pieces = dialect_->Render(ConversationFromJson(messages).value());
      if (!pieces.ok()) continue;  // not every dialect can spell every call
      for (const Piece& piece : *pieces) {
        EXPECT_EQ(EncodePiece(tokenizer, piece), tokenizer.Encode(piece.text)) << built_in.name;
        ++compared;
      }
    }
  }
  if (c_.text_tools.empty()) {
    EXPECT_GT(compared, 10);
  }
}

TEST_P(DialectProperties, ParsingSurvivesAnything) {
  Rng rng(77);
  std::vector<std::string> bits = dialect_->traits().markers;
  bits.insert(bits.end(), {"{", "}", "\"name\"", ":", "\"f\"", "\"arguments\"", ",", "\xFF", "x",
                           "\\boxed{", " "});
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (uint64_t n = rng.Below(12); n > 0; --n) text += bits[rng.Below(bits.size())];
    for (const TurnEnd end : {TurnEnd::kCut, TurnEnd::kUnknown, TurnEnd::kEnded}) {
      const ParsedTurn turn = dialect_->Parse(text, end);
      EXPECT_TRUE(turn.answer || !turn.calls.empty() || !turn.faults.empty()) << text;
      for (const ParsedCall& call : turn.calls) {
        ASSERT_LE(call.range.begin, call.range.end);
        ASSERT_LE(call.range.end, text.size());
      }
      for (const ByteRange& thought : turn.thoughts) {
        ASSERT_LT(thought.begin, thought.end) << text;
        ASSERT_LE(thought.end, text.size()) << text;
      }
      EXPECT_TRUE(turn.reasoning.empty() || !turn.thoughts.empty()) << text;
      for (const ParsedFault& fault : turn.faults) {
        ASSERT_LE(fault.range.begin, fault.range.end) << text;
        ASSERT_LE(fault.range.end, text.size()) << text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, DialectProperties, testing::ValuesIn(kCases),
                         [](const auto& param) {
                           std::string name = param.param.dialect;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace hone
