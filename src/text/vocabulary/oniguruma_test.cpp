#include "text/vocabulary/oniguruma.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "text/vocabulary/splitter.h"
#include "text/vocabulary/tokenizer_parts.h"

namespace hone {
namespace {

SplitBehavior BehaviorNamed(std::string_view wanted) {
  for (const auto& [name, behavior] : kSplitBehaviors) {
    if (name == wanted) return behavior;
  }
  return SplitBehavior::kIsolated;
}

// tests/golden/tokenizer/kinds/patterns.jsonl: pieces by Hugging Face tokenizers 0.23.2, which has
// Oniguruma inside.
TEST(Oniguruma, PatternsCutAsTheyDoThere) {
  const auto rows =
      ParseJsonLines(*ReadFile(HONE_SOURCE_DIR "/tests/golden/tokenizer/kinds/patterns.jsonl"));
  ASSERT_TRUE(rows.ok());
  ASSERT_GT(rows->size(), 400u);
  for (const Json& row : *rows) {
    auto pattern = Pattern::Compile(row.Find("pattern")->AsString());
    ASSERT_TRUE(pattern.ok()) << pattern.error().message();
    std::vector<SplitStep> steps;
    steps.push_back({std::move(pattern).value(), BehaviorNamed(row.Find("behavior")->AsString()),
                     *row.Find("invert") == Json(true)});
    std::vector<std::string> pieces;
    Splitter(std::move(steps)).Split(row.Find("text")->AsString(), [&](std::string_view piece) {
      pieces.emplace_back(piece);
    });
    EXPECT_EQ(DumpJson(Json::ArrayOf(pieces)), DumpJson(*row.Find("pieces")))
        << row.Find("pattern")->AsString() << " " << DumpJson(*row.Find("text"));
  }
}

TEST(Oniguruma, WhatHasNoCounterpartIsRefusedByName) {
  const auto error_of = [](std::string_view pattern) {
    const auto translated = OnigurumaToPcre2(pattern);
    return translated.ok() ? "translated to " + *translated : translated.error().message();
  };
  EXPECT_EQ(error_of("a\\Gb"), "the pattern a\\Gb has the escape \\G");
  EXPECT_EQ(error_of("(?~ab)"), "the pattern (?~ab) has a group \"(?~\"");
  EXPECT_EQ(error_of("\\p{Nonsense}"), "the pattern \\p{Nonsense} has the property \\p{Nonsense}");
  EXPECT_EQ(error_of("[a"), "the pattern [a has a '[' without its ']'");
  EXPECT_EQ(error_of("(a"), "the pattern (a has a '(' without its ')'");
  EXPECT_EQ(error_of("a)"), "the pattern a) has a ')' without its '('");
  EXPECT_EQ(error_of("*a"), "the pattern *a has a repetition of nothing");
  EXPECT_TRUE(
      error_of("a" + std::string(100000, '*')).ends_with("has too many repetitions of each other"));
  EXPECT_EQ(error_of("a\\"), "the pattern a\\ has a backslash at its end");
  EXPECT_EQ(error_of("(.)\\1"), "the pattern (.)\\1 has the escape \\1");
  EXPECT_EQ(error_of("a(?i)b|c"), "the pattern a(?i)b|c has a group \"(?i\"");
  EXPECT_EQ(error_of("a{3,2}"), "the pattern a{3,2} has an interval that ends before it begins");
}

}  // namespace
}  // namespace hone
