#include "simulate/players/schema_sampler.h"

#include <gtest/gtest.h>

#include <set>

#include "tools/json_schema.h"

namespace hone {
namespace {

TEST(SchemaSampler, EveryValueFitsAndTheyDiffer) {
  for (
      const char* text : {
          R"({"type": "object", "required": ["sky", "temp"], "additionalProperties": false,
               "properties": {"sky": {"enum": ["sun", "rain"]},
                              "temp": {"type": "integer", "minimum": 10, "maximum": 39}}})",
          R"({"type": "array", "minItems": 2, "maxItems": 5, "items": {"type": "number",
               "exclusiveMinimum": 0, "maximum": 1.5}})",
          R"({"anyOf": [{"type": "string", "minLength": 12, "maxLength": 14},
                         {"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 100}]})",
          R"({"$defs": {"item": {"type": "object", "required": ["id"], "properties": {
                 "id": {"type": "string", "pattern": "^#[0-9]{6}$"},
                 "next": {"anyOf": [{"$ref": "#/$defs/item"}, {"type": "null"}]}}}},
               "$ref": "#/$defs/item"})",
          R"({"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
                         {"required": ["b"], "properties": {"b": {"type": "boolean"}}}]})",
          R"({"type": ["integer", "null"], "maximum": -5})",
          R"({"type": "object", "required": ["when"], "properties": {
                 "when": {"type": "string", "format": "date-time"}}})",
      }) {
    const Json schema = ParseJson(text).value();
    const auto compiled = JsonSchema::Compile(schema).value();
    std::set<std::string> seen;
    for (uint64_t i = 0; i < 200; ++i) {
      Rng rng = Rng(3).Split(i);
      const auto value = SampleFromSchema(schema, &rng);
      ASSERT_TRUE(value.has_value()) << text;
      EXPECT_TRUE(compiled.Check(*value).empty()) << DumpJson(*value) << " for " << text;
      seen.insert(DumpJson(*value));
    }
    EXPECT_GT(seen.size(), 3u) << text;
  }
}

TEST(SchemaSampler, TheSameStreamGivesTheSameValue) {
  const Json schema = ParseJson(R"({"type": "array", "items": {"type": "string"}})").value();
  Rng a = Rng(9).Split("x"), b = Rng(9).Split("x");
  EXPECT_EQ(SampleFromSchema(schema, &a), SampleFromSchema(schema, &b));
}

TEST(SchemaSampler, WhatAllowsNothingOrNeverEndsIsNothing) {
  for (const char* text : {
           "false",
           R"({"enum": []})",
           R"({"$ref": "#"})",
           R"({"$ref": "#/nowhere"})",
           R"({"type": "integer", "minimum": 5, "maximum": 4})",
           R"({"type": "klingon"})",
           R"j({"type": "string", "pattern": "(?=a)"})j",
           R"({"type": "object", "required": ["a"], "properties": {"a": false}})",
       }) {
    Rng rng(1);
    EXPECT_FALSE(SampleFromSchema(ParseJson(text).value(), &rng).has_value()) << text;
  }
}

}  // namespace
}  // namespace hone
