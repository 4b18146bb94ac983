#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/file.h"
#include "base/json_lines.h"
#include "base/rng.h"

namespace hone {
namespace {

Json Parsed(std::string_view text) {
  Result<Json> value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << text << ": " << (value.ok() ? "" : value.error().message());
  return value.ok() ? *value : Json();
}

std::string ErrorOf(std::string_view text) {
  Result<Json> value = ParseJson(text);
  return value.ok() ? "parsed" : value.error().message();
}

// tests/golden/json/make.py: 400 values written by Python's json module.
TEST(Json, ReadsAndWritesAsPythonDoes) {
  auto file = ReadFile(HONE_SOURCE_DIR "/tests/golden/json/python.jsonl");
  ASSERT_TRUE(file.ok());
  auto rows = ParseJsonLines(*file);
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  ASSERT_EQ(rows->size(), 400u);
  for (const Json& row : *rows) {
    const Json value = Parsed(row.Find("text")->AsString());
    EXPECT_EQ(DumpJson(value, JsonStyle::kCanonical), row.Find("canonical")->AsString());
    EXPECT_EQ(DumpJson(value, JsonStyle::kSpaced), row.Find("spaced")->AsString());
    EXPECT_EQ(ContentHash(value), row.Find("sha256")->AsString());
    EXPECT_EQ(Parsed(DumpJson(value, JsonStyle::kPretty)), value);
  }
}

TEST(Json, IntegersBeyond64BitsStayExact) {
  const std::string digits = "123456789012345678901234567890";
  EXPECT_EQ(DumpJson(Parsed(digits)), digits);
  EXPECT_EQ(DumpJson(Parsed("-" + digits)), "-" + digits);
  EXPECT_EQ(Parsed(digits).kind(), Json::Kind::kBigInteger);
  EXPECT_EQ(Parsed("18446744073709551615").AsUint64(), 18446744073709551615u);
  EXPECT_EQ(DumpJson(Json(uint64_t{18446744073709551615u})), "18446744073709551615");
  EXPECT_EQ(Parsed("18446744073709551616").AsUint64(), std::nullopt);
  EXPECT_DOUBLE_EQ(Parsed(digits).AsDouble(), 1.2345678901234568e29);
}

TEST(Json, IntegersAndRealsStayApart) {
  EXPECT_NE(Parsed("5"), Parsed("5.0"));
  EXPECT_EQ(DumpJson(Parsed("[5, 5.0, 5e0, -0, -0.0]")), "[5,5.0,5.0,0,-0.0]");
}

TEST(Json, RandomRealsRoundTripToTheBit) {
  Rng rng(11);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = rng.NextU64();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(Parsed(ShortestReal(value)).AsDouble(), value);
  }
}

TEST(Json, EqualityIgnoresTheOrderOfMembersAndHashesAgree) {
  const Json a = Parsed(R"({"x": 1, "y": {"p": [1, 2], "q": null}})");
  const Json b = Parsed(R"({"y": {"q": null, "p": [1, 2]}, "x": 1})");
  EXPECT_EQ(a, b);
  EXPECT_EQ(ContentHash(a), ContentHash(b));
  EXPECT_NE(a, Parsed(R"({"x": 1, "y": {"p": [2, 1], "q": null}})"));
  EXPECT_EQ(DumpJson(b), R"({"y":{"q":null,"p":[1,2]},"x":1})") << "order is kept when writing";
}

TEST(Json, ErrorsNameLineAndColumn) {
  EXPECT_EQ(ErrorOf("{\n  \"a\": 1,\n  \"a\": 2}"), "line 3, column 3: the key \"a\" occurs twice");
  EXPECT_EQ(ErrorOf("[1, 2"), "line 1, column 6: a ',' or ']' is missing");
  EXPECT_EQ(ErrorOf("[01]"), "line 1, column 2: a number with a leading zero");
  EXPECT_EQ(ErrorOf("{} x"), "line 1, column 4: more text after the JSON value");
  EXPECT_EQ(ErrorOf("\"\xFF\""), "line 1, column 2: a string is not UTF-8");
  EXPECT_EQ(ErrorOf(""), "line 1, column 1: a value is missing");
  EXPECT_EQ(ErrorOf("1e999"), "line 1, column 1: a real number too large for 64 bits");
}

TEST(Json, RefusesWhatRfc8259Refuses) {
  for (const char* bad : {"NaN",
                          "Infinity",
                          "'a'",
                          "{a:1}",
                          "[1,]",
                          "{\"a\":1,}",
                          "+1",
                          ".5",
                          "1.",
                          "1e",
                          "\"\\x\"",
                          "\"\\ud800\"",
                          "\"\\udc00\"",
                          "\"\\ud800\\u0041\"",
                          "tru",
                          "\"a\nb\"",
                          "[",
                          "{\"a\"",
                          "nul",
                          "-",
                          "\"\\u12g4\"",
                          "1 2",
                          "\xEF\xBB\xBF{}"}) {
    EXPECT_FALSE(ParseJson(bad).ok()) << bad;
  }
  EXPECT_EQ(Parsed("1e-999").AsDouble(), 0.0);
  EXPECT_TRUE(std::signbit(Parsed("-1e-999").AsDouble()));
  EXPECT_FALSE(ParseJson("1" + std::string(400, '0') + ".0e-5").ok())
      << "large in spite of its exponent";
  EXPECT_EQ(Parsed("0." + std::string(400, '0') + "1e+5").AsDouble(), 0.0);
}

TEST(Json, DepthIsBounded) {
  EXPECT_TRUE(ParseJson(std::string(512, '[') + std::string(512, ']')).ok());
  EXPECT_FALSE(ParseJson(std::string(513, '[') + std::string(513, ']')).ok());
  EXPECT_FALSE(ParseJson(std::string(1000000, '[')).ok());
}

TEST(Json, LargeObjectsWithDuplicatesAreCaught) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_TRUE(ParseJson(text + "\"z\":1}").ok());
  EXPECT_FALSE(ParseJson(text + "\"k500\":1}").ok());
  EXPECT_FALSE(ParseJson(text + "\"z\":1,\"z\":1}").ok());
}

