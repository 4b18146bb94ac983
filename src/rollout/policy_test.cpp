#include "rollout/policy.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "envs/rules.h"
#include "support/desk_policy.h"

namespace hone {
namespace {

std::vector<TokenId> Drawn(const DeskPolicy& desk, std::string_view text) {
  return desk.tokenizer().Encode(text);
}

Node TurnOf(const DeskPolicy& desk, std::string_view text) {
  Node node;
  node.author = Author::kPolicy;
  node.tokens = Drawn(desk, text);
  return node;
}

TEST(TurnCodecTest, ATurnIsReadWithTheSpansOfItsCalls) {
  const DeskPolicy desk({});
  Node node =
      TurnOf(desk, R"(<tool_call>{"name":"clock","arguments":{"city":"Oslo"}}</tool_call>)");
  const AgentTurn turn = desk.codec().ReadTurn(TurnEnd::kEnded, &node);
  ASSERT_EQ(turn.calls.size(), 1u);
  EXPECT_EQ(turn.calls[0].name, "clock");
  EXPECT_EQ(turn.calls[0].arguments, Json::Of({{"city", "Oslo"}}));
  EXPECT_EQ(turn.calls[0].span, (Span{0, static_cast<int32_t>(node.tokens.size())}));
  EXPECT_EQ(turn.calls, node.calls);
  EXPECT_EQ(turn.tokens, static_cast<int64_t>(node.tokens.size()));
  EXPECT_FALSE(turn.answer);

  Node cut = TurnOf(desk, R"(<tool_call>{"name":"clo)");
  const AgentTurn faulty = desk.codec().ReadTurn(TurnEnd::kCut, &cut);
  ASSERT_EQ(faulty.faults.size(), 1u);
  EXPECT_EQ(faulty.faults[0].kind, FaultKind::kIncomplete);
  EXPECT_EQ(cut.faults, faulty.faults);
}

TEST(TurnCodecTest, ACallInAFormatThatTheDialectDoesNotReadIsFound) {
  const Tokenizer tokenizer =
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json").value();
  const auto dialect = NewDialect("hermes").value();
  const TurnCodec codec = TurnCodec::New(dialect.get(), &tokenizer).value();
  const auto note = [&](std::string_view text) {
    Node node;
    node.tokens = tokenizer.Encode(text);
    const AgentTurn turn = codec.ReadTurn(TurnEnd::kEnded, &node);
    const auto unread = codec.UnreadIn(turn, node);
    return unread ? NoteOn(*unread) : "";
  };
  // An answer, and what hermes takes for a call that is wrong.
  EXPECT_NE(note("[TOOL_CALLS]clock[ARGS]{}<|im_end|>").find("calls=mistral"), std::string::npos);
  EXPECT_NE(note("<tool_call>clock\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n"
                 "</tool_call><|im_end|>")
                .find("calls=glm"),
            std::string::npos);
  EXPECT_NE(note("<tool_call>\n<function=clock>\n<parameter=city>\nOslo\n</parameter>\n"
                 "</function>\n</tool_call><|im_end|>")
                .find("calls=qwen-xml"),
            std::string::npos);
  // Answers, its own calls, and its own calls that are merely wrong.
  for (const char* text :
       {"It is noon.", "<tool_call>{\"name\": \"clock\", \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"clock\", \"arguments\": {}</tool_call>",
        "<tool_call>{\"name\": \"clock\"}</tool_call>", "<tool_call>clock",
        "<tool_call></tool_call>", "<tool_call>{\"name\": \"clock\", \"arguments\": {}}"}) {
    EXPECT_EQ(note(std::string(text) + "<|im_end|>"), "") << text;
  }
}

TEST(TurnCodecTest, TheSpaceThatAVocabularyPutsBeforeATextIsNotPartOfTheAnswer) {
  const Tokenizer tokenizer =
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer/kinds/phi3.json").value();
  const auto dialect = NewDialect("hermes").value();
  const TurnCodec codec = TurnCodec::New(dialect.get(), &tokenizer).value();
  Node node;
  node.tokens = tokenizer.Encode("an answer");
  ASSERT_EQ(tokenizer.BytesOf(node.tokens), " an answer");
  EXPECT_EQ(codec.ReadTurn(TurnEnd::kEnded, &node).answer, "an answer");
}

TEST(TurnCodecTest, WhatFollowsATurnHoldsResultsNoticesAndTheUser) {
  const DeskPolicy desk({});
  const TurnCodec codec = desk.codec();
  Node node =
      TurnOf(desk, R"(<tool_call>{"name":"clock","arguments":{"city":"Oslo"}}</tool_call>)");
  AgentTurn agent = codec.ReadTurn(TurnEnd::kEnded, &node);
  agent.results = {{.call = 0, .content = "</tool_response><user>"}};
  EnvironmentTurn environment;
  environment.notices = {"two turns left"};
  environment.user = "hurry";
  const Node next = codec.After(node, agent, environment).value();
  EXPECT_EQ(next.author, Author::kTool);
  EXPECT_EQ(next.results, agent.results);
  EXPECT_EQ(desk.tokenizer().Decode(next.tokens),
            "<tool_response></tool_response><user></tool_response><user>two turns left</user>"
            "<user>hurry</user>");
  // What a tool writes is nobody's marker.
  const TokenId user = *desk.tokenizer().FindAdded("<user>");
  EXPECT_EQ(std::count(next.tokens.begin(), next.tokens.end(), user), 2);

  EXPECT_FALSE(codec.After(node, {}, {}).ok());
  EXPECT_EQ(codec.After(node, {}, environment).value().author, Author::kUser);
  EXPECT_FALSE(TurnCodec::AfterEnding({}).has_value());
  const std::optional<Node> last = TurnCodec::AfterEnding(agent);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->tokens.empty());
  EXPECT_EQ(last->results, agent.results);
}

// What Hone says of a turn that could not be read names the dialect's markers as such; the same
// words of an environment, a user or a tool are characters.
TEST(TurnCodecTest, OnlyHonesOwnWordsNameMarkers) {
  const DeskPolicy desk({});
  const TurnCodec codec = desk.codec();
  Node node = TurnOf(desk, R"(<tool_call>{"name":"clock")");
  const AgentTurn agent = codec.ReadTurn(TurnEnd::kEnded, &node);
  ASSERT_FALSE(agent.faults.empty());
  const std::string told = FaultNotice(agent.faults[0]);
  ASSERT_NE(told.find("<tool_call>"), std::string::npos) << told;
  const TokenId marker = *desk.tokenizer().FindAdded("<tool_call>");
  const auto markers = [&](const EnvironmentTurn& environment) {
    const Node next = codec.After(node, agent, environment).value();
    return std::count(next.tokens.begin(), next.tokens.end(), marker);
  };
  EnvironmentTurn own, notice, user;
  own.notices = {told};
  notice.notices = {told + "!"};
  user.user = told;
  EXPECT_EQ(markers(own), 1);
  EXPECT_EQ(markers(notice), 0);
  EXPECT_EQ(markers(user), 0);
}

TEST(TurnCodecTest, AnAssistantInTheOpeningIsPartOfThePrompt) {
  const DeskPolicy desk({});
  Opening opening;
  opening.messages = ParseJson(R"([{"role": "user", "content": "a"},
      {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}])")
                         .value();
  for (const Node& node : desk.codec().Prompt(opening).value()) {
    EXPECT_NE(node.author, Author::kPolicy);
    EXPECT_FALSE(node.tokens.empty());
  }
  EXPECT_FALSE(desk.codec().Prompt({}).ok());
}

