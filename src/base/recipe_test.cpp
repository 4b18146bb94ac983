#include "base/recipe.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

struct Optimiser {
  double learning_rate = 1e-5;
  std::string kind = "adamw";
};

struct Config {
  int64_t steps = 100;
  bool shuffle = true;
  std::vector<std::string> tags;
  std::vector<double> betas = {0.9, 0.95};
  Optimiser optimiser;
  std::vector<std::string> tools;
};

Config ReadConfig(Recipe& recipe) {
  Config config;
  RecipeTable root = recipe.Root();
  root.Read("steps", &config.steps, "optimiser steps", AtLeast(1));
  root.Read("shuffle", &config.shuffle, "");
  root.Read("tags", &config.tags, "");
  root.Read("betas", &config.betas, "", Between(0, 1));
  RecipeTable optimiser = root.Table("optimiser");
  optimiser.Read("learning_rate", &config.optimiser.learning_rate, "peak", Above(0));
  optimiser.ReadChoice("kind", &config.optimiser.kind, {"adamw", "sgd"}, "");
  for (RecipeTable tool : root.Tables("tool")) {
    tool.Read("name", &config.tools.emplace_back(), "");
  }
  return config;
}

std::string ProblemsOf(std::string_view toml, const std::vector<std::string>& overrides = {}) {
  auto recipe = Recipe::Parse(toml, "r.toml");
  if (!recipe.ok()) return recipe.error().message();
  for (const std::string& assignment : overrides) recipe->Override(assignment);
  ReadConfig(*recipe);
  auto finished = recipe->Finish();
  return finished.ok() ? "" : finished.error().message();
}

TEST(Recipe, ReadsValuesTablesAndArraysOfTables) {
  auto recipe = Recipe::Parse(
      "steps = 7\ntags = ['a', 'b']\n[optimiser]\nlearning_rate = 1\n"
      "[[tool]]\nname='x'\n[[tool]]\nname='y'\n",
      "r.toml");
  ASSERT_TRUE(recipe.ok());
  const Config config = ReadConfig(*recipe);
  ASSERT_TRUE(recipe->Finish().ok());
  EXPECT_EQ(config.steps, 7);
  EXPECT_EQ(config.tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.optimiser.learning_rate, 1.0) << "an integer is a number";
  EXPECT_EQ(config.tools, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(config.shuffle) << "a default stays";
}

TEST(Recipe, ReportsAllProblemsAtOnceWithLinesAndTheNearestKey) {
  EXPECT_EQ(
      ProblemsOf("stesp = 5\n"
                 "steps = 'many'\n"
                 "shuffle = 1\n"
                 "betas = [0.9, 1.5]\n"
                 "[optimiser]\n"
                 "learning_rate = -1.0\n"
                 "kind = 'adam'\n"
                 "[trian]\n"),
      "r.toml:1: unknown key \"stesp\" (did you mean \"steps\"?)\n"
      "r.toml:2: steps: wants an integer, not a string\n"
      "r.toml:3: shuffle: wants true or false, not an integer\n"
      "r.toml:4: betas: element 1: 1.5 is out of range: 0 to 1 is allowed\n"
      "r.toml:6: optimiser.learning_rate: -1 is out of range: it must be greater than 0\n"
      "r.toml:7: optimiser.kind: \"adam\" is not one of adamw, sgd (did you mean \"adamw\"?)\n"
      "r.toml:8: unknown key \"trian\"");
}

TEST(Recipe, AMisspeltChoiceIsReadAsItWasMeant) {
  auto recipe = Recipe::Parse("[optimiser]\nkind = 'sdg'\n", "r.toml");
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(ReadConfig(*recipe).optimiser.kind, "sgd");
  EXPECT_FALSE(recipe->Finish().ok()) << "and refused all the same";

  auto strange = Recipe::Parse("[optimiser]\nkind = 'evolution'\n", "r.toml");
  ASSERT_TRUE(strange.ok());
  EXPECT_EQ(ReadConfig(*strange).optimiser.kind, "adamw") << "the default: nothing is near";
}

TEST(Recipe, OverridesReplaceAddAndAreCheckedAlike) {
  auto recipe = Recipe::Parse("steps = 7\n", "r.toml");
  ASSERT_TRUE(recipe.ok());
  recipe->Override("steps=9");
  recipe->Override("optimiser.learning_rate=2e-3");
  recipe->Override("optimiser.kind=sgd");
  recipe->Override("tags=['p', \"q\"]");
  const Config config = ReadConfig(*recipe);
  ASSERT_TRUE(recipe->Finish().ok());
  EXPECT_EQ(config.steps, 9);
  EXPECT_EQ(config.optimiser.learning_rate, 2e-3);
  EXPECT_EQ(config.optimiser.kind, "sgd") << "a bare word is a string";
  EXPECT_EQ(config.tags.size(), 2u);

  EXPECT_EQ(ProblemsOf("steps = 1", {"optimiser.lr=1", "nonsense", "steps.x=1", "a b=1"}),
            "override nonsense: wants the form key=value\n"
            "override steps.x=1: the key goes through a value\n"
            "override a b=1: the key is not a dotted name\n"
            "override optimiser.lr=1: unknown key \"optimiser.lr\"");
}

TEST(Recipe, WhatIsForSomebodyElseIsPassedOver) {
  Recipe recipe =
      Recipe::Parse("[mine]\nx = 1\n[theirs]\ny = 2\n[[theirs.list]]\nz = 3\n", "r.toml").value();
  recipe.Root().PassOver("theirs");
  recipe.Root().PassOver("absent");
  const Result<void> finished = recipe.Finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().message(), "r.toml:1: unknown key \"mine\"");
}

