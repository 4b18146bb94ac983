#include "tools/mcp/mcp_config.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Texts = std::vector<std::string>;

Result<std::vector<McpConfigServer>> ReadConfig(const std::string& json) {
  return ReadMcpConfig(ParseJson(json).value());
}

std::string ConfigError(const std::string& json) {
  const auto read = ReadConfig(json);
  return read.ok() ? "" : read.error().message();
}

TEST(McpConfig, ReadsServersAsOtherProgramsWriteThem) {
  const auto servers = ReadConfig(R"({"mcpServers": {
      "files": {"command": "npx", "args": ["-y", "server", "/tmp"], "env": {"A_KEY": "x", "N": 3},
                "cwd": "/tmp", "autoApprove": ["read"], "timeout": 60},
      "off": {"command": "no", "disabled": true},
      "weather": {"type": "http", "url": "https://example.com/mcp",
                  "headers": {"Authorization": "Bearer abcd"}}}})");
  ASSERT_TRUE(servers.ok()) << servers.error().message();
  ASSERT_EQ(servers->size(), 2u);
  EXPECT_EQ((*servers)[0].name, "files");
  EXPECT_EQ((*servers)[0].options.command, (Texts{"npx", "-y", "server", "/tmp"}));
  EXPECT_EQ((*servers)[0].options.environment, (Texts{"A_KEY=x", "N=3"}));
  EXPECT_EQ((*servers)[0].options.directory, "/tmp");
  EXPECT_EQ((*servers)[1].options.url, "https://example.com/mcp");
  EXPECT_EQ((*servers)[1].options.headers, Texts{"Authorization: Bearer abcd"});
  for (const McpConfigServer& server : *servers) {
    EXPECT_TRUE(McpConnectionOf(server.options).ok()) << "credentials may stand in such a file";
  }
}

TEST(McpConfig, ReadsTheVariantsOfEditors) {
  for (const char* json :
       {R"({"servers": {"a": {"type": "stdio", "command": "x"}}, "inputs": []})",
        R"({"editor.fontSize": 12, "mcp": {"servers": {"a": {"command": "x"}}}})"}) {
    const auto servers = ReadConfig(json);
    ASSERT_TRUE(servers.ok()) << servers.error().message();
    EXPECT_EQ(servers->at(0).options.command, Texts{"x"});
  }
}

TEST(McpConfig, VariablesAreReplacedWhenAServerIsWantedAndAreSecret) {
  const auto servers = ReadConfig(R"({"mcpServers": {"a": {
      "command": "${HOME}/x", "args": ["--n=${env:COUNT:-7}", "$plain", "${ODD"],
      "env": {"SOME": "pre-${TOKEN}"}}}})");
  ASSERT_TRUE(servers.ok());
  const ReadVariable read = [](const std::string& name) -> std::optional<std::string> {
    if (name == "HOME") return "/home/me";
    if (name == "TOKEN") return "${HOME}";
    return std::nullopt;
  };
  const auto options = WithVariables(servers->at(0), read);
  ASSERT_TRUE(options.ok()) << options.error().message();
  EXPECT_EQ(options->command, (Texts{"/home/me/x", "--n=7", "$plain", "${ODD"}));
  EXPECT_EQ(options->environment, Texts{"SOME=pre-${HOME}"}) << "not replaced twice";
  EXPECT_EQ(options->secrets, (Texts{"/home/me", "7", "${HOME}"}));
  const auto unset = WithVariables(
      servers->at(0), [](const std::string&) -> std::optional<std::string> { return {}; });
  EXPECT_EQ(unset.error().message(),
            "server \"a\": args: the environment variable HOME is not set");
}

TEST(McpConfig, ErrorsNameTheServerAndTheKey) {
  EXPECT_NE(ConfigError("{}").find("no \"mcpServers\" in it"), std::string::npos);
  EXPECT_NE(ConfigError("[]").find("no \"mcpServers\" in it"), std::string::npos);
  EXPECT_EQ(ConfigError(R"({"mcpServers": {}})"), "it has no server that is enabled");
  EXPECT_EQ(ConfigError(R"({"mcpServers": {"a": {"args": []}}})"),
            "server \"a\" wants a command or a url, one of them");
  EXPECT_EQ(ConfigError(R"({"mcpServers": {"a": {"command": "x", "args": "-y"}}})"),
            "server \"a\": args: wants a list of texts");
  EXPECT_EQ(ConfigError(R"({"mcpServers": {"a": {"command": "x", "env": {"B": []}}}})"),
            "server \"a\": env.B: wants a text");
  EXPECT_EQ(ConfigError(R"({"mcpServers": {"a": 1}})"),
            "server \"a\" wants an object with a command or a url");
  EXPECT_NE(ConfigError(R"({"mcpServers": {"a": {"type": "sse", "url": "http://x/sse"}}})")
                .find("the older HTTP+SSE transport is not spoken"),
            std::string::npos);
  EXPECT_EQ(ConfigError(R"({"servers": {"a": {"type": "http", "command": "x"}}})"),
            "server \"a\": type: \"http\" wants a url");
  const auto editor =
      ReadConfig(R"({"servers": {"a": {"command": "x", "env": {"K": "${input:key}"}}}})");
  EXPECT_NE(WithVariables(editor->at(0)).error().message().find("is filled in by an editor"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
