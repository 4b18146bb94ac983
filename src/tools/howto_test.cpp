// docs/howto/add-a-tool.md, run as it is written.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/recipe.h"
#include "support/page_blocks.h"
#include "tools/command/command_tool.h"

namespace hone {
namespace {

TEST(HowTo, TheToolOfThePageWorksAsWritten) {
  const auto page = ReadFile(std::string(HONE_SOURCE_DIR) + "/docs/howto/add-a-tool.md");
  ASSERT_TRUE(page.ok());
  const auto blocks = BlocksOf(*page);
  ASSERT_EQ(blocks.count("python rates.py") + blocks.count("toml tools.toml") + blocks.count("sh") +
                blocks.count("text"),
            4u);
  const std::string& program = blocks.at("python rates.py");
  EXPECT_LE(std::count(program.begin(), program.end(), '\n'), 10) << "ten lines are promised";

  TemporaryDirectory folder;
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "rates.py", program).ok());
  auto recipe = Recipe::Parse(blocks.at("toml tools.toml"), "tools.toml");
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  std::vector<RecipeTable> tables = recipe->Root().Tables("tools");
  ASSERT_EQ(tables.size(), 1u);
  std::string kind;
  tables[0].Read("kind", &kind, "");
  EXPECT_EQ(kind, "command");
  CommandOptions options = ReadCommandOptions(tables[0]);
  ASSERT_TRUE(recipe->Finish().ok());
  options.directory = folder.path().string();  // "from the same folder"
  const auto toolkit = NewCommandToolkit(options);
  ASSERT_TRUE(toolkit.ok()) << toolkit.error().message();

  // The call on the page: hone tools call NAME 'ARGUMENTS'.
  const std::string& commands = blocks.at("sh");
  const size_t call = commands.find("hone tools call ");
  ASSERT_NE(call, std::string::npos);
  const size_t open = commands.find('\'', call), close = commands.find('\'', open + 1);
  const std::string name = commands.substr(call + 16, open - 1 - (call + 16));
  const Result<Json> arguments = ParseJson(commands.substr(open + 1, close - open - 1));
  ASSERT_TRUE(arguments.ok());
  const ToolSpec& spec = (*toolkit)->tools().at(0);
  EXPECT_EQ(spec.name, name);
  EXPECT_EQ(ArgumentChecker::For(spec)->Problem(*arguments), std::nullopt);
  const ToolReply reply = (*toolkit)->Call(name, *arguments, nullptr, {});
  EXPECT_EQ(reply.status, CallStatus::kOk);
  EXPECT_EQ(reply.content + "\n", blocks.at("text"));
}

}  // namespace
}  // namespace hone
