#include "envs/plan_check.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

const std::vector<ToolSpec>& Tools() {
  static const std::vector<ToolSpec> tools =
      ToolSpecsFromJson(
          *ParseJson(R"([{"name": "find", "parameters": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}, "additionalProperties": false},
            "x-hone": {"output": {"type": "object", "properties": {"city": {"type": "string"},
              "age": {"type": "integer"}, "homes": {"type": "array", "items": {"type": "object",
                "properties": {"street": {"type": "string"}}}}}}}},
          {"name": "send", "parameters": {"type": "object", "required": ["city", "text"],
            "properties": {"city": {"type": "string"}, "text": {"type": "string"},
              "years": {"type": "number"}}}},
          {"name": "open", "parameters": {"type": "object"}}])"))
          .value();
  return tools;
}

std::vector<std::string> ProblemsOf(std::string_view calls, std::string_view answer = "1") {
  const std::string text =
      "{\"calls\":" + std::string(calls) + ",\"answer\":" + std::string(answer) + "}";
  return PlanProblems(PlanFromJson(*ParseJson(text)).value(),
                      [](const std::string& name) -> const ToolSpec* {
                        for (const ToolSpec& tool : Tools()) {
                          if (tool.name == name) return &tool;
                        }
                        return nullptr;
                      });
}

constexpr char kFind[] = R"({"name":"find","arguments":{"name":"Ana"}})";

std::string After(std::string_view call) {
  return "[" + std::string(kFind) + "," + std::string(call) + "]";
}

TEST(PlanCheckTest, GoodPlansHaveNoProblem) {
  EXPECT_TRUE(ProblemsOf(After(R"({"name":"send","arguments":{"city":"${0.city}",
      "text":"${0.homes.0.street} ${0.age}","years":"${0.age}"}})"),
                         "\"${0.homes.1.street}\"")
                  .empty());
  EXPECT_TRUE(ProblemsOf(R"([{"name":"open"},{"name":"nobody","arguments":{"a":"${0.b.c}"}}])",
                         "\"${1.x}\"")
                  .empty())
      << "nothing is said about what these return";
}

TEST(PlanCheckTest, ReferencesThatLeadNowhereAreListed) {
  const auto problems = ProblemsOf(
      After(R"({"name":"send","arguments":{"city":"${0.citty}","text":"in ${0.homes.street}"}})"),
      "\"${0.city.name}\"");
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0],
            "calls[1].arguments.city: ${0.citty} leads nowhere: what find returns has "
            "no \"citty\" (did you mean \"city\"?)");
  EXPECT_EQ(problems[1],
            "calls[1].arguments.text: ${0.homes.street} leads nowhere: what find "
            "returns is a list, which has places (0, 1, ...) and no \"street\"");
  EXPECT_EQ(problems[2],
            "answer: ${0.city.name} leads nowhere: what find returns is a string and has no "
            "\"name\"");
}

TEST(PlanCheckTest, ArgumentsMustFitAsFarAsTheyAreKnown) {
  EXPECT_EQ(ProblemsOf(R"([{"name":"find","arguments":{"nme":"Ana"}}])").size(), 1u);
  EXPECT_EQ(ProblemsOf(After(R"({"name":"send","arguments":{"city":"${0.city}"}})")).size(), 1u)
      << "text is missing";
  EXPECT_EQ(
      ProblemsOf(After(R"({"name":"send","arguments":{"city":3,"text":"${0.city}"}})")).size(), 1u);
  const auto types =
      ProblemsOf(After(R"({"name":"send","arguments":{"city":"${0.age}","text":"x"}})"));
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(types[0],
            "calls[1].arguments.city: wants type string, and ${0.age} is of type integer");
  EXPECT_TRUE(
      ProblemsOf(After(R"({"name":"send","arguments":{"city":"${0.age|text}","text":"x"}})"))
          .empty());
}

}  // namespace
}  // namespace hone
