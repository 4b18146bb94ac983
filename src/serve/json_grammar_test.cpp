#include "serve/json_grammar.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/utf8.h"
#include "tools/json_schema.h"

namespace hone {
namespace {

Json Parsed(std::string_view text) { return ParseJson(text).value(); }

bool Takes(const Json& schema, std::string_view text) {
  Grammar grammar;
  const auto rule = JsonTexts(schema, SchemaForm::kStrict, &grammar);
  EXPECT_TRUE(rule.ok()) << rule.error().message();
  GrammarMatcher matcher(&grammar, *rule);
  GrammarMatcher::State state = matcher.start();
  for (const char byte : text) state = matcher.Next(state, static_cast<unsigned char>(byte));
  return state != GrammarMatcher::kNowhere && matcher.Accepts(state);
}

// A text of the grammar, byte by byte at random; it ends where it may, sooner or later.
std::string RandomText(GrammarMatcher* matcher, Rng* rng) {
  std::string text;
  GrammarMatcher::State state = matcher->start();
  while (text.size() < 20000) {
    if (matcher->Accepts(state) && rng->Below(4) == 0) return text;
    std::vector<unsigned char> next, closing;
    for (int byte = 0; byte < 256; ++byte) {
      if (matcher->Next(state, static_cast<unsigned char>(byte)) == GrammarMatcher::kNowhere) {
        continue;
      }
      next.push_back(static_cast<unsigned char>(byte));
      if (byte == '"' || byte == '}' || byte == ']') closing.push_back(next.back());
    }
    if (next.empty()) return text;
    // Texts, lists and objects end now and then, or they would go on for ever.
    const bool close = !closing.empty() && rng->Below(3) == 0;
    const std::vector<unsigned char>& from = close ? closing : next;
    text += static_cast<char>(from[rng->Below(from.size())]);
    state = matcher->Next(state, static_cast<unsigned char>(text.back()));
  }
  return text;
}

constexpr const char* kPerson = R"({"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 12},
    "age": {"type": "integer"},
    "height": {"type": "number"},
    "mood": {"enum": ["glad", "sad", null, 3]},
    "tags": {"type": "array", "items": {"type": ["string", "boolean"]}, "minItems": 1,
             "maxItems": 3},
    "friend": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
    "required": ["name", "mood"], "additionalProperties": false})";

TEST(JsonGrammar, WhateverIsWrittenFitsTheSchema) {
  Rng rng(7);
  for (const char* text :
       {kPerson, R"({"type": "string", "minLength": 2, "maxLength": 5})", R"({"type": "array"})",
        R"({"type": "object", "additionalProperties": {"type": "integer"}})", "{}",
        R"({"$ref": "#/$defs/list", "$defs": {"list": {"type": "array", "items":
            {"anyOf": [{"$ref": "#/$defs/list"}, {"const": {"a": [1, "x"]}}]}}}})"}) {
    const Json schema = Parsed(text);
    const auto compiled = JsonSchema::Compile(schema);
    ASSERT_TRUE(compiled.ok()) << compiled.error().message();
    Grammar grammar;
    const auto rule = JsonTexts(schema, SchemaForm::kStrict, &grammar);
    ASSERT_TRUE(rule.ok()) << rule.error().message();
    GrammarMatcher matcher(&grammar, *rule);
    int whole = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string made = RandomText(&matcher, &rng);
      if (made.size() >= 20000) continue;  // cut off
      ++whole;
      EXPECT_TRUE(IsUtf8(made));
      const auto value = ParseJson(made);
      ASSERT_TRUE(value.ok()) << value.error().message() << "\n" << made;
      EXPECT_TRUE(compiled->Check(*value).empty()) << made;
    }
    EXPECT_GT(whole, 150) << text;
  }
}

TEST(JsonGrammar, MembersComeInTheirOrderAndOptionalOnesMayBeLeftOut) {
  const Json person = Parsed(kPerson);
  for (const char* fits :
       {R"({"name":"Ana","mood":"sad"})", R"({"name": "Ana", "mood": null})",
        R"({"name":"","age":-7,"height":1.5e3,"mood":3,"tags":["x",true]})",
        R"({"name":"é\n\u00e9","mood":"glad","friend":{"name":"B","mood":3}})"}) {
    EXPECT_TRUE(Takes(person, fits)) << fits;
  }
  for (const char* not_so :
       {R"({"mood":"sad","name":"Ana"})", R"({"name":"Ana"})", R"({"name":"Ana","mood":"bad"})",
        R"({"name":"Ana","mood":"sad",})", R"({"name":"Ana","mood":"sad","more":1})",
        R"({"name":"Ana","mood":"sad","tags":[]})", R"({"name":"Ana","age":1.5,"mood":3})",
        R"({"name":"Ana","age":01,"mood":3})", R"({ "name":"Ana","mood":3})",
        R"({"name":"Ana  very long name","mood":3})", "{\"name\":\"\xff\",\"mood\":3}"}) {
    EXPECT_FALSE(Takes(person, not_so)) << not_so;
  }
  EXPECT_TRUE(Takes(Parsed(R"({"type": "object", "properties": {}})"), "{}"));
  EXPECT_TRUE(Takes(Parsed(R"({"type": "object"})"), R"({"any": [1, {"thing": null}]})"));
}

TEST(JsonGrammar, WhatCannotBeKeptToIsNamed) {
  Grammar grammar;
  for (const auto& [schema, part] : std::vector<std::pair<const char*, const char*>>{
           {R"({"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}})",
            "#/properties/a says `pattern`"},
           {R"({"oneOf": [{"type": "string"}]})", "`oneOf`"},
           {R"({"type": "strnig"})", "#/type is unknown: strnig"},
           {R"({"$ref": "#/$defs/nothing"})", "what is not there"},
           {R"({"$ref": "other.json"})", "outside of the schema"},
           {R"({"type": "object", "properties": {"a": {}}, "required": ["b"]})", "no property"},
           {R"({"type": "string", "minLength": 5, "maxLength": 2})", "maxLength below minLength"},
           {R"({"type": "string", "maxLength": 1000000})", "counts further"},
           {R"({"enum": []})", "no values"}}) {
    const auto read = JsonTexts(Parsed(schema), SchemaForm::kStrict, &grammar);
    ASSERT_FALSE(read.ok()) << schema;
    EXPECT_NE(read.error().message().find(part), std::string::npos) << read.error().message();
  }
  Json::Array many(2000, Json("x"));
  EXPECT_FALSE(
      JsonTexts(Json::Of({{"enum", std::move(many)}}), SchemaForm::kStrict, &grammar).ok());
  EXPECT_TRUE(
      JsonTexts(Parsed(R"({"type": "integer", "minimum": 3})"), SchemaForm::kLoose, &grammar).ok());
}

}  // namespace
}  // namespace hone
