#include "envs/mixture.h"

#include <set>

#include <gtest/gtest.h>

#include "envs/agents.h"
#include "envs/data_env.h"
#include "envs/environments.h"
#include "envs/gold.h"
#include "envs/play.h"
#include "support/scripted_toolkit.h"
#include "tools/live.h"

namespace hone {
namespace {

Task Asked(const std::string& id, const std::string& answer) {
  Task task;
  task.id = id;
  task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", "Say " + answer}})};
  task.tools = Json::Array();
  task.answer = answer;
  return task;
}

// An environment of so many tasks of each split, without tools.
EnvironmentMember Listed(const std::string& name, size_t train, size_t dev, double weight = 1) {
  std::map<Split, std::vector<Task>> tasks;
  for (size_t i = 0; i < train; ++i) tasks[Split::kTrain].push_back(Asked(std::to_string(i), name));
  for (size_t i = 0; i < dev; ++i) tasks[Split::kDev].push_back(Asked(std::to_string(i), name));
  LoadedEnvironment loaded{
      .environment = NewDataEnvironment(std::make_shared<const Toolbox>(), {.name = name}),
      .tasks = NewListedTasks(std::move(tasks)),
      .gold_agent = NewPlanAgentFor};
  return {name, weight, std::make_shared<const LoadedEnvironment>(std::move(loaded))};
}

EnvironmentMember BuiltIn(const std::string& name, double weight = 1) {
  return {name, weight, std::make_shared<const LoadedEnvironment>(NewBuiltIn(name).value())};
}

std::string EnvironmentOf(const Task& task) {
  return task.metadata.Find("environment")->AsString();
}

std::map<std::string, int> CountsOf(const TaskSource& tasks, uint64_t count) {
  std::map<std::string, int> counts;
  for (uint64_t i = 0; i < count; ++i) {
    ++counts[EnvironmentOf(tasks.Make(Split::kTrain, tasks.NumberAt(i)))];
  }
  return counts;
}

TEST(MixtureTest, EveryEnvironmentHasItsShareOfAnyStretchOfTasks) {
  const std::vector<EnvironmentMember> members = {Listed("a", 5, 1, 3), Listed("b", 7, 1, 1)};
  const auto tasks = NewMixedTasks(members, {}, 0);
  EXPECT_EQ(tasks->count(Split::kTrain), std::nullopt);
  EXPECT_EQ(CountsOf(*tasks, 1000), (std::map<std::string, int>{{"a", 750}, {"b", 250}}));
  EXPECT_EQ(CountsOf(*tasks, 40), (std::map<std::string, int>{{"a", 30}, {"b", 10}}));
}

TEST(MixtureTest, AMixReplacesTheWeightsAndLeavesOutWhoIsNotNamed) {
  const std::vector<EnvironmentMember> members = {Listed("a", 5, 1, 3), Listed("b", 7, 1, 1),
                                                  Listed("c", 2, 1, 1)};
  EXPECT_EQ(CountsOf(*NewMixedTasks(members, {{"b", 1}}, 0), 50),
            (std::map<std::string, int>{{"b", 50}}));
  EXPECT_EQ(CountsOf(*NewMixedTasks(members, {{"a", 1}, {"c", 1}}, 0), 50),
            (std::map<std::string, int>{{"a", 25}, {"c", 25}}));
  // However little, it is not nothing.
  EXPECT_EQ(CountsOf(*NewMixedTasks(members, {{"a", 1e6}, {"c", 1}}, 0), 1000),
            (std::map<std::string, int>{{"a", 999}, {"c", 1}}));
}

TEST(MixtureTest, AListBeginsAgainAtItsEndInAnotherOrder) {
  const auto tasks = NewMixedTasks(std::vector{Listed("a", 30, 1)}, {}, 0);
  std::vector<std::string> first, second;
  for (uint64_t i = 0; i < 60; ++i) {
    (i < 30 ? first : second).push_back(tasks->Make(Split::kTrain, tasks->NumberAt(i)).id);
  }
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 30u);
  EXPECT_EQ(std::set<std::string>(second.begin(), second.end()).size(), 30u);
  EXPECT_NE(first, second);
}

TEST(MixtureTest, ANumberStandsForTheSameTaskInEveryMix) {
  const std::vector<EnvironmentMember> members = {BuiltIn("desk"), Listed("b", 7, 1)};
  const auto one = NewMixedTasks(members, {}, 0);
  const auto other = NewMixedTasks(members, {{"b", 1}}, uint64_t{1} << 32);
  for (uint64_t number = 0; number < 20; ++number) {
    EXPECT_EQ(one->Make(Split::kTrain, number).id, other->Make(Split::kTrain, number).id);
  }
}

TEST(MixtureTest, ALaterStageHasOtherTasksOfAnEndlessEnvironment) {
  const std::vector<EnvironmentMember> members = {BuiltIn("desk"), Listed("b", 7, 1)};
  std::set<std::string> seen;
  for (const uint64_t first : {uint64_t{0}, uint64_t{1} << 32}) {
    const auto tasks = NewMixedTasks(members, {{"desk", 1}}, first);
    for (uint64_t i = 0; i < 50; ++i) {
      seen.insert(tasks->Make(Split::kTrain, tasks->NumberAt(i)).id);
    }
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(MixtureTest, OtherSplitsHaveTheTasksOfAllInTurn) {
  const auto tasks =
      NewMixedTasks(std::vector{Listed("a", 1, 2), Listed("b", 1, 0), Listed("c", 1, 4)}, {}, 0);
  ASSERT_EQ(tasks->count(Split::kDev), 6u);
  std::vector<std::string> ids;
  for (uint64_t i = 0; i < 6; ++i) ids.push_back(tasks->Make(Split::kDev, i).id);
  EXPECT_EQ(ids, (std::vector<std::string>{"a/0", "c/0", "a/1", "c/1", "c/2", "c/3"}));
  EXPECT_EQ(tasks->count(Split::kTest), 0u);
}

TEST(MixtureTest, SoManyTasksOfEachAreMeasured) {
  const auto tasks = NewMixedTasks(std::vector{Listed("a", 1, 2), Listed("c", 1, 4)}, {}, 0);
  std::vector<std::string> ids;
  for (const uint64_t number : tasks->Measured(Split::kDev, 3)) {
    ids.push_back(tasks->Make(Split::kDev, number).id);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"a/0", "c/0", "a/1", "c/1", "c/2"}));
  // Of an endless one as many as are wanted.
  const auto endless = NewMixedTasks(std::vector{BuiltIn("desk"), Listed("c", 1, 4)}, {}, 0);
  EXPECT_EQ(endless->Measured(Split::kDev, 100).size(), 104u);
}

TEST(MixtureTest, AnEnvironmentWithoutTrainingTasksIsMeasuredAndNotPractised) {
  const auto tasks = NewMixedTasks(std::vector{Listed("a", 3, 2), Listed("b", 0, 2)}, {}, 0);
  EXPECT_EQ(CountsOf(*tasks, 10), (std::map<std::string, int>{{"a", 10}}));
  EXPECT_EQ(tasks->Measured(Split::kDev, 8).size(), 4u);
  EXPECT_EQ(NewMixedTasks(std::vector{Listed("b", 0, 2)}, {}, 0)->count(Split::kTrain), 0u);
}

TEST(MixtureTest, ATaskIsPlayedAsInItsOwnEnvironment) {
  const LoadedEnvironment alone = NewBuiltIn("desk").value();
  const LoadedEnvironment mixed = Mixed({BuiltIn("desk"), BuiltIn("switchboard")});
  const auto timeline = NewVirtualTimeline();
  Executor executor(
      {.responders = {NewLiveResponder(*mixed.environment->tools(), timeline.get(), nullptr)}},
      timeline.get());
  int desks = 0;
  for (uint64_t i = 0; i < 12; ++i) {
    const Task task = mixed.tasks->Make(Split::kTrain, i);
    const auto played =
        Play(*mixed.environment, task, 7, mixed.gold_agent(task).value().get(), &executor).value();
    EXPECT_TRUE(played.success()) << task.id;
    if (EnvironmentOf(task) != "desk") continue;
    const Task own = alone.tasks->Make(Split::kTrain, static_cast<uint64_t>(desks++));
    EXPECT_EQ(task.id, "desk/" + own.id);
    const auto opened = mixed.environment->Open(task, 7).value();
    const auto as_alone = alone.environment->Open(own, 7).value();
    EXPECT_EQ(opened->opening().messages, as_alone->opening().messages);
    EXPECT_EQ(opened->opening().session_seed, as_alone->opening().session_seed);
  }
  EXPECT_EQ(desks, 6);
}

// With a tool `who` that says the environment's name.
EnvironmentMember Saying(const std::string& name) {
  const auto kit = std::make_shared<ScriptedToolkit>();
  kit->Add("who", Effect::kReads,
           [name](const Json&, const CallLimits&) { return Answered(name); });
  Task task = Asked("t", name);
  task.metadata =
      ParseJson(R"({"plan": {"calls": [{"name": "who", "arguments": {}}], "answer": "${0}"}})")
          .value();
  LoadedEnvironment loaded{.environment = NewDataEnvironment(ToolboxOf({kit}), {.name = name}),
                           .tasks = NewListedTasks({{Split::kTrain, {task}}}),
                           .gold_agent = NewPlanAgentFor};
  return {name, 1, std::make_shared<const LoadedEnvironment>(std::move(loaded))};
}

TEST(MixtureTest, ToolsOfTheSameNameAreTheTasksOwn) {
  const LoadedEnvironment mixed = Mixed({Saying("north"), Saying("south")});
  EXPECT_EQ(mixed.environment->tools()->ambiguous(), std::vector<std::string>{"who"});
  EXPECT_EQ(mixed.environment->tools()->kits().size(), 2u);
  const auto timeline = NewVirtualTimeline();
  Executor executor(
      {.responders = {NewLiveResponder(*mixed.environment->tools(), timeline.get(), nullptr)}},
      timeline.get());
  for (uint64_t i = 0; i < 2; ++i) {
    const Task task = mixed.tasks->Make(Split::kTrain, i);
    const auto played =
        Play(*mixed.environment, task, 7, mixed.gold_agent(task).value().get(), &executor).value();
    EXPECT_EQ(played.turns.at(0).agent.results.at(0).content, EnvironmentOf(task));
    EXPECT_TRUE(played.success()) << task.id;
  }
}

TEST(MixtureTest, ATaskOfNobodyIsAnError) {
  const LoadedEnvironment mixed = Mixed({Listed("a", 1, 1), Listed("b", 1, 1)});
  const auto opened = mixed.environment->Open(Asked("x", "y"), 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("a, b"), std::string::npos) << opened.error().message();
}

TEST(MixtureTest, GoldIsAskedForInTheTasksOwnWorld) {
  const LoadedEnvironment mixed = Mixed({BuiltIn("desk"), BuiltIn("switchboard")});
  const auto timeline = NewVirtualTimeline();
  Executor executor(
      {.responders = {NewLiveResponder(*mixed.environment->tools(), timeline.get(), nullptr)}},
      timeline.get());
  const std::vector<Task> tasks = {mixed.tasks->Make(Split::kTrain, 0),
                                   mixed.tasks->Make(Split::kTrain, 1)};
  const std::vector<uint64_t> seeds = {1, 2};
  const auto gold = GoldInWorld(*mixed.environment, tasks, seeds, &executor, "gold").value();
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(gold[i].void_because, "");
    EXPECT_EQ(gold[i].task.answer, tasks[i].answer) << tasks[i].id;
  }
}

