#include "simulate/players/learned_model.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"
#include "simulate/fidelity.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

const ToolSpec kClock{
    .name = "clock",
    .parameters = ParseJson(R"({"type": "object"})").value(),
    .output = ParseJson(R"({"type": "object", "required": ["hour"], "properties": {
                          "hour": {"enum": [1, 2, 3, 4]}}})")
                  .value()};

// A clock of four hours that does not know every city, in many worlds.
JournaledCalls Clocks() {
  JournaledCalls recorded;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (const char* city : {"Oslo", "Rome", "Lima"}) {
      Rng rng = Rng(seed).Split(city);
      const bool known = std::string_view(city) != "Lima";
      recorded.calls.push_back(
          {.environment_seed = seed,
           .tool = "clock",
           .arguments = Json::Of({{"city", city}}),
           .answer =
               known ? PlayedResult{CallStatus::kOk,
                                    DumpJson(Json::Of({{"hour", 1 + int64_t(rng.Below(4))}})), ""}
                     : PlayedResult{CallStatus::kToolError, R"({"error":"not found"})", ""}});
    }
  }
  return recorded;
}

LearnedOptions Tiny() {
  return {.layers = 2,
          .width = 32,
          .heads = 2,
          .vocabulary = 300,
          .positions = 64,
          .steps = 120,
          .batch = 16,
          .learning_rate = 1e-2,
          .warmup = 5};
}

TEST(LearnedModel, LearnsWhatCallsGetAndIsTheSameAfterSavingAndLoading) {
  const TemporaryDirectory directory;
  const auto [train, held_out] = SplitByEnvironment(Clocks(), 0.3);
  TrainingReport report;
  LearnedModel model = TrainLearnedModel(train, Tiny(), &report, nullptr).value();
  EXPECT_LT(report.last_loss, 0.5 * report.first_loss);
  ASSERT_TRUE(model.Save(directory.path() / "sim").ok());
  const auto first = NewLearnedPlayer(std::move(model), {});
  const auto second = NewLearnedPlayer(LearnedModel::Load(directory.path() / "sim").value(), {});
  EXPECT_EQ(first->version(), second->version());

  auto kit = std::make_shared<ScriptedToolkit>();
  kit->Add(kClock, [](const Json&, const CallLimits&) { return Answered(""); });
  const auto toolbox = ToolboxOf({kit});
  const FidelityReport one = MeasureFidelity(held_out, *toolbox, first.get(), {}, 1);
  EXPECT_EQ(one.all.error_agreement, 1);
  EXPECT_EQ(one.all.answered_valid, 1);
  const FidelityReport many = MeasureFidelity(held_out, *toolbox, second.get(), {}, 4);
  EXPECT_EQ(DumpJson(many.ToJson()), DumpJson(one.ToJson())) << "on any number of threads";
}

TEST(LearnedModel, WhatWritesDoIsWorkedOutUnlessTheDecoderIsOnItsOwn) {
  const ToolSpec spec = kClock;
  const Json city = Json::Of({{"city", "Oslo"}});
  const SimulatedCall call{
      .spec = &spec,
      .arguments = city,
      .writes = {{"set_clock", Json::Of({{"city", "Oslo"}, {"hour", 77}}), CallStatus::kOk, "{}"}},
      .known = {{"clock", city, {.content = R"({"hour":5})"}}}};
  for (const bool effects : {true, false}) {
    TrainingReport report;
    LearnedOptions options = Tiny();
    options.positions = 256;
    LearnedModel model = TrainLearnedModel(Clocks(), options, &report, nullptr).value();
    model.effects.rules[{"set_clock", "clock"}]["hour"] = {.kind = EffectRule::Kind::kArgument,
                                                           .name = "hour"};
    const auto player = NewLearnedPlayer(std::move(model), {.effects = effects});
    EXPECT_EQ(player->Play(call)->content == R"({"hour":77})", effects);
  }
}

// A record without looks before calls teaches nothing about them; to show one anyway would only
// confuse.
TEST(LearnedModel, WhatItWasNeverShownItIsNotShown) {
  const ToolSpec spec = kClock;
  TrainingReport report;
  LearnedOptions options = Tiny();
  options.positions = 256;
  LearnedModel model = TrainLearnedModel(Clocks(), options, &report, nullptr).value();
  EXPECT_TRUE(model.shown.empty());
  const auto player = NewLearnedPlayer(std::move(model), {});
  SimulatedCall call{.spec = &spec, .arguments = Json::Of({{"city", "Oslo"}}), .rng = Rng(3)};
  const PlayedResult plain = player->Play(call).value();
  call.known = {{"map", call.arguments, {.content = R"({"country":"Norway"})"}}};
  EXPECT_EQ(player->Play(call).value(), plain);

  // Where the record has looks, they are shown: here the clock says what the tower says.
  JournaledCalls looked = Clocks();
  for (size_t i = 0; i < looked.calls.size(); ++i) {
    const PlayedResult hour{.content = i % 2 == 0 ? R"({"hour":3})" : R"({"hour":17})"};
    looked.calls[i].known = {{"tower", looked.calls[i].arguments, hour}};
    looked.calls[i].answer = hour;
  }
  const TemporaryDirectory directory;
  const LearnedModel reader = TrainLearnedModel(looked, options, &report, nullptr).value();
  EXPECT_EQ(reader.shown.at("clock"), std::vector<std::string>{"tower"});
  ASSERT_TRUE(reader.Save(directory.path() / "sim").ok());
  const auto loaded = NewLearnedPlayer(LearnedModel::Load(directory.path() / "sim").value(), {});
  for (const char* hour : {R"({"hour":3})", R"({"hour":17})"}) {
    call.known = {{"tower", call.arguments, {.content = hour}}};
    EXPECT_EQ(loaded->Play(call)->content, hour);
  }
}

TEST(LearnedModel, NothingToLearnFromAndFoldersOfOtherThingsAreErrors) {
  const TemporaryDirectory directory;
  TrainingReport report;
  EXPECT_NE(TrainLearnedModel({}, Tiny(), &report, nullptr).error().message().find("record some"),
            std::string::npos);
  LearnedOptions odd = Tiny();
  odd.heads = 3;
  EXPECT_FALSE(TrainLearnedModel(Clocks(), odd, &report, nullptr).ok());
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "simulator.json",
                              R"({"format": "something", "version": 1})")
                  .ok());
  EXPECT_EQ(LearnedModel::Load(directory.path()).error().code(), ErrorCode::kVersion);
}

}  // namespace
}  // namespace hone
