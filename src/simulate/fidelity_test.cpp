#include "simulate/fidelity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/scripted_toolkit.h"

namespace hone {
namespace {

Json J(std::string_view text) { return ParseJson(text).value(); }

class EchoPlayer final : public Player {
 public:
  explicit EchoPlayer(std::function<PlayedResult(const SimulatedCall&)> say)
      : say_(std::move(say)) {}
  std::string version() const override { return "echo"; }
  bool minds_state() const override { return true; }
  Result<PlayedResult> Play(const SimulatedCall& call) override { return say_(call); }

 private:
  const std::function<PlayedResult(const SimulatedCall&)> say_;
};

std::shared_ptr<const Toolbox> Tools() {
  auto kit = std::make_shared<ScriptedToolkit>();
  kit->Add({.name = "get",
            .parameters = J(R"({"type": "object"})"),
            .output = J(R"({"type": "object", "required": ["v"]})"),
            .resource = "x"},
           [](const Json&, const CallLimits&) { return Answered(""); });
  return ToolboxOf({kit});
}

// Eight calls: values 0 and 1 in turn, the last two refused.
JournaledCalls Record() {
  JournaledCalls recorded;
  for (int i = 0; i < 8; ++i) {
    recorded.calls.push_back(
        {.tool = "get",
         .arguments = Json::Of({{"n", i}}),
         .answer = i < 6 ? PlayedResult{CallStatus::kOk, DumpJson(Json::Of({{"v", i % 2}})), ""}
                         : PlayedResult{CallStatus::kToolError, "no", ""}});
  }
  return recorded;
}

TEST(Fidelity, APerfectPlayerIsPerfect) {
  const JournaledCalls recorded = Record();
  EchoPlayer player([&](const SimulatedCall& call) {
    return recorded.calls[static_cast<size_t>(call.arguments.Find("n")->AsInteger())].answer;
  });
  const ToolFidelity tool = MeasureFidelity(recorded, *Tools(), &player, {}, 2).tools.at(0);
  EXPECT_EQ(tool.calls, 8);
  EXPECT_EQ(tool.exact, 1);
  EXPECT_EQ(tool.fields, 1);
  EXPECT_EQ(tool.error_agreement, 1);
  EXPECT_EQ(tool.recorded_errors, 0.25);
  EXPECT_EQ(tool.simulated_collisions, tool.recorded_collisions);
  EXPECT_NEAR(tool.recorded_collisions, 6.0 / 15, 1e-12);
  EXPECT_NEAR(tool.by_field.at(0).total_variation, 0, 1e-12);
}

TEST(Fidelity, AConstantPlayerCollidesAndIsDistributedWrongly) {
  EchoPlayer player([](const SimulatedCall&) { return PlayedResult{.content = R"({"v":0})"}; });
  const FidelityReport report = MeasureFidelity(Record(), *Tools(), &player, {}, 1);
  const ToolFidelity& tool = report.tools.at(0);
  EXPECT_EQ(tool.exact, 3.0 / 8);
  EXPECT_EQ(tool.error_agreement, 0.75);
  EXPECT_EQ(tool.simulated_collisions, 1);
  EXPECT_NEAR(tool.by_field.at(0).total_variation, 0.5, 1e-12);
  EXPECT_NE(report.Table().find("get v"), std::string::npos);
}

// Values 0 to `kinds` - 1, each as often as the others, in an order of no meaning.
JournaledCalls Uniform(int calls, uint64_t kinds) {
  JournaledCalls recorded;
  for (int i = 0; i < calls; ++i) {
    const uint64_t value = Rng(1).Split(static_cast<uint64_t>(i)).Below(kinds);
    recorded.calls.push_back({.tool = "get",
                              .arguments = Json::Of({{"n", i}}),
                              .answer = {.content = DumpJson(Json::Of({{"v", value}}))}});
  }
  return recorded;
}

TEST(Fidelity, NoiseIsWhatAnotherSampleOfTheSameWorldVaries) {
  constexpr uint64_t kKinds = 16;
  EchoPlayer other([&](const SimulatedCall& call) {
    const auto n = static_cast<uint64_t>(call.arguments.Find("n")->AsInteger());
    return PlayedResult{.content = DumpJson(Json::Of({{"v", Rng(2).Split(n).Below(kKinds)}}))};
  });
  for (const int calls : {400, 6400}) {
    const FieldFidelity field =
        MeasureFidelity(Uniform(calls, kKinds), *Tools(), &other, {}, 1).tools.at(0).by_field.at(0);
    // The mean of the total variation between two samples of n over k equal drawers.
    const double expected = std::sqrt(static_cast<double>(kKinds) / (std::numbers::pi * calls));
    EXPECT_NEAR(field.noise, expected, 0.15 * expected) << calls;
    EXPECT_NEAR(field.total_variation, expected, 0.6 * expected) << calls;
  }
}

TEST(Fidelity, FaultsAreCountedAndNotRight) {
  EchoPlayer player([](const SimulatedCall&) { return PlayedResult{.content = "{}"}; });
  const ToolFidelity tool = MeasureFidelity(Record(), *Tools(), &player, {}, 1).tools.at(0);
  EXPECT_EQ(tool.faults, 8);
  EXPECT_EQ(tool.answered_valid, 0);
  EXPECT_EQ(tool.error_agreement, 0);
}

TEST(Fidelity, AReadAfterAWriteIsRightWhenItShowsAllThatChanged) {
  JournaledCalls recorded;
  RecordedCall call{.tool = "get",
                    .arguments = J(R"({"id":"a1"})"),
                    .writes = {{"set", J(R"({"id":"a1"})"), CallStatus::kOk, "{}"}},
                    .known = {{"get", J(R"({"id":"a1"})"), {.content = R"({"v":0,"w":1})"}}},
                    .answer = {.content = R"({"v":5,"w":1})"}};
  recorded.calls.push_back(call);
  EchoPlayer right(
      [](const SimulatedCall&) { return PlayedResult{.content = R"({"v":5,"w":2})"}; });
  EchoPlayer stale([](const SimulatedCall& asked) { return asked.known.back().answer; });
  EXPECT_EQ(MeasureFidelity(recorded, *Tools(), &right, {}, 1).all.reads_after_writes_right, 1);
  const ToolFidelity tool = MeasureFidelity(recorded, *Tools(), &stale, {}, 1).all;
  EXPECT_EQ(tool.reads_after_writes, 1);
  EXPECT_EQ(tool.reads_after_writes_right, 0);
}

}  // namespace
}  // namespace hone
