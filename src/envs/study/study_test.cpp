#include "envs/study/study.h"

#include <gtest/gtest.h>

#include <map>

#include "envs/agents.h"
#include "envs/environments.h"
#include "support/env_player.h"

namespace hone::study {
namespace {

LoadedEnvironment Loaded(const std::string& more = "") {
  Recipe recipe = Recipe::Parse("[environment]\nkind = \"study\"\n" + more, "r").value();
  const EnvironmentOptions environment = ReadEnvironment(recipe.Root());
  const Result<void> finished = recipe.Finish();
  CHECK(finished.ok(), finished.error().message());
  return environment.make(nullptr).value();
}

const LoadedEnvironment& Usual() {
  static const LoadedEnvironment loaded = Loaded();
  return loaded;
}

Task FirstOf(std::string_view kind) {
  for (uint64_t i = 0;; ++i) {
    Task task = Usual().tasks->Make(Split::kTrain, i);
    if (SplitMarksOf(task).kind == kind) return task;
  }
}

// Makes these turns, one after the other.
class Scripted final : public Agent {
 public:
  explicit Scripted(std::vector<AgentTurn> turns) : turns_(std::move(turns)) {}
  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& played) override {
    return turns_[std::min(played.size(), turns_.size() - 1)];
  }

 private:
  std::vector<AgentTurn> turns_;
};

AgentTurn Search(std::string_view query) {
  AgentTurn turn;
  turn.calls = {{"search", Json::Of({{"query", query}}), {}}};
  return turn;
}
AgentTurn Code(std::string_view code) {
  AgentTurn turn;
  turn.calls = {{"python", Json::Of({{"code", code}}), {}}};
  return turn;
}

Playthrough PlayTurns(const Task& task, std::vector<AgentTurn> turns) {
  EnvPlayer player(Usual().environment);
  return player.Run(task, std::make_unique<Scripted>(std::move(turns)));
}

// With the real tools, and nearly every call brings something.
TEST(StudyTest, GoldPlansSucceed) {
  EnvPlayer player(Usual().environment);
  std::map<std::string, int> kinds;
  int helped = 0, did_not = 0;
  for (const Split split : kAllSplits) {
    for (uint64_t i = 0; i < 400; ++i) {
      const Task task = Usual().tasks->Make(split, i);
      const Playthrough played = player.Run(task, *Usual().gold_agent(task));
      ASSERT_TRUE(played.success()) << task.id << DumpJson(played.final_state);
      const size_t calls = task.reward.Find("calls")->AsArray().size();
      EXPECT_EQ(played.CountCalls(), static_cast<int64_t>(calls));
      for (const Json& score : played.final_state.Find("call_scores")->AsArray()) {
        (score == Json(1) ? helped : did_not) += 1;
      }
      for (const PlayedTurn& turn : played.turns) EXPECT_FALSE(turn.agent.thought.empty());
      ++kinds[SplitMarksOf(task).kind];
    }
  }
  EXPECT_EQ(kinds.size(), Kinds().size()) << "every kind occurs";
  // Now and then a search brings the document that the next one is to bring.
  EXPECT_LT(did_not, helped / 100);
}

// What is asked for, or both of what is disputed.
TEST(StudyTest, AnswersFollowFromWhatGoldCallsBring) {
  const Library library({});
  EnvPlayer player(Usual().environment);
  int disputed = 0;
  for (uint64_t i = 0; i < 600; ++i) {
    const Task task = Usual().tasks->Make(Split::kTrain, i);
    const Playthrough played = player.Run(task, *Usual().gold_agent(task));
    const Json::Array& values = task.metadata.Find("values")->AsArray();
    for (size_t n = 0; n < values.size(); ++n) {
      const std::string& result = played.turns.at(n).agent.results.at(0).content;
      EXPECT_NE(result.find(values[n].AsString()), std::string::npos) << task.id << result;
    }
    if (task.answer != Json("disputed")) continue;
    ++disputed;
    const PlayedTurn& only = played.turns.at(0);
    const Entity* entity = library.Find(only.agent.calls.at(0).arguments.Find("query")->AsString());
    ASSERT_NE(entity, nullptr) << task.id;
    EXPECT_NE(only.agent.results[0].content.find(entity->rival), std::string::npos) << task.id;
    EXPECT_NE(Json(entity->rival), values[0]) << task.id;
  }
  EXPECT_GT(disputed, 10);
}

TEST(StudyTest, OfWhatIsDisputedBothDocumentsAreNeeded) {
  const Task task = FirstOf("disputed_fact");
  const Json need = task.metadata.Find("needs")->AsArray().at(0);
  EXPECT_EQ(need.Find("lines")->AsInteger(), 2);
  const std::string name = need.Find("document")->AsString();
  EXPECT_EQ(DumpJson(*PlayTurns(task, {Search(name), Says("x")}).final_state.Find("call_scores")),
            "[1]");
}

TEST(StudyTest, CallsThatBringNothingNewScoreNothing) {
  const Task task = FirstOf("born");
  const std::string name =
      task.reward.Find("calls")->AsArray()[0].Find("arguments")->Find("query")->AsString();
  const Playthrough played = PlayTurns(
      task, {Search(name), Search(name), Code("print(1+1)"), Search("Jupiter"), Search(""),
             Says(" " + task.metadata.Find("values")->AsArray()[0].AsString() + ". ")});
  EXPECT_TRUE(played.success()) << "blanks and punctuation around the answer do not count";
  EXPECT_EQ(DumpJson(*played.final_state.Find("call_scores")), "[1,0,0,0,0]");
}

TEST(StudyTest, OnWhatIsKnownEveryCallIsForNothing) {
  const Task task = FirstOf("small_sum");
  const Playthrough played =
      PlayTurns(task, {Code("print(" + DumpJson(task.answer) + ")"), Says(DumpJson(task.answer))});
  EXPECT_TRUE(played.success());
  EXPECT_EQ(DumpJson(*played.final_state.Find("call_scores")), "[0]");
}

TEST(StudyTest, NumbersAreRightByTheirValue) {
  const Task task = FirstOf("product");
  EXPECT_TRUE(PlayTurns(task, {Says(DumpJson(task.answer) + ".0")}).success());
  EXPECT_FALSE(PlayTurns(task, {Says(DumpJson(task.answer) + "1")}).success());
  EXPECT_FALSE(PlayTurns(task, {Says("about " + DumpJson(task.answer))}).success());
}

TEST(StudyTest, WhatCodePrintsComesBackAndOfAnErrorTheLastLine) {
  const Playthrough played = PlayTurns(
      FirstOf("product"), {Code("print(347*89)\nprint(7)"), Code("print(1/0)"),
                           Code("print('x'*100000)"), Code("print(7)\nprint(1/0)"), Says("none")});
  const auto result = [&](size_t n) { return played.turns[n].agent.results[0]; };
  EXPECT_EQ(result(0).content, "30883\n7");
  EXPECT_EQ(result(1).content, "ZeroDivisionError: division by zero");
  EXPECT_EQ(result(1).status, CallStatus::kToolError);
  EXPECT_EQ(result(1).blame, Blame::kAgent);
  EXPECT_LT(result(2).content.size(), 250u) << "200 characters, and how many are left out";
  EXPECT_TRUE(result(2).content.ends_with("printed or returned more than 4096 bytes]"));
  EXPECT_EQ(result(3).content, "7\nZeroDivisionError: division by zero");
}

TEST(StudyTest, ToolsAreChosenAndRenamed) {
  const auto names = [](const LoadedEnvironment& loaded) {
    std::string text;
    for (const Toolbox::Tool& tool : loaded.environment->tools()->tools()) {
      text += tool.spec.name + " ";
    }
    return text;
  };
  EXPECT_EQ(names(Usual()), "search python ");
  EXPECT_EQ(names(Loaded("tools = [\"search\"]\n")), "search ");
  EXPECT_EQ(names(Loaded("tools = []\nkeep_tasks = true\n")), "");
  const LoadedEnvironment code = Loaded(
      "python_name = \"code\"\n[environment.tasks]\nkinds = "
      "[\"product\"]\n");
  EXPECT_EQ(names(code), "search code ");
  EnvPlayer player(code.environment);
  const Task task = code.tasks->Make(Split::kTrain, 0);
  EXPECT_TRUE(player.Run(task, *code.gold_agent(task)).success());
}

TEST(StudyTest, WithoutToolsTheTasksThatAreKeptCannotBeDoneByPlan) {
  const LoadedEnvironment bare = Loaded("tools = []\nkeep_tasks = true\n");
  EnvPlayer player(bare.environment);
  int known = 0, others = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    const Task task = bare.tasks->Make(Split::kTest, i);
    const bool needs_none = task.reward.Find("calls")->AsArray().empty();
    const Playthrough played = player.Run(task, *bare.gold_agent(task));
    (needs_none ? known : others) += 1;
    EXPECT_EQ(DumpJson(*played.final_state.Find("call_scores")).find('1'), std::string::npos);
  }
  EXPECT_GT(known, 5);
  EXPECT_GT(others, 50);
}

