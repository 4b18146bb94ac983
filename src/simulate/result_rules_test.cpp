#include "simulate/result_rules.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/rng.h"

namespace hone {
namespace {

Json J(std::string_view text) { return ParseJson(text).value(); }

// Orders of two items, and a swap of one of them that hangs on status and stock.
RecordedCall Swap(uint64_t seed) {
  Rng rng(seed);
  const int64_t a = 10 + static_cast<int64_t>(rng.Below(50)),
                b = 10 + static_cast<int64_t>(rng.Below(50)),
                price = 10 + static_cast<int64_t>(rng.Below(50));
  const bool open = rng.Below(2) == 0, stock = rng.Below(3) != 0;
  RecordedCall call{.environment_seed = seed,
                    .tool = "swap",
                    .arguments = J(R"({"order":"W1","item":"I2","colour":"red"})")};
  call.known.push_back({"get_order",
                        J(R"({"order":"W1"})"),
                        {.content = fmt::format(
                             R"({{"status":"{}","total":{},"items":[{{"item":"I1","colour":"red",)"
                             R"("price":{}}},{{"item":"I2","colour":"blue","price":{}}}]}})",
                             open ? "open" : "closed", a + b, a, b)}});
  call.known.push_back(
      {"get_product",
       J(R"({"product":"lamp"})"),
       {.content = fmt::format(R"({{"colours":[{{"colour":"blue","price":1,"in_stock":true}},)"
                               R"({{"colour":"red","price":{},"in_stock":{}}}]}})",
                               price, stock)}});
  if (open && stock) {
    call.answer.content =
        fmt::format(R"({{"item":{{"item":"I2","price":{}}},"total":{},"note":"n{}"}})", price,
                    a + price, rng.Below(1000));
  } else {
    call.answer = {CallStatus::kToolError, "no", ""};
  }
  return call;
}

std::vector<RecordedCall> Swaps() {
  std::vector<RecordedCall> calls;
  for (uint64_t seed = 0; seed < 300; ++seed) calls.push_back(Swap(seed));
  return calls;
}

TEST(ResultRules, FactsAreOfWhatTheArgumentsName) {
  const RecordedCall call = Swap(1);
  const CallFacts facts = FactsOf(call.tool, call.arguments, call.known);
  EXPECT_EQ(facts.at("argument item"), Json("I2"));
  EXPECT_EQ(facts.at("get_order.items[*].colour"), Json("blue")) << "the item, not the red one";
  EXPECT_EQ(facts.at("get_product.colours[*].colour"), Json("red"));
  const CallFacts other = FactsOf("swap", J(R"({"item":"I7","colour":"red"})"), call.known);
  EXPECT_EQ(other.at("get_order.items[*]"), Json(false));
  EXPECT_TRUE(
      FactsOf("get_order", J(R"({"order":"W1"})"), call.known).contains("get_product.colours[*]"));
  EXPECT_EQ(FactsOf("x", J("{}"), {{{"get_order", J("{}"), {CallStatus::kToolError, "no", ""}}}})
                .at("get_order"),
            Json("refused"));
}

TEST(ResultRules, CopiesSumsAndReasonsToRefuseAreFound) {
  const ResultRules rules = LearnAnswerRules(Swaps());
  const auto& places = rules.places.at("swap");
  EXPECT_EQ(places.at("item.price"), (AnswerRule{.plus = {"get_product.colours[*].price"}}));
  EXPECT_EQ(places.at("item.item"), (AnswerRule{.plus = {"argument item"}}));
  EXPECT_EQ(places.at("total"),
            (AnswerRule{.plus = {"get_order.total", "get_product.colours[*].price"},
                        .minus = {"get_order.items[*].price"}}));
  EXPECT_FALSE(places.contains("note")) << "which follows no rule";
  const RefusalRules& refusals = rules.refusals.at("swap");
  EXPECT_EQ(refusals.facts.at("get_order.status").refused, std::vector<Json>{"closed"});
  EXPECT_EQ(refusals.facts.at("get_product.colours[*].in_stock").refused, std::vector<Json>{false});
  EXPECT_TRUE(refusals.else_answered);
  EXPECT_EQ(DumpJson(ResultRules::FromJson(rules.ToJson())->ToJson()), DumpJson(rules.ToJson()));
}

TEST(ResultRules, CallsThatWereNotRecordedAreDecidedAndPutRight) {
  const ResultRules rules = LearnAnswerRules(Swaps());
  for (uint64_t seed = 1000; seed < 1100; ++seed) {
    const RecordedCall call = Swap(seed);
    const CallFacts facts = FactsOf(call.tool, call.arguments, call.known);
    EXPECT_EQ(rules.StatusOf("swap", facts), call.answer.status);
    if (call.answer.status != CallStatus::kOk) continue;
    const PlayedResult made =
        rules.PutRight("swap", facts, false,
                       {.content = R"({"item":{"item":"?","price":0},"total":0,"note":"x"})"});
    Json right = J(call.answer.content);
    right.Set("note", "x");
    EXPECT_EQ(J(made.content), right);
  }
}

TEST(ResultRules, WhatIsNewIsNotDecided) {
  const ResultRules rules = LearnAnswerRules(Swaps());
  const RecordedCall call = Swap(1);
  CallFacts facts = FactsOf(call.tool, call.arguments, call.known);
  facts["get_order.status"] = "open";
  facts["get_product.colours[*].in_stock"] = true;
  EXPECT_EQ(rules.StatusOf("swap", facts), CallStatus::kOk);
  facts["get_order.status"] = "lost";
  EXPECT_EQ(rules.StatusOf("swap", facts), std::nullopt);
  facts.erase("get_order.status");
  EXPECT_EQ(rules.StatusOf("swap", facts), std::nullopt);
  EXPECT_EQ(rules.StatusOf("other", facts), std::nullopt);
}

TEST(ResultRules, ATotalIsTheSumOfItsItemsUntilSomethingIsWritten) {
  std::vector<RecordedCall> calls;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const uint64_t a = rng.Below(90), b = rng.Below(90);
    calls.push_back({.tool = "get",
                     .arguments = J("{}"),
                     .answer = {.content = fmt::format(
                                    R"({{"total":{},"items":[{{"price":{}}},{{"price":{}}}]}})",
                                    a + b, a, b)}});
  }
  const ResultRules rules = LearnAnswerRules(calls);
  EXPECT_EQ(rules.places.at("get").at("total").sum, "items[].price");
  const PlayedResult said{.content = R"({"total":1,"items":[{"price":3},{"price":4}]})"};
  EXPECT_EQ(rules.PutRight("get", {}, false, said).content,
            R"({"total":7,"items":[{"price":3},{"price":4}]})");
  EXPECT_EQ(rules.PutRight("get", {}, true, said), said);
}

TEST(ResultRules, TooLittleTeachesNothing) {
  const std::vector<RecordedCall> few = {Swap(1), Swap(2), Swap(3)};
  EXPECT_TRUE(LearnAnswerRules(few).places.empty());
  EXPECT_TRUE(LearnAnswerRules(few).refusals.empty());
  EXPECT_FALSE(ResultRules::FromJson(J(R"({"places": 3})")).ok());
}

}  // namespace
}  // namespace hone
