#include "app/env_recipe.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

TEST(EnvRecipeTest, AnEnvironmentOfTheProgramIsARecipeToo) {
  const auto desk = ReadEnvironmentRecipe({.name = "desk", .overrides = {"answers.journal=j"}});
  ASSERT_TRUE(desk.ok()) << desk.error().message();
  EXPECT_EQ(desk->environment.kind, "desk");
  EXPECT_EQ(desk->backend.journal, "j");
  EXPECT_NE(ReadEnvironmentRecipe({.name = "dask"}).error().message().find("did you mean"),
            std::string::npos);
  EXPECT_FALSE(ReadEnvironmentRecipe({.name = "/nowhere.toml"}).ok());
}

TEST(EnvRecipeTest, ATrainingRecipeWillDo) {
  TemporaryDirectory folder;
  const std::string file = (folder.path() / "tiny.toml").string();
  ASSERT_TRUE(WriteFileAtomic(file, TinyRecipe("runs")).ok());
  const auto read = ReadEnvironmentRecipe({.name = file});
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->environment.kind, "desk");
}

// Of a recipe whose simulator is made by a stage, everything can be looked at but the simulator.
TEST(EnvRecipeTest, ASimulatorThatIsNotMadeYetIsMissedOnlyWhereItIsAsked) {
  EnvironmentChoice choice{.name = HONE_SOURCE_DIR "/recipes/quickstart.toml"};
  const auto opened = OpenEnvironment(choice);
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  const auto run = BeginRun(*opened, "run", 1);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().message().find("--mode live"), std::string::npos) << run.error().message();
  choice.mode = "live";
  EXPECT_TRUE(BeginRun(OpenEnvironment(choice).value(), "run", 1).ok());
}

TEST(EnvRecipeTest, AllProblemsOfAllTablesAreInOneError) {
  TemporaryDirectory folder;
  const std::string file = (folder.path() / "r.toml").string();
  ASSERT_TRUE(WriteFileAtomic(file,
                              "[environment]\nkind = \"data\"\n[[tools]]\nkind = \"mpc\"\n"
                              "[simulator]\nkind = \"learned\"\n[typo]\nx = 1\n")
                  .ok());
  const auto read = ReadEnvironmentRecipe({.name = file, .mode = "record"});
  ASSERT_FALSE(read.ok());
  for (const char* part : {"names no task file", "did you mean \"mcp\"?", "simulator.folder",
                           "record needs a journal", "typo"}) {
    EXPECT_NE(read.error().message().find(part), std::string::npos) << read.error().message();
  }
}

TEST(EnvRecipeTest, ARunKnowsWhetherItIsSimulated) {
  TemporaryDirectory folder;
  EnvironmentChoice choice{.name = "desk",
                           .overrides = {"simulator.kind=random"},
                           .journal = (folder.path() / "j.sqlite").string()};
  EXPECT_FALSE(BeginRun(OpenEnvironment(choice).value(), "run", 1)->simulated);
  choice.mode = "simulate";
  EXPECT_TRUE(BeginRun(OpenEnvironment(choice).value(), "run", 1)->simulated);
  choice.mode = "replay";
  EXPECT_TRUE(BeginRun(OpenEnvironment(choice).value(), "run", 1)->simulated);
  EXPECT_FALSE(BeginRun(OpenEnvironment(choice).value(), "another", 1)->simulated);
}

}  // namespace
}  // namespace hone