TEST(Recipe, AnUnknownKeyOfAListSaysOfWhichElement) {
  Recipe recipe = Recipe::Parse("[[stage]]\n[[stage]]\nfoo = 2\n", "r.toml").value();
  recipe.Root().Tables("stage");
  EXPECT_EQ(recipe.Finish().error().message(), "r.toml:3: unknown key \"stage[1].foo\"");
}

TEST(Recipe, OverridesReachIntoListsOfTables) {
  Recipe recipe = Recipe::Parse("[[stage]]\nsteps = 1\n[[stage]]\nsteps = 2\n", "r.toml").value();
  recipe.Override("stage.1.steps=7");
  recipe.Override("stage.0.name=first");
  std::vector<RecipeTable> stages = recipe.Root().Tables("stage");
  ASSERT_EQ(stages.size(), 2u);
  int64_t steps = 0;
  std::string name;
  stages[1].Read("steps", &steps, "");
  stages[0].Read("name", &name, "");
  EXPECT_EQ(steps, 7);
  EXPECT_EQ(name, "first");
  recipe.Override("stage.2.steps=1");
  recipe.Override("stage.x.steps=1");
  stages[0].Read("steps", &steps, "");
  const std::string problems = recipe.Finish().error().message();
  EXPECT_NE(problems.find("there is no element \"2\"; they are numbered from 0, and there are 2"),
            std::string::npos)
      << problems;
  EXPECT_NE(problems.find("there is no element \"x\""), std::string::npos) << problems;
}

TEST(Recipe, AnOverrideCannotSmuggleInASecondKey) {
  EXPECT_EQ(ProblemsOf("", {"steps=1\nshuffle=false"}),
            "override steps=1\nshuffle=false: steps: wants an integer, not a string");
}

TEST(Recipe, BrokenTomlNamesTheLine) {
  EXPECT_TRUE(ProblemsOf("steps = 1\nsteps = \n").starts_with("r.toml:2: not TOML: "));
  EXPECT_TRUE(ProblemsOf("a = \"\xFF\"").starts_with("r.toml:1: not TOML: "));
  EXPECT_EQ(ProblemsOf("a = 1\nd = 2026-01-01T\x10"
                       "0:00:00Z"),
            "r.toml:2: not TOML: a control character (0x10)");
}

TEST(Recipe, NotANumberAndInfinityAreOutOfRange) {
  EXPECT_EQ(ProblemsOf("[optimiser]\nlearning_rate = nan"),
            "r.toml:2: optimiser.learning_rate: wants a finite number");
  EXPECT_EQ(ProblemsOf("[optimiser]\nlearning_rate = inf"),
            "r.toml:2: optimiser.learning_rate: wants a finite number");
}

TEST(Recipe, WrongKindsOfTablesAreProblems) {
  EXPECT_EQ(ProblemsOf("optimiser = 3\ntool = 4"),
            "r.toml:1: optimiser: wants a table, not an integer\n"
            "r.toml:2: tool: wants an array of tables, not an integer");
}

