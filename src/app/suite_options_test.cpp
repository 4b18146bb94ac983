#include "app/suite_options.h"

#include <gtest/gtest.h>

#include "app/command_line.h"

namespace hone {
namespace {

SuiteOptions Parsed(std::vector<std::string> arguments) {
  SuiteOptions options;
  CommandLine line("hone", "", "");
  AddSuiteOptions(line.program(), &options);
  const Result<void> run = line.Run(std::move(arguments));
  EXPECT_TRUE(run.ok()) << run.error().message();
  return options;
}

TEST(SuiteOptions, AreReadAsTheyAreWritten) {
  const SuiteOptions options = Parsed({"--category", "a,b", "bfcl:/data", "--category", "c",
                                       "--faults", "reset", "--cases", "5", "--rename-tools"});
  EXPECT_EQ(options.suite, "bfcl:/data") << "an option takes one value, and leaves the suite";
  EXPECT_EQ(options.categories, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(options.faults, std::vector<std::string>{"reset"});
  EXPECT_EQ(options.cases, 5);
  EXPECT_TRUE(options.rename_tools);
}

TEST(SuiteOptions, KnowWhetherTheyWereGiven) {
  EXPECT_FALSE(Parsed({}).AnyGiven());
  EXPECT_TRUE(Parsed({"--paraphrase"}).AnyGiven());
  EXPECT_FALSE(Parsed({"--journal", "x"}).AnyGiven()) << "of any endpoint";
  EXPECT_TRUE(Parsed({"--turns", "3"}).AnyGiven());
}

}  // namespace
}  // namespace hone
