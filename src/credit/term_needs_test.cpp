#include "credit/term_needs.h"

#include <gtest/gtest.h>

#include "credit/methods.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

std::string ProblemOf(const std::string& spec, const std::string& json) {
  const ShortGroup group = GroupFrom(json);
  const auto credit = AssignCredit(NewMethod(spec).value(), group.record);
  return credit.ok() ? "" : credit.error().message();
}

std::vector<std::string> OpenOf(const char* spec, const std::vector<std::string>& given) {
  return OpenNeeds(NewMethod(spec).value(), given);
}

constexpr const char* kUnnamed = R"({"group":[{"terms":{"reward":1},"turns":[{"tokens":1}]},
                                              {"terms":{"reward":0},"turns":[{"tokens":1}]}]})";
constexpr const char* kCallUnpaid = R"({"group":[{"terms":{"outcome":1},"turns":[
    {"tokens":3,"calls":[{"begin":0,"end":2}]},{"author":"tool","tokens":1},{"tokens":1}]},
    {"terms":{"outcome":0},"turns":[{"tokens":2}]}]})";

TEST(TermNeeds, OtherTermsAreNeverReadInsteadOfTheOutcome) {
  const std::string problem = ProblemOf("grpo", kUnnamed);
  EXPECT_NE(problem.find("grpo needs the term outcome; the scores have only reward"),
            std::string::npos)
      << problem;
  EXPECT_EQ(ProblemOf("grpo:terms=reward", kUnnamed), "");
  EXPECT_EQ(ProblemOf("gae-token", kUnnamed), "") << "it reads all terms on purpose";
}

TEST(TermNeeds, AMethodOfCallsWantsThemPaidWhereThereAreCalls) {
  for (const char* spec : {"toolpo", "toolpo-per-call", "toolpo-split", "smeared", "placebo",
                           "mt-grpo", "igpo", "stepsearch", "steptool"}) {
    EXPECT_NE(ProblemOf(spec, kCallUnpaid), "") << spec;
    EXPECT_EQ(ProblemOf(spec, GroupOfPlain({"1", "0"})), "") << spec << ": nobody called";
  }
  EXPECT_NE(ProblemOf("steptool", kCallUnpaid).find("one of the terms execution, contribution"),
            std::string::npos);
}

TEST(TermNeeds, AJudgesScoreAndCriteriaAreNeverReplaced) {
  EXPECT_NE(ProblemOf("awpo", GroupOfPlain({"1", "0"})).find("the term preference"),
            std::string::npos);
  for (const char* spec : {"cm2-trajectory", "cm2-turn", "cm2-step"}) {
    EXPECT_NE(ProblemOf(spec, GroupOfPlain({"1", "0"})).find("criterion:*"), std::string::npos);
  }
}

TEST(TermNeeds, WhatIsAbsentOnSomeTrajectoriesIsNoError) {
  const std::string judge_failed = R"({"group":[
      {"terms":{"outcome":1,"preference":null},"turns":[{"tokens":1}]},
      {"terms":{"outcome":0},"turns":[{"tokens":1}]}]})";
  EXPECT_EQ(ProblemOf("awpo", judge_failed), "");
  EXPECT_EQ(ProblemOf("grpo", R"({"group":[{"terms":{"reward":1},"turns":[{"tokens":1}]},
      {"terms":{"outcome":0},"turns":[{"tokens":1}]}]})"),
            "");
  EXPECT_EQ(ProblemOf("grpo", R"({"group":[{"terms":{"reward":null},"turns":[{"tokens":1}]}]})"),
            "")
      << "a judge that failed on everything says nothing about names";
}

TEST(TermNeeds, AreComparedWithWhatARewardGives) {
  using Open = std::vector<std::string>;
  EXPECT_EQ(OpenOf("grpo", {"outcome", "call"}), Open());
  EXPECT_EQ(OpenOf("toolpo", {"outcome", "which"}), Open());
  EXPECT_EQ(OpenOf("awpo", {"outcome", "call"}), Open{"the term preference"});
  EXPECT_EQ(OpenOf("cm2-step", {"criterion:2"}), Open());
  EXPECT_EQ(OpenOf("grpo:terms=outcome+cal", {"outcome", "call"}), Open{"the term cal"});
  EXPECT_EQ(OpenOf("gdpo", {"format"}), Open());
  EXPECT_EQ(OpenOf("gae-token", {"anything"}), Open());
}

TEST(TermNeeds, EveryMethodFitsWhatItReads) {
  for (const std::string& name : MethodNames()) {
    const Method method = NewMethod(name).value();
    std::vector<std::string> given = method.reads.names;
    EXPECT_EQ(OpenNeeds(method, given), std::vector<std::string>()) << name;
    EXPECT_FALSE(OpenNeeds(method, {}).empty()) << name;
  }
}

}  // namespace
}  // namespace hone
