// The commands of docs/howto/add-a-tool.md, typed into a shell.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/subprocess.h"
#include "support/page_blocks.h"

namespace hone {
namespace {

TEST(HowTo, TheCommandsOfThePageDoWhatItSays) {
  const auto page = ReadFile(std::string(HONE_SOURCE_DIR) + "/docs/howto/add-a-tool.md");
  ASSERT_TRUE(page.ok());
  auto blocks = BlocksOf(*page);
  TemporaryDirectory folder;
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "rates.py", blocks["python rates.py"]).ok());
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "tools.toml", blocks["toml tools.toml"]).ok());
  const std::string bin = std::filesystem::path(HONE_BINARY).parent_path().string();
  SubprocessOptions options;
  options.directory = folder.path().string();
  auto shell = [&](const std::string& commands) {
    return RunSubprocess({"sh", "-ec", "PATH=\"" + bin + ":$PATH\"\n" + commands}, "",
                         std::chrono::seconds(60), options);
  };
  const auto result = shell(blocks["sh"]);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 0) << result->standard_error;
  EXPECT_NE(result->standard_output.find("convert"), std::string::npos);
  EXPECT_TRUE(result->standard_output.ends_with(blocks["text"])) << result->standard_output;
}

}  // namespace
}  // namespace hone