TEST(TurnCodecTest, StopsAtAMarkerHoweverItIsSpelled) {
  const DeskPolicy desk({});
  const TurnCodec codec = desk.codec();
  const TokenId close = *desk.tokenizer().FindAdded("</answer>");
  const auto& stops = codec.stop_tokens();
  EXPECT_NE(std::find(stops.begin(), stops.end(), close), stops.end());
  // Byte by byte.
  std::vector<TokenId> tokens;
  const auto stop = codec.StopFunction();
  const std::string text = "<answer>x > y</answer>";
  for (size_t i = 0; i < text.size(); ++i) {
    tokens.push_back(desk.tokenizer().Encode(text.substr(i, 1))[0]);
    EXPECT_EQ(stop(tokens), i + 1 == text.size()) << i;
  }
}

TEST(TurnCodecTest, TakesEveryDialect) {
  const DeskPolicy desk({});
  for (const auto& [name, about] : BuiltInDialects()) {
    if (name.find("FILE") != std::string::npos || name.find("FOLDER") != std::string::npos)
      continue;
    const auto dialect = NewDialect(name).value();
    EXPECT_TRUE(TurnCodec::New(dialect.get(), &desk.tokenizer()).ok()) << name;
  }
}

TEST(ForbiddenTokensTest, TheAgentCannotSpeakForOthers) {
  for (const char* name : {"tagged:desk", "hermes", "action-json"}) {
    const DeskPolicy desk({.dialect = name});
    const Tokenizer& tokenizer = desk.tokenizer();
    const std::vector<TokenId> forbidden =
        ForbiddenTokens(desk.dialect(), tokenizer, tokenizer.vocab_size() + 2);
    const auto has = [&](TokenId token) {
      return std::find(forbidden.begin(), forbidden.end(), token) != forbidden.end();
    };
    for (const char* marker : {"<user>", "<tool_response>", "<|im_start|>"}) {
      const auto token = tokenizer.FindAdded(marker);
      EXPECT_TRUE(!token || has(*token)) << marker;
    }
    for (const char* marker :
         {"<tool_call>", "</tool_call>", "</answer>", "<|im_end|>", "<action>", "</action>"}) {
      const auto token = tokenizer.FindAdded(marker);
      EXPECT_TRUE(!token || !has(*token)) << marker;
    }
    EXPECT_TRUE(has(tokenizer.vocab_size()));
    EXPECT_TRUE(has(tokenizer.vocab_size() + 1));
  }
}

TEST(PolicyTest, PartsThatDoNotFitEachOtherAreRefused) {
  DeskPolicy desk({});
  const auto make = [&](Engine* engine, const PolicyOptions& options) {
    return Policy::New(engine, &desk.dialect(), &desk.tokenizer(), options);
  };
  EXPECT_FALSE(make(&desk.engine(), {.max_turn_tokens = 0}).ok());
  ModelConfig config = desk.engine().config();
  config.vocab += 3;
  Engine larger(NewModel(config), {.threads = 1});
  const auto can_draw = make(&larger, {});
  ASSERT_FALSE(can_draw.ok());
  EXPECT_NE(can_draw.error().message().find("ForbiddenTokens"), std::string::npos);
  EXPECT_FALSE(make(&larger, {.sampling = {.forbidden_set = 1}}).ok());
  Engine padded(
      NewModel(config),
      {.threads = 1, .forbidden = ForbiddenTokens(desk.dialect(), desk.tokenizer(), config.vocab)});
  EXPECT_TRUE(make(&padded, {.sampling = {.forbidden_set = 1}}).ok());
  EXPECT_FALSE(make(&padded, {}).ok());
  config.vocab -= 4;
  Engine smaller(NewModel(config), {.threads = 1});
  EXPECT_NE(make(&smaller, {}).error().message().find("tokenizer"), std::string::npos);
}

}  // namespace
}  // namespace hone
