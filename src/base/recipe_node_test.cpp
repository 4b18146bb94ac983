#include "base/recipe_node.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/recipe.h"

namespace hone {
namespace {

class Extends : public testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view text) {
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / name, text).ok());
    return (directory_.path() / name).string();
  }

  // What is wrong with a recipe that has steps, [model] width and dialect, and [[stage]] kind and
  // steps; the values read go to the members.
  std::string Read(const std::string& file, const std::vector<std::string>& overrides = {}) {
    Result<Recipe> recipe = Recipe::Load(file);
    if (!recipe.ok()) return recipe.error().message();
    for (const std::string& assignment : overrides) recipe->Override(assignment);
    RecipeTable root = recipe->Root();
    root.Read("steps", &steps, "");
    root.Read("tags", &tags, "");
    RecipeTable model = root.Table("model");
    model.Read("width", &width, "", AtLeast(1));
    model.Read("dialect", &dialect, "");
    if (!model.Has("dialect")) model.Problem("dialect", "is missing");
    stages.clear();
    for (RecipeTable& stage : root.Tables("stage")) {
      auto& [kind, count] = stages.emplace_back("none", 0);
      stage.Read("kind", &kind, "");
      stage.Read("steps", &count, "");
    }
    resolved = recipe->Resolved();
    const Result<void> finished = recipe->Finish();
    return finished.ok() ? "" : finished.error().message();
  }

  // A problem without the folder in front of the names of files.
  std::string Short(std::string text) const {
    const std::string folder = directory_.path().string() + "/";
    for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
    return text;
  }

  using Stages = std::vector<std::pair<std::string, int64_t>>;
  const TemporaryDirectory directory_;
  int64_t steps = 0, width = 0;
  std::string dialect, resolved;
  std::vector<std::string> tags;
  Stages stages;
};

constexpr char kBase[] = R"(steps = 1
tags = ["a", "b"]
[model]
width = 8
dialect = "hermes"
[[stage]]
kind = "sft"
steps = 10
[[stage]]
kind = "rl"
steps = 20
)";

TEST_F(Extends, ARecipeSaysOnlyWhatDiffers) {
  Write("base.toml", kBase);
  const std::string child = Write("child.toml",
                                  "extends = 'base.toml'\ntags = ['c']\nmodel.width = 16\n"
                                  "[stage.1]\nsteps = 21\n");
  EXPECT_EQ(Read(child), "");
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(tags, std::vector<std::string>{"c"}) << "lists are replaced as a whole";
  EXPECT_EQ(width, 16);
  EXPECT_EQ(dialect, "hermes") << "tables are merged key by key";
  EXPECT_EQ(stages, (Stages{{"sft", 10}, {"rl", 21}}));
  // As on the command line, which has the last word.
  EXPECT_EQ(Read(child, {"stage.1.steps=22", "model.width=32"}), "");
  EXPECT_EQ(stages[1].second, 22);
  EXPECT_EQ(width, 32);
}

TEST_F(Extends, ListsOfTablesAreReplacedAsAWhole) {
  Write("base.toml", kBase);
  EXPECT_EQ(Read(Write("child.toml", "extends = 'base.toml'\n[[stage]]\nkind = 'rl'\n")), "");
  EXPECT_EQ(stages, (Stages{{"rl", 0}}));
}

TEST_F(Extends, TheResolvedRecipeIsFlat) {
  Write("base.toml", kBase);
  ASSERT_EQ(Read(Write("child.toml", "extends = 'base.toml'\n[stage.0]\nsteps = 5\n")), "");
  const std::string first = resolved;
  EXPECT_EQ(first.find("extends"), std::string::npos) << first;
  ASSERT_EQ(Read(Write("resolved.toml", first)), "");
  EXPECT_EQ(resolved, first);
  EXPECT_EQ(stages, (Stages{{"sft", 5}, {"rl", 20}}));
}

TEST_F(Extends, NamesAreRelativeToTheFileThatSaysThem) {
  Write("base.toml", kBase);
  Write("folder/middle.toml", "extends = '../base.toml'\nsteps = 2\n[stage.0]\nsteps = 11\n");
  EXPECT_EQ(Read(Write("folder/child.toml",
                       "extends = 'middle.toml'\nmodel.dialect = 'tagged'\nstage.0.kind = 'x'\n")),
            "");
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(dialect, "tagged");
  EXPECT_EQ(stages[0], (std::pair<std::string, int64_t>("x", 11)));
  // A file may be extended by two that one meets on different ways, but not by itself.
  const std::string whole = (directory_.path() / "base.toml").string();
  EXPECT_EQ(Read(Write("absolute.toml", "extends = '" + whole + "'\n")), "");
}

TEST_F(Extends, ProblemsNameTheFileTheyAreIn) {
  Write("base.toml", "steps = 'many'\n[model]\nwidht = 8\nwidth = 9\n[[stage]]\nkind = 'sft'\n");
  EXPECT_EQ(Short(Read(Write("child.toml",
                             "extends = 'base.toml'\nnonsense = 1\n[model]\nwidth = 0\n"
                             "[stage.1]\nsteps = 3\n"))),
            "child.toml:2: unknown key \"nonsense\"\n"
            "child.toml:3: model.dialect: is missing\n"
            "child.toml:4: model.width: 0 is out of range: it must be at least 1\n"
            "child.toml:5: stage: there is no element \"1\"; they are numbered from 0, and there "
            "are 1\n"
            "base.toml:1: steps: wants an integer, not a string\n"
            "base.toml:3: unknown key \"model.widht\" (did you mean \"width\"?)");
  Write("broken.toml", "steps = 1\nsteps = \n");
  EXPECT_TRUE(Short(Read(Write("child.toml", "extends = 'broken.toml'\n")))
                  .starts_with("broken.toml:2: not TOML: "));
}

TEST_F(Extends, FilesThatAreNotThereAndCirclesAreNamedWithTheLine) {
  EXPECT_TRUE(Short(Read(Write("child.toml", "# why\nextends = 'bsae.toml'\n")))
                  .starts_with("child.toml:2: extends: there is no recipe bsae.toml;"));
  Write("a.toml", "extends = 'b.toml'\n");
  EXPECT_TRUE(Short(Read(Write("b.toml", "\n\nextends = 'a.toml'\n")))
                  .starts_with("a.toml:1: extends: b.toml in the end extends itself;"));
  EXPECT_TRUE(Short(Read(Write("self.toml", "extends = './self.toml'\n")))
                  .starts_with("self.toml:1: extends: self.toml in the end extends itself;"));
  for (const char* wrong : {"extends = 3\n", "extends = ''\n", "[extends]\nfile = 'a'\n"}) {
    EXPECT_NE(Read(Write("child.toml", wrong)).find("extends: wants the name of another recipe"),
              std::string::npos)
        << wrong;
  }
}

TEST_F(Extends, TextThatIsNoFileStandsAlone) {
  Recipe recipe = Recipe::Parse("extends = 'base.toml'\n", "text").value();
  EXPECT_EQ(recipe.Finish().error().message(), "text:1: unknown key \"extends\"");
}

}  // namespace
}  // namespace hone