TEST(JsonPrefix, FindsTheValueAndItsEnd) {
  const JsonPrefix prefix = ParseJsonPrefix("  {\"a\": \"</x>\"} </x>");
  ASSERT_TRUE(prefix.value.has_value());
  EXPECT_EQ(prefix.end, 15u);
}

TEST(JsonPrefix, EveryProperPrefixOfAnObjectIsCut) {
  const std::string text = R"({"a": [1.5e-3, true, "x\u00e9\ud83d\ude00\n", null, {"b": -0}]})";
  ASSERT_TRUE(ParseJson(text).ok());
  for (size_t size = 0; size < text.size(); ++size) {
    const JsonPrefix prefix = ParseJsonPrefix(text.substr(0, size));
    EXPECT_FALSE(prefix.value.has_value()) << size;
    EXPECT_TRUE(prefix.cut) << size << " " << prefix.problem;
  }
  EXPECT_FALSE(ParseJsonPrefix("{\"a\" 1").cut) << "more text cannot mend this";
}

TEST(JsonLines, NamesTheBadRecord) {
  auto rows = ParseJsonLines("{}\n\n[1]\n{\n");
  ASSERT_FALSE(rows.ok());
  EXPECT_TRUE(rows.error().message().starts_with("record 4: ")) << rows.error().message();
  EXPECT_EQ(ParseJsonLines("1\n2\n\n3")->size(), 3u);
  EXPECT_EQ(ParseJsonLines("\xef\xbb\xbf{}\n2")->size(), 2u) << "a byte order mark";
}

TEST(Json, NumbersThatAreNotFiniteBecomeNull) {
  EXPECT_EQ(DumpJson(Json::Of({{"x", std::nan("")}, {"y", 1.0}})), R"({"x":null,"y":1.0})");
}

TEST(Json, SetAddsAndReplaces) {
  Json object;
  object.Set("a", 1);
  object.Set("b", 2);
  object.Set("a", 3);
  EXPECT_EQ(DumpJson(object), R"({"a":3,"b":2})");
  EXPECT_EQ(object.Find("c"), nullptr);
}

TEST(JsonLines, EveryLineThatIsNotBlankComesWithItsNumber) {
  std::vector<std::string> seen;
  ForEachJsonLine(
      "\xEF\xBB\xBF{\"a\": 1}\r\n\n  \nnonsense\n[2]", [&](int64_t line, const auto& json) {
        seen.push_back(std::to_string(line) + " " +
                       (json.ok() ? DumpJson(*json) : json.error().message().substr(0, 16)));
      });
  EXPECT_EQ(seen, (std::vector<std::string>{"1 {\"a\":1}", "4 not JSON: column", "5 [2]"}));
}

}  // namespace
}  // namespace hone
