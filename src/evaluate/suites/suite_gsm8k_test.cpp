#include "evaluate/suites/suite_gsm8k.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/shared_data.h"

namespace hone {
namespace {

TEST(Gsm8kSuite, ProblemsArePlayedWithTheToolThatIsNamed) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "test.jsonl";
  ASSERT_TRUE(
      WriteFileAtomic(file, R"({"question": "1+1?", "answer": "It is <<1+1=2>>2\n#### 2"})").ok());
  const Suite suite = LoadGsm8k(directory.path(), "calculator").value();
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_EQ(suite.tools, std::vector<std::string>{"calculator"});
  EXPECT_EQ(suite.cases[0].plays_with, suite.tools);
  EXPECT_TRUE(JudgeCase(suite.cases[0], {.text = "1+1 is 2.\n#### 2"})->right);
  EXPECT_FALSE(JudgeCase(suite.cases[0], {.text = "#### 3"})->right);
  EXPECT_TRUE(LoadGsm8k(file, "none")->cases[0].plays_with.empty());
  const auto wrong = LoadGsm8k(file, "calculater");
  EXPECT_NE(wrong.error().message().find("did you mean \"calculator\"?"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(file, R"({"question": "1+1?", "answer": "2"})").ok());
  EXPECT_NE(LoadGsm8k(file, "none").error().message().find("test.jsonl:1"), std::string::npos);
  EXPECT_FALSE(LoadGsm8k(directory.path() / "nothing", "none").ok());
}

TEST(Gsm8kSuite, ThePublicFileIsReadWhole) {
  HONE_NEED_SHARED(data, "data/gsm8k");
  const Suite suite = LoadGsm8k(data, "python").value();
  EXPECT_EQ(suite.cases.size(), 680u);
  for (const SuiteCase& one : suite.cases) {
    EXPECT_TRUE(JudgeCase(one, {.text = one.gold.AsString()})->right) << one.id;
  }
}

}  // namespace
}  // namespace hone
