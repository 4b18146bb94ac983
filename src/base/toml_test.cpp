#include "base/toml.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"

namespace hone {
namespace {

Json AsJson(const TomlValue& value) {
  if (value.kind == TomlValue::Kind::kScalar) return value.scalar;
  if (value.kind == TomlValue::Kind::kArray) {
    Json::Array array;
    for (const TomlValue& element : value.elements) array.push_back(AsJson(element));
    return array;
  }
  Json object = Json::Object();
  for (const auto& [key, member] : value.members) object.Set(key, AsJson(member));
  return object;
}

// tests/golden/toml/make.py: documents, broken documents and random mutations of them, read by
// Python's tomllib.
TEST(Toml, ReadsAndRefusesWhatPythonReadsAndRefuses) {
  const auto rows = ParseJsonLines(*ReadFile(HONE_SOURCE_DIR "/tests/golden/toml/python.jsonl"));
  ASSERT_TRUE(rows.ok());
  ASSERT_GT(rows->size(), 500u);
  // tomllib reads integers of any size; TOML promises 64 bits.
  int differing = 0;
  for (const Json& row : *rows) {
    const std::string& text = row.Find("toml")->AsString();
    Result<TomlValue> value = ParseToml(text, "t");
    const Json* json = row.Find("json");
    if (json == nullptr) {
      EXPECT_FALSE(value.ok()) << text;
      continue;
    }
    const Json expected = *ParseJson(json->AsString());
    if (DumpJson(expected).find("9223372036854775808") != std::string::npos && !value.ok()) {
      ++differing;
      continue;
    }
    ASSERT_TRUE(value.ok()) << text << "\n" << value.error().message();
    EXPECT_EQ(AsJson(*value), expected) << text;
  }
  EXPECT_LE(differing, 2);
}

std::string ErrorOf(std::string_view text) {
  Result<TomlValue> value = ParseToml(text, "f.toml");
  return value.ok() ? "" : value.error().message();
}

TEST(Toml, ErrorsNameFileAndLine) {
  EXPECT_EQ(ErrorOf("a = 1\n\nb = [1,\n2 3]"), "f.toml:4: not TOML: a ',' or ']' is missing");
  EXPECT_EQ(ErrorOf("a = 1\na = 2"), "f.toml:2: not TOML: \"a\" is defined already");
  EXPECT_EQ(ErrorOf("a = hello"),
            "f.toml:1: not TOML: \"hello\" is not a value (strings stand in quotes)");
  EXPECT_EQ(ErrorOf("a = 2026-01-01"),
            "f.toml:1: not TOML: dates and times are not taken; write them as a string");
  EXPECT_EQ(ErrorOf("a = 1\nb = \"\xFF\""), "f.toml:2: not TOML: the text is not UTF-8");
  EXPECT_EQ(ErrorOf("a = 1\x10"), "f.toml:1: not TOML: a control character (0x10)");
}

TEST(Toml, ValuesKnowTheirLines) {
  Result<TomlValue> value = ParseToml("a = 1\n\n[t]\nb = [\n1]\n[[u]]\n[[u]]\n", "t");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->Find("a")->line, 1);
  EXPECT_EQ(value->Find("t")->line, 3);
  EXPECT_EQ(value->Find("t")->Find("b")->line, 4);
  EXPECT_EQ(value->Find("u")->elements[1].line, 7);
}

TEST(Toml, InfinityAndNotANumber) {
  EXPECT_EQ(ParseTomlValue("-inf")->scalar.AsDouble(), -INFINITY);
  EXPECT_TRUE(std::isnan(ParseTomlValue("nan")->scalar.AsDouble()));
}

TEST(Toml, DepthIsBounded) {
  EXPECT_FALSE(ParseTomlValue(std::string(100000, '[')).ok());
  std::string dotted = "a";
  for (int i = 0; i < 5000; ++i) dotted += ".a";
  EXPECT_FALSE(ParseToml(dotted + " = 1", "t").ok());
  EXPECT_FALSE(ParseToml("[" + dotted + "]", "t").ok());
}

TEST(Toml, ASingleValueIsOne) {
  EXPECT_EQ(ParseTomlValue(" [1, 'x'] ")->elements.size(), 2u);
  EXPECT_FALSE(ParseTomlValue("1 2").ok());
  EXPECT_FALSE(ParseTomlValue("").ok());
  EXPECT_FALSE(ParseTomlValue("1\nb = 2").ok());
}

}  // namespace
}  // namespace hone