TEST(Recipe, TheResolvedRecipeReadsBackToTheSame) {
  auto recipe =
      Recipe::Parse("tags=[\"a \\\"b\\\"\"]\n[[tool]]\nname='x'\n[[tool]]\nname='y'", "r.toml");
  ASSERT_TRUE(recipe.ok());
  recipe->Override("optimiser.learning_rate=0.1");
  ReadConfig(*recipe);
  const std::string resolved = recipe->Resolved();
  EXPECT_NE(resolved.find("steps = 100  # optimiser steps\n"), std::string::npos) << resolved;
  auto again = Recipe::Parse(resolved, "resolved.toml");
  ASSERT_TRUE(again.ok()) << again.error().message() << "\n" << resolved;
  const Config config = ReadConfig(*again);
  ASSERT_TRUE(again->Finish().ok());
  EXPECT_EQ(config.optimiser.learning_rate, 0.1);
  EXPECT_EQ(config.tools, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(again->Resolved(), resolved);
}

TEST(Recipe, WhatIsSaidIsWithoutDefaultsButKeepsEveryElement) {
  Recipe recipe = Recipe::Parse(
                      "steps = 100\nname = \"x\"\n[[part]]\n[[part]]\nsize = 3\n"
                      "[part.inside]\nrate = 0.5\n",
                      "r.toml")
                      .value();
  int64_t steps = 100, size = 1;
  double rate = 1;
  std::string name;
  RecipeTable root = recipe.Root();
  root.Read("steps", &steps, "");
  root.Read("name", &name, "");
  root.Table("absent").Read("rate", &rate, "");
  for (RecipeTable& part : root.Tables("part")) {
    size = 1;
    rate = 1;
    part.Read("size", &size, "");
    part.Table("inside").Read("rate", &rate, "");
  }
  ASSERT_TRUE(recipe.Finish().ok());
  EXPECT_EQ(DumpJson(recipe.Said(), JsonStyle::kCanonical),
            R"({"name":"x","part":[{},{"inside":{"rate":0.5},"size":3}]})");
  EXPECT_EQ(DumpJson(recipe.Values(), JsonStyle::kCanonical),
            R"({"absent":{"rate":1.0},"name":"x","part":[{"inside":{"rate":1.0},"size":1},)"
            R"({"inside":{"rate":0.5},"size":3}],"steps":100})");
}

TEST(Recipe, LoadsFromAFileAndNamesAMissingOne) {
  TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "r.toml", "steps = 3").ok());
  EXPECT_TRUE(Recipe::Load(directory.path() / "r.toml").ok());
  EXPECT_EQ(Recipe::Load(directory.path() / "none.toml").error().code(), ErrorCode::kNotFound);
}

class RecipePaths : public testing::Test {
 protected:
  void Write(const char* name, const char* text) {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    ASSERT_TRUE(WriteFileAtomic(file, text).ok());
  }
  std::string In(const char* name) const { return (folder_.path() / name).string(); }
  const TemporaryDirectory folder_;
};

TEST_F(RecipePaths, AreRelativeToTheFileThatSaysThem) {
  Write("deep/base.toml", "data = [\"a.jsonl\", \"nowhere.jsonl\"]\nfolder = \"models\"\n");
  Write("deep/a.jsonl", "");
  Write("deep/tool.py", "");
  Write("r.toml",
        "extends = \"deep/base.toml\"\ncommand = [\"python3\", \"deep/tool.py\", \"x\"]\n");
  Recipe recipe = Recipe::Load(folder_.path() / "r.toml").value();
  std::vector<std::string> data, command;
  std::string folder;
  recipe.Root().ReadPaths("data", &data, "", PathUse::kInput);
  recipe.Root().ReadPath("folder", &folder, "", PathUse::kPlace);
  recipe.Root().ReadCommand("command", &command, "");
  ASSERT_TRUE(recipe.Finish().ok());
  // What is not there is tried in the current folder.
  EXPECT_EQ(data, (std::vector<std::string>{In("deep/a.jsonl"), "nowhere.jsonl"}));
  EXPECT_EQ(folder, "models");
  EXPECT_EQ(command, (std::vector<std::string>{"python3", In("deep/tool.py"), "x"}));
  // What was written stays written.
  EXPECT_NE(recipe.Resolved().find("data = [\"a.jsonl\", \"nowhere.jsonl\"]"), std::string::npos);
  ASSERT_EQ(recipe.Paths().size(), 2u);
  EXPECT_EQ(recipe.Paths()[0].written, "a.jsonl");
  EXPECT_EQ(recipe.Paths()[0].place, In("deep/a.jsonl"));
}

TEST_F(RecipePaths, OfAnOverrideAreRelativeToTheCurrentFolder) {
  Write("a.jsonl", "");
  Write("r.toml", "file = \"a.jsonl\"\n");
  Recipe recipe = Recipe::Load(folder_.path() / "r.toml").value();
  recipe.Override("file=b.jsonl");
  std::string file;
  recipe.Root().ReadPath("file", &file, "", PathUse::kInput);
  EXPECT_EQ(file, "b.jsonl");
}

TEST_F(RecipePaths, AreFoundWhereTheyWereCarriedTo) {
  Write("inputs/a.jsonl", "");
  Write("r.toml", "file = \"../data/a.jsonl\"\n");
  Write(kPlacesFile, R"({"../data/a.jsonl": "inputs/a.jsonl"})");
  Write("recipe.hash", "");
  Recipe recipe = Recipe::Load(folder_.path() / "r.toml").value();
  std::string file;
  recipe.Root().ReadPath("file", &file, "", PathUse::kInput);
  EXPECT_EQ(file, In("inputs/a.jsonl"));
  // What the command line says is of the current folder.
  Recipe overridden = Recipe::Load(folder_.path() / "r.toml").value();
  overridden.Override("file=../data/a.jsonl");
  overridden.Root().ReadPath("file", &file, "", PathUse::kInput);
  EXPECT_EQ(file, "../data/a.jsonl");
  Write(kPlacesFile, "[1]");
  EXPECT_FALSE(Recipe::Load(folder_.path() / "r.toml").ok());
}

}  // namespace
}  // namespace hone
