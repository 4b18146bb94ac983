#include "tools/command/program_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/subprocess.h"

namespace hone {
namespace {

std::string ValueOf(const std::vector<std::string>& environment, const std::string& name) {
  std::string value = "(absent)";
  int found = 0;
  for (const std::string& entry : environment) {
    if (!entry.starts_with(name + "=")) continue;
    value = entry.substr(name.size() + 1);
    ++found;
  }
  EXPECT_LE(found, 1) << name << " is there twice";
  return value;
}

SubprocessResult Python(const std::string& code, std::vector<std::string> environment) {
  auto result = RunSubprocess({"/usr/bin/python3", "-c", code}, "", std::chrono::seconds(60),
                              {.environment = std::move(environment)});
  EXPECT_TRUE(result.ok()) << result.error().message();
  return result.ok() ? *result : SubprocessResult{-1, "", ""};
}

TEST(ProgramEnvironment, APythonProgramFindsThePackageOfThisBinary) {
  const SubprocessResult result =
      Python("import hone; print(hone.__version__, hone.__file__)", ProgramEnvironment("none"));
  // What a program prints after the import is not the protocol's.
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(result.standard_output, "");
  EXPECT_EQ(result.standard_error, "0.1.0 " + PythonPackagePath() + "/hone/__init__.py\n");
}

TEST(ProgramEnvironment, WhatTheUserHasOnThePathComesFirst) {
  const auto environment = ProgramEnvironment(kToolsRole, {"PYTHONPATH=/mine", "A=1"}, false);
  EXPECT_EQ(ValueOf(environment, "PYTHONPATH"), "/mine:" + PythonPackagePath());
  EXPECT_EQ(ValueOf(environment, "A"), "1");
  EXPECT_EQ(ValueOf(environment, "HONE_ROLE"), "tools");
  EXPECT_EQ(environment.size(), 3u);
  EXPECT_EQ(ValueOf(ProgramEnvironment(kToolsRole, {}, false), "PYTHONPATH"), PythonPackagePath());
}

TEST(ProgramEnvironment, OursIsInheritedAndWhatIsAddedWins) {
  ASSERT_EQ(::setenv("HONE_ENVIRONMENT_TEST", "ours", 1), 0);
  EXPECT_EQ(ValueOf(ProgramEnvironment(kRewardRole), "HONE_ENVIRONMENT_TEST"), "ours");
  EXPECT_EQ(ValueOf(ProgramEnvironment(kRewardRole, {"HONE_ENVIRONMENT_TEST=theirs"}),
                    "HONE_ENVIRONMENT_TEST"),
            "theirs");
  ASSERT_EQ(::setenv("HONE_ROLE", "tools", 1), 0);  // of a Hone that was started by another
  EXPECT_EQ(ValueOf(ProgramEnvironment(kRewardRole), "HONE_ROLE"), "reward");
  ::unsetenv("HONE_ROLE");
  ::unsetenv("HONE_ENVIRONMENT_TEST");
}

}  // namespace
}  // namespace hone
