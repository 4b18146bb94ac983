// A new environment and a new strategy are each one line in a table: with it, recipes and commands
// know them, and nothing else has to be told.

#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "conformance/forks_strategy.h"
#include "conformance/sums_environment.h"
#include "envs/environments.h"
#include "rollout/practice_options.h"
#include "support/env_player.h"
#include "support/page_blocks.h"

namespace hone {
namespace {

std::vector<RegisteredEnvironment> WithSums() {
  std::vector<RegisteredEnvironment> table = BuiltInEnvironments();
  table.push_back(sums::Register());
  return table;
}

TEST(RegistrationTest, ARecipeCanNameAnEnvironmentThatHasOneLine) {
  const std::vector<RegisteredEnvironment> table = WithSums();
  Recipe recipe =
      Recipe::Parse("[environment]\nkind = \"sums\"\n[environment.tasks]\nlargest = 9\n", "r")
          .value();
  const EnvironmentOptions environment = ReadEnvironment(recipe.Root(), table);
  ASSERT_TRUE(recipe.Finish().ok()) << recipe.Finish().error().message();
  EXPECT_EQ(environment.kind, "sums");
  EXPECT_TRUE(environment.traits.in_process);
  const LoadedEnvironment loaded = environment.make(nullptr).value();
  EnvPlayer player(loaded.environment);
  for (uint64_t i = 0; i < 20; ++i) {
    const Task task = loaded.tasks->Make(Split::kTrain, i);
    EXPECT_LE(std::stoll(task.answer.AsString()), 18);
    EXPECT_TRUE(player.Run(task, loaded.gold_agent(task).value()).success()) << task.id;
  }
}

TEST(RegistrationTest, ItCanBeHadByNameAndMessagesNameIt) {
  const std::vector<RegisteredEnvironment> table = WithSums();
  EXPECT_TRUE(NewBuiltIn("sums", table).ok());
  EXPECT_FALSE(NewBuiltIn("sums").ok());
  EXPECT_NE(NewBuiltIn("sum", table).error().message().find("did you mean \"sums\"?"),
            std::string::npos);
  EXPECT_TRUE(EnvironmentsWith(&KindTraits::in_process, table).ends_with(" and sums"));
}

// But for a dialect and a reward that are called as one of them is.
TEST(RegistrationTest, NothingOutsideOfEnvsGoesByTheNameOfAnEnvironment) {
  const std::filesystem::path source = std::filesystem::path(HONE_SOURCE_DIR) / "src";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
    const std::string file = entry.path().lexically_relative(source).string();
    if (!file.ends_with(".h") && !file.ends_with(".cpp")) continue;
    if (file.starts_with("envs/") || file.ends_with("_test.cpp")) continue;
    if (file == "text/tag_sets.cpp" || file == "rewards/presets.cpp") continue;
    const std::string text = ReadFile(entry.path()).value();
    for (const RegisteredEnvironment& one : BuiltInEnvironments()) {
      if (!one.traits.in_process) continue;
      for (size_t at = text.find('"' + one.name + '"'); at != std::string::npos;
           at = text.find('"' + one.name + '"', at + 1)) {
        const size_t line = text.rfind('\n', at) + 1;
        EXPECT_LT(text.find("//", line), at) << file << " names " << one.name;
      }
    }
  }
}

TEST(RegistrationTest, TheHowtosShowTheEnvironmentAndTheStrategyThatAreTestedHere) {
  ExpectShowsCodeOf("docs/howto/add-an-environment.md", "tests/conformance/sums_environment.h");
  ExpectShowsCodeOf("docs/howto/add-a-strategy.md", "tests/conformance/forks_strategy.h");
}

TEST(RegistrationTest, ARecipeCanNameAStrategyThatHasOneLine) {
  std::vector<RegisteredStrategy> table = BuiltInStrategies();
  table.push_back(forks::Register());
  constexpr char kRecipe[] = "[rollout]\nstrategy = \"forks\"\n[rollout.forks]\nturn = 3\n";
  Recipe recipe = Recipe::Parse(kRecipe, "r").value();
  const PracticeOptions settings = ReadPractice(recipe.Root().Table("rollout"), true, table);
  ASSERT_TRUE(recipe.Finish().ok()) << recipe.Finish().error().message();
  EXPECT_EQ(settings.strategy->traits().name, "forks");
  GroupView view{.leaves = 4, .started = 1, .places = {{}, {.id = 1, .turns = 3, .open = true}}};
  EXPECT_EQ(settings.strategy->Next(view), std::vector<Extension>({{1, 2}}));

  Recipe unknown = Recipe::Parse(kRecipe, "r").value();
  ReadPractice(unknown.Root().Table("rollout"), true);
  EXPECT_FALSE(unknown.Finish().ok()) << "the program's own table does not have it";
}

}  // namespace
}  // namespace hone
