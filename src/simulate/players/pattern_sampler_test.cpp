#include "simulate/players/pattern_sampler.h"

#include <gtest/gtest.h>

#include <set>

#include "tools/json_schema.h"

namespace hone {
namespace {

TEST(PatternSampler, WhatItWritesMatchesAccordingToTheSchemaChecker) {
  for (const char* pattern : {"^[0-9]{4}$", "^#W\\d{7}$", "^(mon|tue|wed)$",
                              "^[A-Z][a-z]+(-[A-Z][a-z]+)?$", "^a.c*$", "^\\+?[0-9 ()-]{7,12}$",
                              "^(?:ab|cd){2,3}x$", "^[^0-9]{3}$", "^[\\w.]+@[a-z]+\\.(com|org)$"}) {
    const auto schema =
        JsonSchema::Compile(Json::Of({{"type", "string"}, {"pattern", pattern}})).value();
    std::set<std::string> seen;
    for (uint64_t i = 0; i < 50; ++i) {
      Rng rng = Rng(1).Split(i);
      const auto text = SamplePattern(pattern, &rng);
      ASSERT_TRUE(text.has_value()) << pattern;
      EXPECT_TRUE(schema.Check(*text).empty()) << pattern << " does not match " << *text;
      seen.insert(*text);
    }
    EXPECT_GT(seen.size(), 1u) << pattern;
  }
}

TEST(PatternSampler, WhatItCannotReadIsNothing) {
  for (const char* pattern : {"(?=a)b", "a{3", "(a", "[a", "a)", "\\", "a{2,1}", "*a", "\\1",
                              "a{99999999999999}", "[z-a]", "\\p{L}"}) {
    Rng rng(1);
    EXPECT_FALSE(SamplePattern(pattern, &rng).has_value()) << pattern;
  }
}

}  // namespace
}  // namespace hone
