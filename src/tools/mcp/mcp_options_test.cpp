#include "tools/mcp/mcp_options.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

std::optional<std::string> Nothing(const std::string&) { return std::nullopt; }

// What is wrong with this table of a recipe, or "".
std::string ProblemsOf(const std::string& toml) {
  auto recipe = Recipe::Parse(toml, "r.toml");
  EXPECT_TRUE(recipe.ok());
  ReadMcpOptions(recipe->Root());
  const Result<void> finished = recipe->Finish();
  return finished.ok() ? "" : finished.error().message();
}

TEST(McpOptions, AreReadFromARecipe) {
  auto recipe = Recipe::Parse(
      "command = ['node', 'server.js']\ndirectory = '/tmp'\nenvironment = ['A=1', 'B']\n"
      "startup_ms = 5000\nper_session = true\nonly = ['echo']\n",
      "r.toml");
  const McpOptions options = ReadMcpOptions(recipe->Root());
  EXPECT_TRUE(recipe->Finish().ok());
  EXPECT_EQ(options.command, (std::vector<std::string>{"node", "server.js"}));
  EXPECT_EQ(options.directory, "/tmp");
  EXPECT_EQ(options.environment, (std::vector<std::string>{"A=1", "B"}));
  EXPECT_EQ(options.startup_ms, 5000);
  EXPECT_TRUE(options.per_session);
  EXPECT_EQ(options.only, std::vector<std::string>{"echo"});
  EXPECT_EQ(ProblemsOf("url = 'https://example.com/mcp'\nheaders = ['X-Who: me']"), "");
}

TEST(McpOptions, TheExampleOfTheDocumentationIsRight) {
  const std::string page = *ReadFile(std::string(HONE_SOURCE_DIR) + "/docs/tools-mcp.md");
  const size_t begin = page.find("```toml\n") + 8;
  auto recipe = Recipe::Parse(page.substr(begin, page.find("```", begin) - begin), "tools-mcp.md");
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  std::vector<McpOptions> servers;
  for (RecipeTable table : recipe->Root().Tables("tools")) {
    std::string kind;
    table.ReadChoice("kind", &kind, {"mcp"}, "");
    servers.push_back(ReadMcpOptions(table));
  }
  const Result<void> finished = recipe->Finish();
  EXPECT_TRUE(finished.ok()) << finished.error().message();
  ASSERT_EQ(servers.size(), 2u);
  for (const McpOptions& server : servers) {
    EXPECT_TRUE(McpConnectionOf(server, [](const std::string&) { return "x"; }).ok());
  }
}

TEST(McpOptions, ProblemsNameTheKey) {
  auto expect = [](const std::string& toml, const std::string& part) {
    EXPECT_NE(ProblemsOf(toml).find(part), std::string::npos) << toml << ": " << ProblemsOf(toml);
  };
  expect("", "a command or a url");
  expect("command = ['x']\nurl = 'http://y'", "a command or a url");
  expect("command = ['']", "has no name");
  expect("url = 'ftp://x'", "wants http:// or https://");
  expect("url = 'https://me:pw@x/mcp'", "a password does not belong in an address");
  expect("url = 'http://x'\ndirectory = '/'", "is for a server with a command");
  expect("command = ['x']\nheaders = ['A: b']", "are for a server with a url");
  expect("url = 'http://x'\nheaders = ['nonsense']", "wants \"Name: value\"");
  expect("url = 'http://x'\nheaders = ['a b: c']", "wants \"Name: value\"");
  expect("command = ['x']\nenvironment = ['=1']", "wants \"NAME=value\"");
  expect("command = ['x']\nstartup_ms = 0", "startup_ms");
  expect("command = ['x']\nstartup = 5", "startup");
}

TEST(McpOptions, ACredentialInAFileIsRefusedAndNotShown) {
  for (const char* header :
       {"Authorization: Bearer s3cret", "X-Api-Key: s3cret", "cookie: s3cret"}) {
    const std::string problems =
        ProblemsOf("url = 'http://x'\nheaders = ['" + std::string(header) + "']");
    EXPECT_NE(problems.find("environment variable"), std::string::npos) << problems;
    EXPECT_EQ(problems.find("s3cret"), std::string::npos) << problems;
  }
  EXPECT_EQ(ProblemsOf("url = 'http://x'\nheaders = ['Authorization: Bearer env:MY_TOKEN']"), "");
  const std::string problems = ProblemsOf("command = ['x']\nenvironment = ['MY_KEY=s3cret']");
  EXPECT_NE(problems.find("write \"MY_KEY=env:NAME\""), std::string::npos) << problems;
  EXPECT_EQ(problems.find("s3cret"), std::string::npos) << problems;
  EXPECT_EQ(ProblemsOf("command = ['x']\nenvironment = ['MY_KEY', 'A_TOKEN=env:B']"), "");
}

TEST(McpOptions, AVariableThatIsNotSetIsNamedWithItsSetting) {
  McpOptions options;
  options.url = "http://127.0.0.1:1/";
  options.headers = {"Authorization: Bearer env:MY_TOKEN"};
  const auto http = McpConnectionOf(options, Nothing);
  ASSERT_FALSE(http.ok());
  EXPECT_NE(http.error().message().find("headers: the environment variable \"MY_TOKEN\""),
            std::string::npos);
  options = {};
  options.command = {"x"};
  options.environment = {"MY_KEY"};
  const auto stdio = McpConnectionOf(options, Nothing);
  ASSERT_FALSE(stdio.ok());
  EXPECT_NE(stdio.error().message().find("environment: the environment variable \"MY_KEY\""),
            std::string::npos);
  options.environment = {};
  EXPECT_TRUE(McpConnectionOf(options, Nothing).ok());
  EXPECT_FALSE(McpConnectionOf(McpOptions{}, Nothing).ok());
}

TEST(McpOptions, AHeaderCannotBeSplitByAVariable) {
  McpOptions options;
  options.url = "http://127.0.0.1:1/";
  options.headers = {"X-Token: env:T"};
  const auto connect = McpConnectionOf(options, [](const std::string&) { return "a\r\nX: y"; });
  ASSERT_FALSE(connect.ok());
  EXPECT_EQ(connect.error().message(), "headers: the value of X-Token has a line end");
}

}  // namespace
}  // namespace hone
