#include "tools/mcp/mcp_secrets.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::optional<std::string> Variable(const std::string& name) {
  if (name == "TOKEN") return "s3cret-token";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

TEST(McpSecrets, AReferenceIsAWord) {
  EXPECT_TRUE(HasReference("env:TOKEN"));
  EXPECT_TRUE(HasReference("Bearer env:TOKEN"));
  EXPECT_FALSE(HasReference("Bearer s3cret"));
  EXPECT_FALSE(HasReference("not-env:TOKEN"));
}

TEST(McpSecrets, ReferencesAreReplacedAndRemembered) {
  std::vector<std::string> secrets;
  EXPECT_EQ(*Resolved("Bearer  env:TOKEN x", Variable, &secrets), "Bearer  s3cret-token x");
  EXPECT_EQ(secrets, std::vector<std::string>{"s3cret-token"});
  EXPECT_EQ(*Resolved("plain", Variable, &secrets), "plain");
}

TEST(McpSecrets, AVariableThatIsNotThereIsNamed) {
  std::vector<std::string> secrets;
  for (const char* text : {"env:NOPE", "env:EMPTY", "env:"}) {
    const auto resolved = Resolved(text, Variable, &secrets);
    ASSERT_FALSE(resolved.ok()) << text;
    EXPECT_EQ(resolved.error().code(), ErrorCode::kNotFound);
  }
  EXPECT_NE(Resolved("env:NOPE", Variable, &secrets).error().message().find("\"NOPE\""),
            std::string::npos);
}

TEST(McpSecrets, SecretsAreBlottedOut) {
  EXPECT_EQ(Redacted("bad token s3cret, s3cret!", {"s3cret"}), "bad token ***, ***!");
  EXPECT_EQ(Redacted("a banana", {"a"}), "a banana");
  EXPECT_EQ(Redacted("x", {""}), "x");
  EXPECT_EQ(Redacted("****", {"****"}), "***");
}

TEST(McpSecrets, ErrorsOfServersAreWithoutThemAndResultsAreTheToolsOwn) {
  const std::vector<std::string> secrets = {"s3cret"};
  const McpOutcome error = RedactedErrors(JsonRpcError{-1, "bad s3cret", {}}, secrets);
  EXPECT_EQ(std::get<JsonRpcError>(error).message, "bad ***");
  const auto result = [&](bool failed) {
    const Json said = Json::Of({{"isError", failed}, {"text", "it is s3cret"}});
    return std::get<Json>(RedactedErrors(said, secrets)).Find("text")->AsString();
  };
  EXPECT_EQ(result(true), "it is ***");
  EXPECT_EQ(result(false), "it is s3cret");
}

}  // namespace
}  // namespace hone
