// An installed Hone, used from a folder that has nothing of the repository.

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"

namespace hone {
namespace {

class InstallTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new TemporaryDirectory();
    const std::string built = std::filesystem::path(HONE_BINARY).parent_path().string();
    const auto installed =
        RunSubprocess({"cmake", "--install", built, "--prefix", Prefix().string()}, "",
                      std::chrono::seconds(120));
    ASSERT_TRUE(installed.ok());
    ASSERT_EQ(installed->exit_code, 0) << installed->standard_error;
    std::filesystem::create_directories(Elsewhere());
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }
  static std::filesystem::path Prefix() { return place_->path() / "prefix"; }
  static std::filesystem::path Elsewhere() { return place_->path() / "elsewhere"; }

  static SubprocessResult Installed(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), (Prefix() / "bin" / "hone").string());
    SubprocessOptions options;
    options.directory = Elsewhere().string();
    const auto result = RunSubprocess(arguments, "", std::chrono::seconds(120), options);
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : SubprocessResult{-1, "", ""};
  }

 private:
  static TemporaryDirectory* place_;
};

TemporaryDirectory* InstallTest::place_ = nullptr;

TEST_F(InstallTest, HasEverythingThatAUserLooksFor) {
  for (const char* file :
       {"share/hone/recipes/quickstart.toml", "share/hone/comparisons/switchboard-quick.toml",
        "share/hone/examples/byo/shop.py", "share/doc/hone/LICENSE",
        "share/doc/hone/docs/install.md", "share/man/man1/hone.1.gz",
        "share/man/man1/hone-train.1.gz", "share/bash-completion/completions/hone",
        "share/zsh/vendor-completions/_hone"}) {
    EXPECT_TRUE(Exists(Prefix() / file)) << file;
  }
  EXPECT_EQ(*ReadFile(Prefix() / "share/bash-completion/completions/hone"),
            Hone({"completion", "bash"}).standard_output);
}

TEST_F(InstallTest, FindsTheRecipesThatCameWithItFromAnyFolder) {
  const SubprocessResult plan =
      Installed({"train", "recipes/grpo.toml", "--plan", "--json", "stage.0.steps=1"});
  EXPECT_EQ(plan.exit_code, 0) << plan.standard_error;
  const SubprocessResult listed = Installed({"recipes", "list", "--json"});
  const Json json = *ParseJson(listed.standard_output);
  EXPECT_EQ(json.Find("folder")->AsString(), (Prefix() / "share/hone").string());
  bool quickstart = false;
  for (const Json& recipe : json.Find("recipes")->AsArray()) {
    EXPECT_FALSE(recipe.Find("about")->AsString().empty()) << DumpJson(recipe);
    quickstart |= *recipe.Find("name") == Json("recipes/quickstart.toml");
  }
  EXPECT_TRUE(quickstart);
  ExpectError(Installed({"train", "recipes/none.toml"}), 1, "recipes/none.toml");
}

TEST_F(InstallTest, CopiesRecipesAndKeepsWhatAPersonChanged) {
  EXPECT_EQ(Installed({"recipes", "copy", "mine"}).exit_code, 0);
  const std::filesystem::path recipe = Elsewhere() / "mine/recipes/grpo.toml";
  EXPECT_EQ(*ReadFile(recipe), *ReadFile(HONE_SOURCE_DIR "/recipes/grpo.toml"));
  ASSERT_TRUE(WriteFileAtomic(recipe, "# mine\n").ok());
  const Json again = *ParseJson(Installed({"recipes", "copy", "mine", "--json"}).standard_output);
  EXPECT_EQ(*again.Find("copied"), Json(0));
  EXPECT_EQ(*ReadFile(recipe), "# mine\n");
}

TEST_F(InstallTest, AFileOfOnesOwnGoesBeforeTheOneThatCameWithIt) {
  std::filesystem::create_directories(Elsewhere() / "recipes");
  ASSERT_TRUE(WriteFileAtomic(Elsewhere() / "recipes/quickstart.toml", "nonsense = 1\n").ok());
  const SubprocessResult own = Installed({"train", "recipes/quickstart.toml", "--plan"});
  EXPECT_EQ(own.exit_code, 1);
  EXPECT_NE(own.standard_error.find("recipes/quickstart.toml:1: unknown key"), std::string::npos)
      << own.standard_error;
}

}  // namespace
}  // namespace hone
