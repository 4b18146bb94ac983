// The program that shows one step of training (examples/one_step.cpp), run as a newcomer would.

#include <gtest/gtest.h>

#include <regex>

#include "base/subprocess.h"

namespace hone {
namespace {

TEST(OneStep, ShowsAStepAfterWhichTheBestCallIsLikelierTheSameEveryTime) {
  const auto run = RunSubprocess({HONE_ONE_STEP}, "", std::chrono::seconds(120));
  ASSERT_TRUE(run.ok()) << run.error().message();
  const std::string& text = run->standard_output;
  ASSERT_EQ(run->exit_code, 0) << text << run->standard_error;

  // All of it, in the order of the data path.
  size_t at = 0;
  for (const char* part : {"PoseTasks     8 tasks", "DrawGroups", "ScoreGroups", "CreditGroups",
                           "<tool_call>", "reward  +1.00  outcome", "reward  +1.00  call",
                           "credit  +", "credit  +", "UpdatePolicy", "log-probability"}) {
    const size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << text;
    at = found;
  }

  // The rise is by far larger than rounding.
  std::smatch numbers;
  ASSERT_TRUE(std::regex_search(text, numbers, std::regex(R"((\S+) before, (\S+) after)"))) << text;
  EXPECT_GT(std::stod(numbers[2]), std::stod(numbers[1]) + 1e-3) << text;
  EXPECT_EQ(RunSubprocess({HONE_ONE_STEP}, "", std::chrono::seconds(120))->standard_output, text);
}

}  // namespace
}  // namespace hone
