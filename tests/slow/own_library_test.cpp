// docs/howto/own-library.md, typed into a shell from an empty folder on, with a stopwatch.

#include <cstdio>
#include <regex>

#include "e2e/program.h"
#include "support/page_blocks.h"

namespace hone {
namespace {

class OwnLibraryTest : public testing::Test {
 protected:
  // The commands of a block as a user types them; what they print.
  std::string Type(const std::string& block) {
    const std::string bin = std::filesystem::path(HONE_BINARY).parent_path().string();
    SubprocessOptions options;
    options.directory = folder_.path().string();
    const auto begin = std::chrono::steady_clock::now();
    const auto result =
        RunSubprocess({"sh", "-ec", "PATH=\"" + bin + ":$PATH\"\n" + blocks_.at("sh " + block)}, "",
                      std::chrono::seconds(900), options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(result.ok()) << result.error().message();
    if (!result.ok()) return "";
    std::printf("%6.1f s  %s\n", took.count(), block.c_str());
    EXPECT_EQ(result->exit_code, 0) << result->standard_output << result->standard_error;
    return result->standard_output;
  }

  void Save(const std::string& block) {
    const std::string name = block.substr(block.find(' ') + 1);
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, blocks_.at(block)).ok());
  }

  // The first share on the line that begins so.
  static double Percent(const std::string& output, const std::string& line) {
    std::smatch found;
    EXPECT_TRUE(std::regex_search(output, found, std::regex(line + R"( +([0-9.]+) %)"))) << output;
    return found.empty() ? -1 : std::stod(found[1]);
  }

  const TemporaryDirectory folder_;
  std::map<std::string, std::string> blocks_ =
      BlocksOf(ReadFile(HONE_SOURCE_DIR "/docs/howto/own-library.md").value());
};

TEST_F(OwnLibraryTest, FromAFolderOfTextsToAnAgentThatReadsThem) {
  Save("python make_data.py");
  Save("toml recipe.toml");
  EXPECT_EQ(Type("check"), blocks_.at("text check"));
  const std::string trained = Type("train");
  EXPECT_GE(Percent(trained, "after/test/greedy +success"), 90) << trained;
  EXPECT_NE(Type("ask").find("agent> 78"), std::string::npos);
  const std::string reads = Type("reads");
  EXPECT_GE(Percent(reads, "  success"), 60) << "it remembers, and does not read:\n" << reads;
}

}  // namespace
}  // namespace hone
