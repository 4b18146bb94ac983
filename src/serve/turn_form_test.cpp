#include "serve/turn_form.h"

#include <gtest/gtest.h>

#include "serve/turn_deltas.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

Json Tool(const std::string& name, const char* parameters) {
  return Json::Of(
      {{"type", "function"},
       {"function", Json::Of({{"name", name}, {"parameters", ParseJson(parameters).value()}})}});
}

const Json kWeather = Tool("weather", R"({"type": "object", "properties": {
    "city": {"enum": ["Oslo", "Rome"]}, "day": {"type": "integer"}}, "required": ["city"]})");
const Json kClock = Tool("clock", R"({"type": "object", "properties": {}})");

// A turn drawn at random from what the form allows.
ParsedTurn RandomTurn(const ServedModel& served, const TurnForm& form, uint64_t seed,
                      std::string* text) {
  const auto grammar = GrammarOf(form, *served.dialect, *served.tokenizer, false);
  EXPECT_TRUE(grammar.ok()) << grammar.error().message();
  GrammarTurn turn(*grammar, &served.Tokens(), served.engine->forbidden());
  const auto stop = StopAtText(served.tokenizer.get(), served.dialect->traits().stops);
  std::vector<TokenId> drawn;
  Rng rng(seed);
  while (drawn.size() < 3000) {
    const std::vector<TokenId> allowed = turn.Allowed(drawn);
    drawn.push_back(allowed[rng.Below(allowed.size())]);
    if (stop(drawn)) break;
  }
  *text = served.tokenizer->BytesOf(drawn);
  return served.dialect->Parse(*text, TurnEnd::kEnded);
}

TEST(TurnForm, ACallIsReallyMadeInEveryDialectThatWritesJson) {
  for (const char* dialect : {"hermes", "hermes:qwen3", "tagged:desk"}) {
    const auto served = TinyServed(dialect);
    bool both[2] = {false, false};
    for (uint64_t seed = 0; seed < 20; ++seed) {
      std::string text;
      const ParsedTurn turn =
          RandomTurn(*served, {.calls = {kWeather, kClock}, .must_call = true}, seed, &text);
      ASSERT_EQ(turn.calls.size(), 1u) << dialect << ": " << text;
      EXPECT_TRUE(turn.faults.empty()) << text;
      both[turn.calls[0].name == "clock" ? 1 : 0] = true;
      if (turn.calls[0].name == "clock") {
        EXPECT_EQ(turn.calls[0].arguments, Json(Json::Object{})) << text;
      } else {
        const Json* city = turn.calls[0].arguments.Find("city");
        ASSERT_NE(city, nullptr) << text;
        EXPECT_TRUE(*city == Json("Oslo") || *city == Json("Rome")) << text;
      }
    }
    EXPECT_TRUE(both[0] && both[1]) << "which one is the model's to choose";
  }
}

TEST(TurnForm, AnAnswerIsJson) {
  const Json schema = ParseJson(R"({"type": "object", "properties": {"n": {"type": "integer"},
      "ok": {"type": "boolean"}}, "required": ["n", "ok"]})")
                          .value();
  for (const char* dialect : {"hermes", "tagged:desk"}) {
    const auto served = TinyServed(dialect);
    for (uint64_t seed = 0; seed < 10; ++seed) {
      std::string text;
      const ParsedTurn turn = RandomTurn(*served, {.answer = schema}, seed, &text);
      ASSERT_TRUE(turn.answer) << text;
      const auto json = ParseJson(*turn.answer);
      ASSERT_TRUE(json.ok()) << text;
      EXPECT_TRUE(json->Find("n")->is_integer() && json->Find("ok")->is_bool()) << text;
    }
  }
}

TEST(TurnForm, ThoughtsMayComeFirst) {
  const auto served = TinyServed("hermes:qwen3");
  const TurnForm form{.calls = {kClock}, .must_call = true};
  for (const bool thinking : {false, true}) {
    const auto grammar = GrammarOf(form, *served->dialect, *served->tokenizer, thinking).value();
    GrammarMatcher matcher(&grammar->grammar, grammar->start);
    const auto takes = [&](std::string_view text) {
      GrammarMatcher::State state = matcher.start();
      for (const char byte : text) state = matcher.Next(state, static_cast<unsigned char>(byte));
      return state != GrammarMatcher::kNowhere;
    };
    const std::string call = "<tool_call>\n{\"name\": \"clock\", \"arguments\": {}";
    EXPECT_EQ(takes(call), true);
    EXPECT_EQ(takes("<think>\nhm\n</think>\n\n" + call), thinking)
        << "a model without a token for it was not made to think";
    EXPECT_EQ(takes("hm</think>" + call), thinking) << "the prompt has opened it";
    EXPECT_EQ(takes("<think>hm</think>no"), false);
  }
}

TEST(TurnForm, WhatCannotBeHadIsRefusedWithASentence) {
  const auto served = TinyServed("hermes");
  const auto refused = [&](const TurnForm& form, const Dialect& dialect) {
    const auto grammar = GrammarOf(form, dialect, *served->tokenizer, false);
    EXPECT_FALSE(grammar.ok());
    return grammar.ok() ? "" : grammar.error().message();
  };
  const auto action = NewDialect("action-json").value();
  EXPECT_NE(refused({.answer = Json()}, *action).find("response_format: "), std::string::npos);
  const Json pattern = ParseJson(R"({"type": "string", "pattern": "x"})").value();
  EXPECT_NE(refused({.answer = pattern}, *served->dialect).find("`pattern`"), std::string::npos);
}

}  // namespace
}  // namespace hone
