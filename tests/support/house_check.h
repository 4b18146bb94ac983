#pragma once

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/subprocess.h"

namespace hone {

// A rule of the house is a script of scripts/. This is a small repository that a test fills with
// files, and on which it runs the script: a rule that is not seen to fire is not a rule.
class HouseCheckTest : public testing::Test {
 protected:
  explicit HouseCheckTest(std::string script) : script_(HONE_SOURCE_DIR "/scripts/" + script) {}

  void Write(const std::string& file, std::string_view text) {
    ASSERT_TRUE(WriteFileAtomic(directory_.path() / file, text).ok());
  }
  // Runs the script with these arguments and the small repository's folder.
  SubprocessResult Check(std::vector<std::string> arguments = {}) {
    return CheckAt(directory_.path(), std::move(arguments));
  }
  SubprocessResult CheckAt(const std::filesystem::path& root,
                           std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), script_);
    arguments.push_back(root.string());
    return *RunSubprocess(arguments, "", std::chrono::seconds(120));
  }
  // That the script refuses the small repository, and says so in these words.
  void ExpectRefused(std::string_view words, std::vector<std::string> arguments = {}) {
    const SubprocessResult result = Check(std::move(arguments));
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.standard_output.find(words), std::string::npos)
        << "wanted: " << words << "\n"
        << result.standard_output << result.standard_error;
  }

  const std::string script_;
  TemporaryDirectory directory_;
};

}  // namespace hone