TEST(StudyTest, AWrongTaskOrRecipeIsRefused) {
  Task task = FirstOf("born");
  task.metadata.Set("needs", Json::Array{Json("Ada Kell")});
  const auto opened = Usual().environment->Open(task, 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("metadata.needs"), std::string::npos);
  task.answer = Json();
  EXPECT_FALSE(Usual().environment->Open(task, 1).ok());
  Recipe recipe = Recipe::Parse(
                      "[environment]\nkind = \"study\"\ntools = [\"serch\"]\n"
                      "python_name = \"search\"\n[environment.tasks]\nthoughts = \"loud\"\n",
                      "r")
                      .value();
  (void)ReadEnvironment(recipe.Root());
  const std::string message = recipe.Finish().error().message();
  EXPECT_NE(message.find("there is no \"serch\""), std::string::npos) << message;
  EXPECT_NE(message.find("python_name"), std::string::npos) << message;
  EXPECT_NE(message.find("thoughts"), std::string::npos) << message;
}

TEST(StudyTest, ATaskOfSomebodyElseNeedsOnlyAnAnswer) {
  Task task;
  task.id = "own";
  task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", "What is 2 plus 2?"}})};
  task.answer = 4;
  const Playthrough played = PlayTurns(task, {Code("print(2+2)"), Says("4")});
  EXPECT_TRUE(played.success());
  EXPECT_EQ(played.final_state.Find("call_scores"), nullptr) << "nobody says what helps";
}

}  // namespace
}  // namespace hone::study
