#include "rewards/confined_runner.h"

#include <gtest/gtest.h>

#include "rewards/matching/answer.h"
#include "tools/sandbox/sandbox.h"

namespace hone {
namespace {

class ConfinedRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (ProbeSandbox().best()) return;
    EXPECT_FALSE(runner_->Run("print(1)", "").ok());
    GTEST_SKIP() << "code cannot be isolated here";
  }
  const std::unique_ptr<ProgramRunner> runner_ = NewConfinedRunner();
};

TEST_F(ConfinedRunnerTest, RunsAProgramOnItsInput) {
  const ProgramOutput output = runner_->Run("print(int(input()) * 2)", "21\n").value();
  EXPECT_TRUE(output.ok);
  EXPECT_EQ(output.output, "42\n");
}

TEST_F(ConfinedRunnerTest, WhatTheProgramDoesWrongIsNoErrorOfOurs) {
  EXPECT_FALSE(runner_->Run("1/0", "")->ok);
  EXPECT_FALSE(runner_->Run("print('x' * 10000000)", "")->ok);
  EXPECT_FALSE(runner_->Run("open('/etc/hostname')", "")->ok);
}

TEST_F(ConfinedRunnerTest, AnswersThatAreProgramsAreTested) {
  const Json gold = ParseJson(R"({"tests": [{"input": "2\n", "output": "4\n"},
                                            {"input": "3\n", "output": "9\n"}]})")
                        .value();
  const AnswerOptions options{.runner = runner_.get()};
  const Result<AnswerMatch> right =
      MatchAnswer(AnswerKind::kProgram, "print(int(input()) ** 2)", gold, options);
  ASSERT_TRUE(right.ok()) << right.error().message();
  EXPECT_TRUE(right->match);
  const Result<AnswerMatch> half =
      MatchAnswer(AnswerKind::kProgram, "print(int(input()) + 2)", gold, options);
  ASSERT_TRUE(half.ok());
  EXPECT_FALSE(half->match);
}

}  // namespace
}  // namespace hone
