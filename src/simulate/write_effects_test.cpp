#include "simulate/write_effects.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json J(std::string_view text) { return ParseJson(text).value(); }

Sessions::EarlierWrite Returned(const std::string& item, int refund) {
  return {"return_item", Json::Of({{"order", "W1"}, {"item", item}}), CallStatus::kOk,
          DumpJson(Json::Of({{"item", item}, {"refund", refund}}))};
}

std::string Order(int total, bool first, bool second) {
  return DumpJson(
      Json::Of({{"order", "W1"},
                {"total", total},
                {"items", Json::Array{Json::Of({{"item", "I1"}, {"returned", first}}),
                                      Json::Of({{"item", "I2"}, {"returned", second}})}}}));
}

// Orders of several worlds before and after one item was returned.
std::vector<RecordedCall> Record() {
  std::vector<RecordedCall> calls;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const int total = 20 + static_cast<int>(seed), refund = 3 + static_cast<int>(seed % 3);
    const bool first = seed % 2 == 0;
    RecordedCall call{
        .environment_seed = seed, .tool = "get_order", .arguments = J(R"({"order":"W1"})")};
    call.answer.content = Order(total, false, false);
    calls.push_back(call);
    call.writes = {Returned(first ? "I1" : "I2", refund)};
    call.answer.content = Order(total - refund, first, !first);
    calls.push_back(call);
  }
  return calls;
}

TEST(WriteEffects, WhatAWriteDoesIsReadOffTheRecord) {
  const WriteEffects effects = LearnEffects(Record());
  const auto& rules = effects.rules.at({"return_item", "get_order"});
  EXPECT_EQ(rules.at("total"), (EffectRule{EffectRule::Kind::kMinus, "refund", {}}));
  EXPECT_EQ(rules.at("items[*].returned"),
            (EffectRule{EffectRule::Kind::kConstant, "", Json(true)}));
  EXPECT_EQ(rules.at("items[-].returned").kind, EffectRule::Kind::kSame);
  EXPECT_EQ(effects.echoes.at("get_order"), std::vector<std::string>{"order"});
  const std::vector<Sessions::EarlierWrite> both = {Returned("I1", 5), Returned("I2", 7)};
  EXPECT_EQ(effects.After("get_order", {.content = Order(50, false, false)}, both)->content,
            Order(38, true, true));
}

TEST(WriteEffects, WhatWasNotSeenIsNotWorkedOut) {
  const WriteEffects effects = LearnEffects(Record());
  const Sessions::EarlierWrite other{"cancel", J(R"({"order":"W1"})"), CallStatus::kOk, "{}"};
  EXPECT_EQ(effects.After("get_order", {.content = Order(5, false, false)}, {&other, 1}),
            std::nullopt);
  const auto write = Returned("I1", 5);
  EXPECT_EQ(effects.After("get_order", {.content = R"({"order":"W1","new":1})"}, {&write, 1}),
            std::nullopt);
  const PlayedResult refused{CallStatus::kToolError, "no order", ""};
  EXPECT_EQ(effects.After("get_order", refused, {&write, 1}), refused);
}

TEST(WriteEffects, APlaceWithoutARuleLeavesThePairOut) {
  std::vector<RecordedCall> calls = Record();
  for (size_t i = 1; i < calls.size(); i += 2) {
    calls[i].answer.content = Order(static_cast<int>(1000 + i * i), false, false);
  }
  EXPECT_TRUE(LearnEffects(calls).rules.empty());
}

TEST(WriteEffects, EchoesArePutRight) {
  const WriteEffects effects = LearnEffects(Record());
  EXPECT_EQ(
      effects
          .Echoed("get_order", J(R"({"order":"W9"})"), {.content = R"({"order":"W1","total":2})"})
          .content,
      R"({"order":"W9","total":2})");
}

TEST(WriteEffects, AreTheSameAfterWritingAndReading) {
  const WriteEffects effects = LearnEffects(Record());
  const WriteEffects again = WriteEffects::FromJson(effects.ToJson()).value();
  EXPECT_EQ(again.rules, effects.rules);
  EXPECT_EQ(again.echoes, effects.echoes);
  EXPECT_FALSE(WriteEffects::FromJson(J(R"({"rules": [{}], "echoes": {}})")).ok());
}

}  // namespace
}  // namespace hone