EnvironmentOptions ReadFrom(const std::string& toml, std::string* problems) {
  Recipe recipe = Recipe::Parse(toml, "mix.toml").value();
  EnvironmentOptions read = ReadEnvironment(recipe.Root());
  const Result<void> fine = recipe.Finish();
  *problems = fine.ok() ? "" : fine.error().message();
  return read;
}

TEST(MixtureTest, IsWrittenAsSeveralEnvironments) {
  std::string problems;
  const EnvironmentOptions read = ReadFrom(R"(
[[environment]]
kind = "desk"
weight = 3
[environment.tasks]
max_calls = 1
[[environment]]
kind = "desk"
name = "pipelines"
)",
                                           &problems);
  EXPECT_EQ(problems, "");
  EXPECT_EQ(read.members, (std::vector<std::string>{"desk", "pipelines"}));
  EXPECT_TRUE(read.traits.in_process);
  const LoadedEnvironment loaded = read.make(nullptr).value();
  EXPECT_EQ(CountsOf(*loaded.tasks, 40),
            (std::map<std::string, int>{{"desk", 30}, {"pipelines", 10}}));
}

TEST(MixtureTest, TwoOfTheSameNameAreAProblem) {
  std::string problems;
  ReadFrom("[[environment]]\nkind = \"desk\"\n[[environment]]\nkind = \"desk\"\n", &problems);
  EXPECT_NE(problems.find("two environments are called \"desk\""), std::string::npos) << problems;
  ReadFrom("[[environment]]\nkind = \"desk\"\nweight = 0\n", &problems);
  EXPECT_NE(problems.find("weight"), std::string::npos) << problems;
}

}  // namespace
}  // namespace hone
