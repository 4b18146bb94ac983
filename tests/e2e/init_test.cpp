// hone init: what it writes, what it never touches, and that the folder works as it is.

#include "base/file.h"
#include "e2e/program.h"

namespace hone {
namespace {

class InitTest : public testing::Test {
 protected:
  SubprocessResult Type(const std::string& commands) const {
    const std::string bin = std::filesystem::path(HONE_BINARY).parent_path().string();
    SubprocessOptions options;
    options.directory = directory_.path().string();
    const auto result = RunSubprocess({"sh", "-ec", "PATH=\"" + bin + ":$PATH\"\n" + commands}, "",
                                      std::chrono::seconds(120), options);
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : SubprocessResult{-1, "", ""};
  }
  std::string FileOf(const std::string& name) const {
    return ReadFile(directory_.path() / name).value();
  }
  const TemporaryDirectory directory_;
};

TEST_F(InitTest, WritesAFolderAndSaysWhereToGo) {
  const SubprocessResult result = Type("hone init shop");
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_NE(result.standard_output.find("  cd shop\n  python3 make_data.py"), std::string::npos)
      << result.standard_output;
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/examples/init")) {
    if (!file.is_regular_file()) continue;
    ++files;
    const std::string name = file.path().filename().string();
    EXPECT_EQ(FileOf("shop/" + name), ReadFile(file.path()).value()) << name;
  }
  EXPECT_EQ(files, 9);
  EXPECT_NE(Type("mkdir here && cd here && hone --json init")
                .standard_output.find(R"({"folder":".","files":["README.md",)"),
            std::string::npos);
}

TEST_F(InitTest, NeverOverwritesAndThenWritesNothing) {
  const SubprocessResult result =
      Type("mkdir mine && echo x > mine/reward.py && echo y > mine/train.jsonl\nhone init mine");
  ExpectError(result, 1, "mine has reward.py, train.jsonl already");
  EXPECT_EQ(FileOf("mine/reward.py"), "x\n");
  EXPECT_FALSE(Exists(directory_.path() / "mine/recipe.toml"));
  ExpectError(Type("echo z > file\nhone init file/below"), 1, "cannot make the folder file/below");
}

TEST_F(InitTest, TheFolderChecksPlansAndTrainsAsItIs) {
  ASSERT_EQ(Type("hone init shop").exit_code, 0);
  const std::string tasks = FileOf("shop/test.jsonl");
  const SubprocessResult made = Type(
      "cd shop\npython3 make_data.py\nhone data check conversations.jsonl\nhone env check "
      "recipe.toml\nhone tools list --tools recipe.toml\nhone train recipe.toml --plan");
  EXPECT_EQ(made.exit_code, 0) << made.standard_output << made.standard_error;
  EXPECT_NE(made.standard_output.find("conversations.jsonl: 2000 rows"), std::string::npos);
  EXPECT_NE(made.standard_output.find("stock"), std::string::npos) << made.standard_output;
  EXPECT_EQ(FileOf("shop/test.jsonl"), tasks) << "what is written is what the script writes";
  const SubprocessResult trained = Type(
      "cd shop\nhone train recipe.toml stage.0.steps=2 stage.1.steps=1 stage.1.groups=2 "
      "evaluation.dev_tasks=2 evaluation.test_tasks=4");
  EXPECT_EQ(trained.exit_code, 0) << trained.standard_output << trained.standard_error;
  EXPECT_NE(trained.standard_output.find("success, greedy"), std::string::npos);
}

}  // namespace
}  // namespace hone
