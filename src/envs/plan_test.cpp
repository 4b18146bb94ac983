#include "envs/plan.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Plan Parse(std::string_view text) { return PlanFromJson(*ParseJson(text)).value(); }

std::string ProblemOf(std::string_view text) {
  const Result<Plan> plan = PlanFromJson(*ParseJson(text));
  return plan.ok() ? "" : plan.error().message();
}

constexpr char kPipeline[] =
    R"({"calls":[{"name":"contact","arguments":{"name":"Ana"}},)"
    R"({"name":"send","arguments":{"to":"Ben","text":"${0.city} has ${0.people.1}"}},)"
    R"({"name":"add","arguments":{"n":"${0.people.0}","t":"${0.people.0|text}"}}],)"
    R"("answer":"${0.city}","outputs":["${2}"]})";

TEST(PlanTest, ReferencesAreFilledIn) {
  std::vector<Call> made;
  const auto gold = CarryOut(Parse(kPipeline), [&](const Call& call) -> Result<Json> {
    made.push_back(call);
    if (call.name == "contact") return *ParseJson(R"({"city":"Oslo","people":[3,"four"]})");
    return Json(7);
  });
  ASSERT_TRUE(gold.ok()) << gold.error().message();
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(*made[1].arguments.Find("text"), Json("Oslo has four"));
  EXPECT_EQ(*made[2].arguments.Find("n"), Json(3)) << "one reference is the value itself";
  EXPECT_EQ(*made[2].arguments.Find("t"), Json("3"));
  EXPECT_EQ(gold->answer, "Oslo");
  EXPECT_EQ(gold->outputs, std::vector<std::string>{"7"});
  EXPECT_EQ(gold->calls[2].after, std::vector<int32_t>{0});
}

TEST(PlanTest, ConditionsDecideWhichCallsAreMade) {
  const Plan plan =
      Parse(R"({"calls":[{"name":"weather"},)"
            R"({"name":"go","if":{"left":"${0.sky}","right":"sun"}},)"
            R"({"name":"stay","if":{"left":"${0.sky}","test":"different","right":"sun"}}],)"
            R"("answers":[{"value":"warm","if":{"left":"${0.temp}","test":"above","right":20}},)"
            R"({"value":"cold"}]})");
  const auto run = [&](const char* weather) {
    return CarryOut(plan, [&](const Call&) -> Result<Json> { return *ParseJson(weather); }).value();
  };
  const ResolvedPlan sun = run(R"({"sky":"sun","temp":30})");
  ASSERT_EQ(sun.calls.size(), 2u);
  EXPECT_EQ(sun.calls[1].call.name, "go");
  EXPECT_EQ(sun.answer, "warm");
  const ResolvedPlan fog = run(R"({"sky":"fog","temp":3})");
  EXPECT_EQ(fog.calls[1].call.name, "stay");
  EXPECT_EQ(fog.answer, "cold");
}

TEST(PlanTest, WhatIsWrittenIsReadBack) {
  for (const char* text :
       {kPipeline, R"({"calls":[]})",
        R"({"calls":[{"name":"a"},{"name":"b","if":{"left":"${0}","test":"above","right":1}}],)"
        R"("answers":[{"value":1,"if":{"left":1,"right":"${1.x}"}},{"value":2}]})"}) {
    const Plan plan = Parse(text);
    EXPECT_EQ(PlanFromJson(PlanToJson(plan)).value(), plan);
  }
}

TEST(PlanTest, WrongPlansAreRefusedWithTheirPlace) {
  EXPECT_EQ(ProblemOf(R"({"calls":[{"name":"a","arguments":{"x":"${0.y}"}}]})"),
            "plan: calls[0]: refers to call 0, which is not before it");
  EXPECT_EQ(ProblemOf(R"({"calls":[],"answer":"${0}"})"),
            "plan: answer: refers to call 0, but there are 0 calls");
  EXPECT_NE(ProblemOf(R"({"calls":[],"answer":"${city}"})").find("is not a reference"),
            std::string::npos);
  EXPECT_NE(ProblemOf(R"({"calls":[{}]})").find("plan.calls[0]: the key \"name\" is missing"),
            std::string::npos);
  EXPECT_NE(ProblemOf(R"({"calls":[{"name":"a","arguments":3}]})").find("wants an object"),
            std::string::npos);
  EXPECT_NE(ProblemOf(R"({"calls":[],"answr":1})").find("answer"), std::string::npos);
}

TEST(PlanTest, AReferenceThatLeadsNowhereIsAnError) {
  const auto gold =
      CarryOut(Parse(kPipeline), [](const Call&) -> Result<Json> { return *ParseJson("{}"); });
  ASSERT_FALSE(gold.ok());
  EXPECT_NE(gold.error().message().find("has no \"city\""), std::string::npos);
  const auto failed = CarryOut(Parse(kPipeline), [](const Call&) -> Result<Json> {
    return Error(ErrorCode::kUnavailable, "down");
  });
  EXPECT_EQ(failed.error().message(), "down");
}

TEST(PlanTest, GoldIsWrittenIntoTheTask) {
  Task task;
  task.reward = Json::Of({{"origin", "me"}});
  ResolvedPlan gold;
  gold.calls = {{{"a", Json::Object(), {}}, 1, {}}, {{"b", Json::Object(), {}}, 2, {0}}};
  gold.answer = "x";
  SetGold(gold, &task);
  EXPECT_EQ(task.answer, Json("x"));
  EXPECT_EQ(DumpJson(task.reward), R"({"origin":"me","calls":[{"name":"a","arguments":{}},)"
                                   R"({"name":"b","arguments":{},"after":[0]}]})");
  task.reward = "number";
  SetGold({.answer = "1"}, &task);
  EXPECT_EQ(DumpJson(task.reward), R"({"answer":"number","calls":[]})") << "the short form";
}

}  // namespace
}  // namespace hone
