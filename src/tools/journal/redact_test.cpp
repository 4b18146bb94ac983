#include "tools/journal/redact.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"

namespace hone {
namespace {

Redactor Make(const RedactionOptions& options,
              std::map<std::string, std::string> environment = {}) {
  auto redactor =
      Redactor::Create(options, [=](const std::string& name) -> std::optional<std::string> {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
      });
  EXPECT_TRUE(redactor.ok()) << (redactor.ok() ? "" : redactor.error().message());
  return *std::move(redactor);
}

Redactor Default() { return Make(RedactionOptions::Default()); }

std::string Arguments(const std::string& json) {
  return DumpJson(Default().Arguments(*ParseJson(json)));
}

TEST(RedactTest, ValuesUnderSecretKeysAreTakenOutAtAnyDepth) {
  EXPECT_EQ(
      Arguments(R"({"user":"ann","Password":"hunter2","n":[{"X-Api-Key":{"k":[1,2]}}]})"),
      R"({"user":"ann","Password":"[redacted:password]","n":[{"X-Api-Key":"[redacted:x_api_key]"}]})");
  EXPECT_EQ(
      Arguments(R"({"access_token":17,"accessToken":"a","ACCESS-TOKEN":null})"),
      R"({"access_token":"[redacted:access_token]","accessToken":"[redacted:access_token]","ACCESS-TOKEN":null})");
}

TEST(RedactTest, KeysThatOnlyLookSimilarAreLeftAlone) {
  const std::string json = R"({"max_tokens":64,"tokens":[1],"secretary":"Bo","password_hint":"x"})";
  EXPECT_EQ(Arguments(json), json);
}

TEST(RedactTest, JsonWithNothingToHideKeepsItsBytes) {
  for (const std::string text : {"{ \"a\" :1.10,\n \"b\": [ ] }", "[1e3]", "plain \"text\": here",
                                 "", "{\"a\":", "???&&&"}) {
    EXPECT_EQ(Default().Content(text), text);
  }
}

TEST(RedactTest, JsonStaysJsonInItsStyle) {
  EXPECT_EQ(Default().Content(R"({"token": "abc", "n": 1})"),
            R"({"token": "[redacted:token]", "n": 1})");
  EXPECT_EQ(Default().Content(R"({"token":"abc","n":1})"), R"({"token":"[redacted:token]","n":1})");
  EXPECT_EQ(Default().Content("{\n  \"secret\": 1\n}"),
            "{\n  \"secret\": \"[redacted:secret]\"\n}");
}

TEST(RedactTest, JsonInsideStringsOfJsonIsLookedInto) {
  const std::string inner = R"({"password":"hunter2"})";
  const std::string outer = DumpJson(Json::Of({{"body", DumpJson(Json::Of({{"body", inner}}))}}));
  const std::string redacted = Default().Content(outer);
  EXPECT_EQ(redacted.find("hunter2"), std::string::npos) << redacted;
  EXPECT_TRUE(ParseJson(redacted).ok());
}

TEST(RedactTest, KeysCountInJsonThatIsCutOffOrEmbeddedAndInQueries) {
  const std::map<std::string, std::string> cases = {
      {R"(result: {"password": "hunter2", "n": 1} ok)",
       R"(result: {"password": "[redacted:password]", "n": 1} ok)"},
      {R"([{"n":1,"password":"hunt)", R"([{"n":1,"password":"[redacted:password]")"},
      {R"({"token":12345,"x":)", R"({"token":"[redacted:token]","x":)"},
      {R"({"credentials":{"user":"x","pass":"}y"},"x":)",
       R"({"credentials":"[redacted:credentials]","x":)"},
      {R"({"token":null,"x":)", R"({"token":null,"x":)"},
      {"GET https://a.example/x?n=1&api_key=abcdef&m=2 HTTP/1.1",
       "GET https://a.example/x?n=1&api_key=[redacted:api_key]&m=2 HTTP/1.1"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(Default().Content(text), wanted);
}

TEST(RedactTest, TheShapesOfTokensAreFoundInText) {
  const std::map<std::string, std::string> secrets = {
      {"Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"},
      {"use Bearer abcdefghij0123456789 please", "abcdefghij0123456789"},
      {"key sk-proj-abcd1234efgh5678ijkl", "abcd1234efgh5678"},
      {"AKIAIOSFODNN7EXAMPLE is the id", "IOSFODNN7EXAMPLE"},
      {"aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYab", "wJalrXUtnFEMI"},
      {"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz0123456789"},
      {"xoxb-1234567890-abcdef", "1234567890-abcdef"},
      {"postgres://bob:s3cr3t@db/x", "s3cr3t"},
      {"< Set-Cookie: session=deadbeef; Path=/", "deadbeef"},
      {"-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY----- after", "MIIEabc"},
      {"-----BEGIN PRIVATE KEY-----\nMIIEcutoff", "MIIEcutoff"},
      {"t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "c2lnbmF0dXJl"},
  };
  for (const auto& [text, secret] : secrets) {
    const std::string redacted = Default().Content(text);
    EXPECT_EQ(redacted.find(secret), std::string::npos) << redacted;
    EXPECT_NE(redacted.find("[redacted:"), std::string::npos) << redacted;
    EXPECT_EQ(Default().Content(redacted), redacted) << "once is enough";
    const std::string in_json = Default().Content(DumpJson(Json::Of({{"note", text}})));
    EXPECT_EQ(in_json.find(secret), std::string::npos) << in_json;
    EXPECT_TRUE(ParseJson(in_json).ok()) << in_json;
  }
}

TEST(RedactTest, OrdinaryTextIsLeftAlone) {
  for (const std::string text :
       {"The bearer responsibilities of the task-force: risk-assessment-of-something.",
        "Cookie: two cups of flour", "see https://example.org:8080/a@b", "sk-learn-is-a-library",
        "what is your password?", "token: the unit of text", "a?b=c&d=e"}) {
    EXPECT_EQ(Default().Content(text), text);
  }
}

TEST(RedactTest, ValuesOfTheEnvironmentAreTakenOutWhereverTheyStand) {
  RedactionOptions options;
  options.environment = {"DB", "LONGER", "UNSET", "PIN"};
  const Redactor redactor =
      Make(options, {{"DB", "p\"w\n1"}, {"LONGER", "p\"w\n1-more"}, {"PIN", "493827"}});
  EXPECT_EQ(redactor.Content("<p\"w\n1> <p\"w\n1-more>"),
            "<[redacted:env:DB]> <[redacted:env:LONGER]>");
  EXPECT_EQ(redactor.Content(R"(log: "p\"w\n1")"), R"(log: "[redacted:env:DB]")")
      << "as JSON spells it";
  EXPECT_EQ(DumpJson(redactor.Arguments(*ParseJson(R"({"pin":493827,"493827":1})"))),
            R"({"pin":"[redacted:env:PIN]","[redacted:env:PIN]":1})");
  EXPECT_EQ(Redactor::Create(options,
                             [](const std::string&) { return std::optional<std::string>("abc"); })
                .error()
                .code(),
            ErrorCode::kInvalidArgument);
}

TEST(RedactTest, TwoSecretKeysStayTwoMembers) {
  EXPECT_EQ(Arguments(R"({"AKIAIOSFODNN7EXAMPLE":1,"AKIAIOSFODNN7EXAMPLF":2})"),
            R"({"[redacted:aws-key]":1,"[redacted:aws-key] 2":2})");
}

TEST(RedactTest, ATextThatCannotBeSearchedIsNotLetThrough) {
  RedactionOptions options;
  options.expressions = {{"slow", "(a|aa)+$"}};
  EXPECT_EQ(Make(options).Content(std::string(100, 'a') + "c"), "[redacted:slow]");
}

TEST(RedactTest, HugeAndHostileTextTakesNoLongTime) {
  std::string quotes;
  for (int i = 0; i < 300000; ++i) quotes += "\\\"";
  EXPECT_EQ(Default().Content("\"" + quotes), "\"" + quotes);
  std::string queries;
  for (int i = 0; i < 200000; ++i) queries += "?a=";
  EXPECT_EQ(Default().Content(queries), queries);
  std::string nested;
  for (int i = 0; i < 200000; ++i) nested += "{\"token\":";
  EXPECT_EQ(Default().Content(nested).find("\"token\":{"), std::string::npos);
}

TEST(RedactTest, BytesThatAreNotUtf8AreSearchedToo) {
  const std::string redacted = Default().Content("\xff sk-proj-abcd1234efgh5678ijkl \xc3");
  EXPECT_EQ(redacted, "\xef\xbf\xbd [redacted:sk] \xef\xbf\xbd");
}

TEST(RedactTest, ARecipeAddsRulesAndItsProblemsHaveLines) {
  Recipe recipe = *Recipe::Parse(
      "[redact]\nkeys = [\"badge\"]\n[[redact.expressions]]\nname = \"ticket\"\npattern = "
      "'TICK-[0-9]+'\n",
      "r.toml");
  const RedactionOptions options = ReadRedactionOptions(recipe.Root().Table("redact"));
  ASSERT_TRUE(recipe.Finish().ok()) << recipe.Finish().error().message();
  EXPECT_EQ(
      Make(options).Content(R"({"badge": "x", "token": "y", "t": "see TICK-12"})"),
      R"({"badge": "[redacted:badge]", "token": "[redacted:token]", "t": "see [redacted:ticket]"})");

  Recipe none = *Recipe::Parse("[redact]\ndefaults = false\n", "r.toml");
  EXPECT_TRUE(ReadRedactionOptions(none.Root().Table("redact")).keys.empty());

  Recipe bad = *Recipe::Parse("[[redact.expressions]]\nname = \"x\"\npattern = '('\n", "r.toml");
  (void)ReadRedactionOptions(bad.Root().Table("redact"));
  const Result<void> problems = bad.Finish();
  ASSERT_FALSE(problems.ok());
  EXPECT_NE(problems.error().message().find("r.toml:3"), std::string::npos)
      << problems.error().message();
}

}  // namespace
}  // namespace hone
