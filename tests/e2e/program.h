#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/subprocess.h"

namespace hone {

// Runs the built program as a user would.
inline SubprocessResult Hone(std::vector<std::string> arguments, std::string_view input = "") {
  arguments.insert(arguments.begin(), HONE_BINARY);
  SubprocessOptions options;
  options.directory = HONE_SOURCE_DIR;
  auto result = RunSubprocess(arguments, input, std::chrono::seconds(120), options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
  return result.ok() ? *result : SubprocessResult{-1, "", ""};
}

// A failure must be one line on standard error that begins with "hone: ", and exit status 1 or 2.
inline void ExpectError(const SubprocessResult& result, int exit_code, std::string_view part) {
  EXPECT_EQ(result.exit_code, exit_code) << result.standard_error;
  EXPECT_TRUE(result.standard_error.starts_with("hone: ")) << result.standard_error;
  EXPECT_EQ(std::count(result.standard_error.begin(), result.standard_error.end(), '\n'), 1)
      << result.standard_error;
  EXPECT_NE(result.standard_error.find(part), std::string::npos) << result.standard_error;
}

}  // namespace hone
