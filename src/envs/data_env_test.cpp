#include "envs/data_env.h"

#include <gtest/gtest.h>

#include "envs/agents.h"
#include "envs/plan.h"
#include "support/env_player.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

std::shared_ptr<const Toolbox> Sums() {
  return ToolboxOf({std::make_shared<SumToolkit>(Sharing::kClone)});
}

Task Question(Json answer) {
  Task task;
  task.id = "q";
  task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", "Well?"}})};
  task.answer = std::move(answer);
  return task;
}

Plan Saying(std::string answer) {
  Plan plan;
  plan.answers = {{std::move(answer), {}}};
  return plan;
}

TEST(DataEnvironmentTest, AnswersAreComparedByTheRule) {
  EXPECT_TRUE(IsRightAnswer(AnswerRule::kText, " Oslo. ", "oslo"));
  EXPECT_TRUE(IsRightAnswer(AnswerRule::kText, "new  york", "New York"));
  EXPECT_TRUE(IsRightAnswer(AnswerRule::kText, "5.0", 5));
  EXPECT_TRUE(IsRightAnswer(AnswerRule::kText, "b", Json::Array{"a", "b"}));
  EXPECT_FALSE(IsRightAnswer(AnswerRule::kText, "6", 5));
  EXPECT_FALSE(IsRightAnswer(AnswerRule::kExact, "oslo", "Oslo"));
  EXPECT_TRUE(IsRightAnswer(AnswerRule::kExact, "5", 5));
  EXPECT_FALSE(IsRightAnswer(AnswerRule::kReward, "x", "x"));
}

TEST(DataEnvironmentTest, TheRuleGivesTheVerdict) {
  EnvPlayer player(NewDataEnvironment(Sums(), {}));
  EXPECT_TRUE(player.Run(Question("fog"), NewPlanAgent(Saying("Fog"))).success());
  EXPECT_FALSE(player.Run(Question("fog"), NewPlanAgent(Saying("sun"))).success());
  // Nobody says what is right: no verdict.
  const Playthrough open = player.Run(Question(Json()), NewPlanAgent(Saying("sun")));
  EXPECT_EQ(open.final_state.Find("verdict"), nullptr);
  EXPECT_EQ(*open.final_state.Find("answer"), Json("sun"));
  // A gold that is no text is the rewards' to compare.
  const Json object = Json::Of({{"target", Json::Array{"fog"}}});
  EXPECT_EQ(player.Run(Question(object), NewPlanAgent(Saying("fog"))).final_state.Find("verdict"),
            nullptr);
  EnvPlayer silent(NewDataEnvironment(Sums(), {.answer = AnswerRule::kReward}));
  EXPECT_EQ(silent.Run(Question("fog"), NewPlanAgent(Saying("fog"))).final_state.Find("verdict"),
            nullptr);
}

TEST(DataEnvironmentTest, TheKindThatATaskNamesGivesTheVerdict) {
  EnvPlayer player(NewDataEnvironment(Sums(), {}));
  const auto right = [&](const Json& gold, const Json& reward, const std::string& answer) {
    Task task = Question(gold);
    task.reward = reward;
    const Playthrough played = player.Run(task, NewPlanAgent(Saying(answer)));
    const Json* verdict = played.final_state.Find("verdict");
    return verdict == nullptr ? std::string("none") : DumpJson(*verdict);
  };
  EXPECT_EQ(right("\\frac{1}{2}", "math", "So it is $\\boxed{1/2}$."), "true");
  EXPECT_EQ(right("72", "gsm8k", "70 + 2\n#### 72"), "true");
  EXPECT_EQ(right("72", "gsm8k", "72 or 73"), "false");
  EXPECT_EQ(right(Json::Array{"The Beatles"}, Json::Of({{"answer", "qa-f1"}}), "beatles"), "true");
  EXPECT_EQ(right(Json::Array{"The Beatles"}, "qa-f1", "the Beatles of Liverpool"), "false");
  EXPECT_EQ(right(10, Json::Of({{"answer", Json::Of({{"kind", "number"}, {"relative", 0.1}})}}),
                  "it is 9.5"),
            "true");
  EXPECT_EQ(right(Json::Of({{"a", 1}}), "json", "{\"a\": 1.0}"), "true");
  // The environment's own rule; and nobody's, where a program must run.
  EXPECT_EQ(right("fog", "verdict", "Fog"), "true");
  EXPECT_EQ(
      right(*ParseJson(R"({"tests": [{"input": "", "output": "1"}]})"), "program", "print(1)"),
      "none");
  EnvPlayer silent(NewDataEnvironment(Sums(), {.answer = AnswerRule::kReward}));
  Task task = Question("72");
  task.reward = "gsm8k";
  EXPECT_EQ(silent.Run(task, NewPlanAgent(Saying("72"))).final_state.Find("verdict"), nullptr);
}

// What a simulator makes up, or a record has, is that task's in every episode of it.
TEST(DataEnvironmentTest, ATaskHasOneWorldWhateverTheEpisode) {
  const auto environment = NewDataEnvironment(Sums(), {});
  const auto world = [&](const Task& task, uint64_t seed) {
    return environment->Open(task, seed).value()->opening().session_seed;
  };
  Task task = Question("x"), other = task;
  other.id = "another";
  EXPECT_EQ(world(task, 1), world(task, 2));
  EXPECT_NE(world(task, 1), world(other, 1));
  task.metadata.Set("seed", 7);
  EXPECT_EQ(world(task, 1), 7u);
}

TEST(DataEnvironmentTest, TheSystemMessageIsForTasksThatHaveNone) {
  const auto environment = NewDataEnvironment(Sums(), {.system = "Be brief."});
  Task task = Question("x");
  const auto with = environment->Open(task, 1).value();
  EXPECT_EQ(*with->opening().messages.AsArray()[0].Find("content"), Json("Be brief."));
  task.messages.AsArray().insert(task.messages.AsArray().begin(),
                                 Json::Of({{"role", "system"}, {"content", "Be long."}}));
  const auto own = environment->Open(task, 1).value();
  EXPECT_EQ(*own->opening().messages.AsArray()[0].Find("content"), Json("Be long."));
  EXPECT_EQ(own->opening().messages.AsArray().size(), 2u);
}

TEST(DataEnvironmentTest, ATasksOwnToolsAreShownAndMustBeThere) {
  const auto environment = NewDataEnvironment(Sums(), {});
  Task task = Question("x");
  EXPECT_EQ(environment->Open(task, 1).value()->opening().tools.AsArray().size(), 1u);
  task.tools = *ParseJson(R"([{"name":"fly","parameters":{"type":"object"}}])");
  const auto opened = environment->Open(task, 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("nobody answers its tool \"fly\""), std::string::npos);
}

}  // namespace
}  // namespace hone
