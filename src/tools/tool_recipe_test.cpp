#include "tools/tool_recipe.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

std::vector<ToolkitOptions> Read(const std::string& toml) {
  Recipe recipe = Recipe::Parse(toml, "tools.toml").value();
  std::vector<ToolkitOptions> plans = ReadTools(recipe.Root());
  EXPECT_TRUE(recipe.Finish().ok()) << recipe.Finish().error().message();
  return plans;
}

TEST(ToolRecipeTest, WhatIsDescribedIsNotStartedWhereOthersAnswer) {
  TemporaryDirectory folder;
  const std::string file = (folder.path() / "tools.json").string();
  ASSERT_TRUE(WriteFileAtomic(file, R"([{"name": "x_look", "parameters": {"type": "object"}},
                                        {"name": "buy", "parameters": {"type": "object"}}])")
                  .ok());
  const auto plans = Read("[[tools]]\nkind = \"mcp\"\ncommand = [\"/nowhere\"]\nprefix = \"x_\"\n" +
                          ("described = \"" + file + "\"\n[[tools]]\nkind = \"calculator\"\n"));
  const auto described = MakeToolbox(plans, ToolUse::kAnsweredElsewhere);
  ASSERT_TRUE(described.ok()) << described.error().message();
  EXPECT_NE((*described)->Find("x_look"), nullptr);
  EXPECT_NE((*described)->Find("x_buy"), nullptr);
  EXPECT_EQ((*described)->Find("calculator")->kit, 1u) << "in the order of the recipe";
  // In earnest it is started, and is not there.
  const auto live = MakeToolbox(plans);
  ASSERT_FALSE(live.ok());
  EXPECT_NE(live.error().message().find("tools[0] (mcp)"), std::string::npos);
}

TEST(ToolRecipeTest, FormatsAreAssertedOfAllToolsOfAnEntry) {
  TemporaryDirectory folder;
  const std::string file = (folder.path() / "tools.json").string();
  ASSERT_TRUE(WriteFileAtomic(file, R"([{"name": "book", "parameters": {"type": "object",
      "properties": {"day": {"type": "string", "format": "date"}}}}])")
                  .ok());
  const auto problem = [&](const std::string& more) {
    const auto box =
        MakeToolbox(Read("[[tools]]\nkind = \"spec\"\nfile = \"" + file + "\"\n" + more)).value();
    const Toolbox::Tool& tool = *box->Find("book");
    EXPECT_EQ(tool.spec.assert_format, !more.empty()) << "rewards and simulators read it there";
    return tool.checker.Problem(Json::Of({{"day", "soon"}}));
  };
  EXPECT_FALSE(problem("").has_value());
  EXPECT_TRUE(problem("assert_format = true\n").has_value());
}

TEST(ToolRecipeTest, WhatThisProgramHasItselfIsNotDescribed) {
  Recipe recipe =
      Recipe::Parse("[[tools]]\nkind = \"calculator\"\ndescribed = \"x\"\n", "t").value();
  ReadTools(recipe.Root());
  EXPECT_FALSE(recipe.Finish().ok());
}

}  // namespace
}  // namespace hone
