#include "evaluate/mistakes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/live.h"

namespace hone {
namespace {

std::vector<Task> FirstTasks(const LoadedEnvironment& loaded, uint64_t count) {
  std::vector<Task> tasks;
  for (uint64_t i = 0; i < count; ++i) tasks.push_back(loaded.tasks->Make(Split::kTrain, i));
  return tasks;
}

struct Counts {
  int64_t gold = 0, wrong = 0, refused = 0;
};

// How many calls of the first tasks are gold calls of their task, and how many are not.
Counts PlayAll(const LoadedEnvironment& loaded, double rate) {
  const std::vector<Task> tasks = FirstTasks(loaded, 100);
  const Mistakes mistakes(loaded, tasks, rate);
  const auto timeline = NewVirtualTimeline();
  Executor executor(
      {.responders = {NewLiveResponder(*loaded.environment->tools(), timeline.get(), nullptr)}},
      timeline.get());
  Counts counts;
  for (const Task& task : tasks) {
    const auto agent = mistakes.SlippingAgentFor(task, Rng(1).Split(task.id)).value();
    const Playthrough played =
        Play(*loaded.environment, task, 1, agent.get(), &executor, {.path = "m"}).value();
    const Json::Array& gold = task.reward.Find("calls")->AsArray();
    for (const PlayedTurn& turn : played.turns) {
      for (size_t i = 0; i < turn.agent.calls.size(); ++i) {
        const Call& call = turn.agent.calls[i];
        const bool right = std::any_of(gold.begin(), gold.end(), [&](const Json& entry) {
          return *entry.Find("name") == Json(call.name) &&
                 *entry.Find("arguments") == call.arguments;
        });
        ++(right ? counts.gold : counts.wrong);
        counts.refused += turn.agent.results[i].status == CallStatus::kToolError;
      }
    }
  }
  return counts;
}

TEST(Mistakes, NobodySlipsAtRateZero) {
  for (const char* name : {"desk", "service"}) {
    const Counts counts = PlayAll(NewBuiltIn(name).value(), 0);
    EXPECT_GT(counts.gold, 100) << name;
    EXPECT_EQ(counts.wrong, 0) << name;
    EXPECT_EQ(counts.refused, 0) << name;
  }
}

TEST(Mistakes, SlipsAreWrongCallsOfWhichSomeAreRefused) {
  for (const char* name : {"desk", "service"}) {
    const Counts counts = PlayAll(NewBuiltIn(name).value(), 0.8);
    EXPECT_GT(counts.wrong, 30) << name;
    EXPECT_GT(counts.refused, 10) << name;
    EXPECT_GT(counts.gold, 10) << name;
  }
}

TEST(Mistakes, TheDeskHasItsTeacher) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  const std::vector<Task> tasks = FirstTasks(desk, 3);
  EXPECT_TRUE(Mistakes(desk, tasks, 0.5).AgentFor(tasks[0], Rng(1)).ok());
  EXPECT_FALSE(Mistakes(desk, tasks, 0.5).AgentFor(Task{}, Rng(1)).ok());
}

}  // namespace
}  // namespace hone
