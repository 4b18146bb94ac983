#include "evaluate/world_audit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulate/simulator.h"

namespace hone {
namespace {

std::vector<Task> FirstTasks(const LoadedEnvironment& loaded, uint64_t count) {
  std::vector<Task> tasks;
  for (uint64_t i = 0; i < count; ++i) tasks.push_back(loaded.tasks->Make(Split::kTrain, i));
  return tasks;
}

// A player with a flaw: what it says is for the test to choose.
class FlawedPlayer final : public Player {
 public:
  explicit FlawedPlayer(std::function<std::optional<PlayedResult>(const SimulatedCall&)> flaw)
      : flaw_(std::move(flaw)) {}
  std::string version() const override { return "flawed"; }
  bool minds_state() const override { return false; }
  Result<PlayedResult> Play(const SimulatedCall& call) override {
    if (std::optional<PlayedResult> flawed = flaw_(call)) return *std::move(flawed);
    return random_->Play(call);
  }

 private:
  const std::function<std::optional<PlayedResult>(const SimulatedCall&)> flaw_;
  const std::unique_ptr<Player> random_ = NewRandomPlayer();
};

WorldAudit AuditDesk(const std::function<std::optional<PlayedResult>(const SimulatedCall&)>& flaw,
                     int threads) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  const auto simulator = NewSimulator(std::make_shared<FlawedPlayer>(flaw), {}, nullptr);
  return AuditWorld(desk, FirstTasks(desk, 300),
                    [&](Timeline*) { return std::vector<std::shared_ptr<Responder>>{simulator}; },
                    RealWorld(desk.environment->tools()), {.threads = threads})
      .value();
}

TEST(WorldAudit, TheRealWorldIsFitToTrainIn) {
  for (const char* name : {"desk", "service"}) {
    const LoadedEnvironment loaded = NewBuiltIn(name).value();
    const WorldAnswers real = RealWorld(loaded.environment->tools());
    const WorldAudit audit =
        AuditWorld(loaded, FirstTasks(loaded, 60), real, real, {.threads = 1}).value();
    EXPECT_EQ(audit.simulated.tasks, 60) << name;
    EXPECT_EQ(audit.simulated.void_tasks, 0) << name;
    EXPECT_EQ(audit.simulated.gold_success, 1) << name;
    EXPECT_EQ(audit.simulated.shortcuts.without_call, audit.real.shortcuts.without_call) << name;
    EXPECT_GT(audit.right.calls, 40) << name;
    EXPECT_GT(audit.wrong.calls, 10) << name;
    EXPECT_EQ(audit.right.faults + audit.wrong.faults, 0) << name;
  }
}

TEST(WorldAudit, AnyConsistentWorldIsFitForTheDesk) {
  const WorldAudit audit = AuditDesk([](const SimulatedCall&) { return std::nullopt; }, 2);
  EXPECT_EQ(audit.simulated.void_tasks, 0);
  EXPECT_EQ(audit.simulated.gold_success, 1);
  EXPECT_EQ(audit.right.faults, 0);
}

TEST(WorldAudit, RefusedGoldCallsMakeTasksVoidAndAreCountedByKind) {
  const WorldAudit audit = AuditDesk(
      [](const SimulatedCall& call) -> std::optional<PlayedResult> {
        if (call.spec->name != "contact") return std::nullopt;
        return PlayedResult{CallStatus::kToolError, R"({"error":"not found"})", ""};
      },
      1);
  EXPECT_GT(audit.simulated.void_tasks, 20);
  EXPECT_EQ(audit.simulated.void_reasons.at("contact tool_error"), audit.simulated.void_tasks);
  EXPECT_EQ(audit.simulated.by_kind.at("phone").first, audit.simulated.by_kind.at("phone").second);
  EXPECT_EQ(audit.simulated.by_kind.at("sky").first, 0);
  EXPECT_EQ(audit.simulated.gold_success, 1);  // of what is left
  EXPECT_NE(audit.Table().find("contact tool_error"), std::string::npos);
}

TEST(WorldAudit, AWorldThatSaysOneThingToEverybodyGivesItselfAway) {
  const WorldAudit audit = AuditDesk(
      [](const SimulatedCall& call) -> std::optional<PlayedResult> {
        if (call.spec->name != "weather") return std::nullopt;
        return PlayedResult{CallStatus::kOk, R"({"sky":"fog","temp":20})", ""};
      },
      1);
  EXPECT_EQ(audit.simulated.shortcuts.answer, "fog");
  EXPECT_GT(audit.simulated.shortcuts.without_call, audit.real.shortcuts.without_call + 0.1);
}

TEST(WorldAudit, FaultsThatFallOnWrongCallsAloneShow) {
  // Fails where the agent slips: on people it does not expect on that day.
  const WorldAudit audit = AuditDesk(
      [](const SimulatedCall& call) -> std::optional<PlayedResult> {
        if (call.spec->name != "clock") return std::nullopt;
        return PlayedResult{.problem = "no idea"};
      },
      1);
  EXPECT_GT(audit.wrong.faults, 0);
  EXPECT_GT(audit.right.faults, 0);
  EXPECT_EQ(audit.simulated.void_reasons.at("clock unavailable"), audit.simulated.void_tasks);
  // The teacher takes the clock for the weather far more often than anybody needs it.
  EXPECT_GT(audit.wrong.rate(), audit.right.rate() + 0.01);
  EXPECT_EQ(*audit.ToJson().Find("faults")->Find("wrong_calls")->Find("faults"),
            Json(audit.wrong.faults));
}

TEST(WorldAudit, DoesNotDependOnThreads) {
  const auto flaw = [](const SimulatedCall&) { return std::nullopt; };
  EXPECT_EQ(AuditDesk(flaw, 1).ToJson(), AuditDesk(flaw, 4).ToJson());
}

TEST(WorldAudit, ATaskWithoutPlanIsAnError) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  Task task = desk.tasks->Make(Split::kTrain, 0);
  task.metadata = Json::Of({{"seed", 1}});
  const WorldAnswers real = RealWorld(desk.environment->tools());
  const auto audit = AuditWorld(desk, {task}, real, real, {});
  ASSERT_FALSE(audit.ok());
  EXPECT_NE(audit.error().message().find("has no plan"), std::string::npos);
}

}  // namespace
}  // namespace hone
