#include "tools/formats/formats.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "base/file.h"
#include "support/shared_data.h"
#include "tools/json_schema.h"

namespace hone {
namespace {

const std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>>&
FormatSamples() {
  static const std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>>
      samples = {
          {"date-time",
           {{"2024-02-29T23:20:50.52+01:00", "1998-12-31T15:59:60.1-08:00", "2024-01-01t00:00:00z"},
            {"2023-02-29T00:00:00Z", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "T", ""}}},
          {"date", {{"2024-02-29", "0001-01-01"}, {"2024-13-01", "2024-1-01", "20240101", ""}}},
          {"time",
           {{"23:59:60Z", "00:29:60-23:30", "12:00:00.000000001+00:00"},
            {"23:58:60Z", "24:00:00Z", "12:00:00", "12:00:00.Z", "12:00:00+24:00"}}},
          {"duration",
           {{"P4DT12H30M5S", "P2W", "PT36H", "P1Y2M"}, {"P", "PT", "P1YT", "P1Y2D", "P1D2H", ""}}},
          {"email",
           {{"a.b@example.com", "\"a b\"@example.com", "a@[127.0.0.1]", "a@[IPv6:::1]"},
            {"a", "@b", "a@", ".a@b", "a..b@c", "a@b_c", "\"a\"b\"@c", "\"a@c"}}},
          {"hostname",
           {{"example.com", "1host", "a--b.com"}, {"", ".", "a.", "-a", "a-", "a_b", "a\n"}}},
          {"ipv4", {{"0.0.0.0", "255.1.20.3"}, {"1.2.3", "1.2.3.4.5", "256.1.1.1", "01.1.1.1"}}},
          {"ipv6",
           {{"::", "::1", "1:2:3:4:5:6:7:8", "1::8", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4"},
            {"1", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1.2.3",
             "1.2.3.4::", "1:2:3:4:5:6:7::8:9", "fe80::1%eth0"}}},
          {"uri",
           {{"http://a:b@c.d:80/e?f=g#h", "mailto:a@b.c", "urn:a:b", "ldap://[2001:db8::7]/c",
             "http://[v1.a:b]/", "a:"},
            {"//a", "/a", "a", "http:// a", "1a:b", "http://a/%6G", "http://a:b/", "http://[::g]/",
             "http://a\\b", "http://[v1]/", "http://[v.a]/"}}},
          {"uri-reference",
           {{"", "a", "/a", "//a", "?b", "#c", "./a:b"}, {"1:b", "a b", "/[::1]"}}},
          {"uuid",
           {{"2eb8aa08-AA98-11ea-B4Aa-73B441D16380"},
            {"2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4ga-73b441d16380"}}},
          {"regex", {{"([abc])+\\s+$", ""}, {"^(abc]", "*"}}},
          {"json-pointer", {{"", "/", "/a~0b~1c", "/a//b"}, {"a", "#/a", "/~", "/~2"}}},
          {"relative-json-pointer", {{"0", "120/a", "0#"}, {"", "/a", "01", "0##", "-1", "1#/a"}}},
      };
  return samples;
}

TEST(Formats, AreToldOfTexts) {
  for (const std::string& name : KnownFormats()) {
    ASSERT_TRUE(FormatSamples().contains(name)) << name << " has no samples";
    const auto& [good, bad] = FormatSamples().at(name);
    for (const std::string& text : good) EXPECT_TRUE(HasFormat(name, text)) << name << ": " << text;
    for (const std::string& text : bad) EXPECT_FALSE(HasFormat(name, text)) << name << ": " << text;
  }
  EXPECT_TRUE(HasFormat("int64", "not a number")) << "an unknown format says nothing";
}

TEST(Formats, SayNothingUnlessTheyAreAsserted) {
  const Json schema =
      *ParseJson(R"({"properties": {"day": {"type": "string", "format": "date"}}})");
  const Json wrong = *ParseJson(R"({"day": "tomorrow"})"), number = *ParseJson(R"({"day": 3})");
  EXPECT_TRUE(JsonSchema::Compile(schema)->Check(wrong).empty());
  const JsonSchema asserting = JsonSchema::Compile(schema, {.assert_format = true}).value();
  ASSERT_EQ(asserting.Check(wrong).size(), 1u);
  EXPECT_EQ(asserting.Check(wrong)[0].Text(),
            "`day`: expected a text of the format date, got \"tomorrow\"");
  EXPECT_TRUE(asserting.Check(*ParseJson(R"({"day": "2024-02-29"})")).empty());
  EXPECT_EQ(asserting.Check(number).size(), 1u) << "of its type alone: formats are of texts";
}

// The official suite's folders of formats. What is not judged there: formats that are not known,
// and what labels in Punycode stand for.
void RunFormats(const std::filesystem::path& folder, SchemaDraft draft, int* tests) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string format = entry.path().stem().string();
    const std::vector<std::string> known = KnownFormats();
    if (std::find(known.begin(), known.end(), format) == known.end()) continue;
    const Json groups = ParseJson(*ReadFile(entry.path())).value();
    for (const Json& group : groups.AsArray()) {
      const Json& schema = *group.Find("schema");
      const JsonSchema compiled =
          JsonSchema::Compile(schema, {.draft = draft, .assert_format = true}).value();
      for (const Json& test : group.Find("tests")->AsArray()) {
        const Json& data = *test.Find("data");
        const std::string text = data.is_string() ? data.AsString() : "";
        const bool punycode =
            format == "hostname" && (text.starts_with("xn--") || text.starts_with("XN--"));
        if (punycode) continue;
        EXPECT_EQ(compiled.Check(data).empty(), test.Find("valid")->AsBool())
            << format << ": " << DumpJson(data) << ", " << test.Find("description")->AsString();
        ++*tests;
      }
    }
  }
}

TEST(Formats, AreToldAsTheOfficialSuiteTellsThem) {
  HONE_NEED_SHARED(data, "data/json-schema-test-suite");
  int tests = 0;
  RunFormats(data / "draft7" / "optional" / "format", SchemaDraft::kDraft7, &tests);
  RunFormats(data / "draft2020-12" / "optional" / "format", SchemaDraft::kDraft2020, &tests);
  EXPECT_GT(tests, 200);
}

}  // namespace
}  // namespace hone
