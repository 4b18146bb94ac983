#include "tools/openapi/openapi_schema.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// The schema, written out from a document with these components.
std::string Written(const char* schema, const char* components, const char* version = "3.0.3") {
  const Json document = Json::Of(
      {{"openapi", version}, {"components", Json::Of({{"schemas", *ParseJson(components)}})}});
  const Result<Json> written = OpenApiSchemas(document).WriteOut(*ParseJson(schema));
  return written.ok() ? DumpJson(*written) : written.error().message();
}

TEST(OpenApiSchemas, ReferencesAreWrittenOut) {
  EXPECT_EQ(Written(R"({"type":"array","items":{"$ref":"#/components/schemas/A"}})",
                    R"({"A":{"properties":{"b":{"$ref":"#/components/schemas/a~1b%20c"}}},
                        "a/b c":{"type":"string","example":"x"}})"),
            R"({"type":"array","items":{"properties":{"b":{"type":"string"}}}})");
  EXPECT_EQ(Written(R"({"$ref":"#/components/schemas/A","description":"mine"})",
                    R"({"A":{"type":"string","description":"its"}})"),
            R"({"type":"string","description":"mine"})");
}

TEST(OpenApiSchemas, ACircleIsCutAndSaysSo) {
  EXPECT_EQ(Written(R"({"$ref":"#/components/schemas/Tree"})",
                    R"({"Tree":{"properties":{"left":{"$ref":"#/components/schemas/Tree"},
                                              "right":{"$ref":"#/components/schemas/Tree"}}}})"),
            R"({"properties":{"left":{"description":"again Tree, which contains itself"},)"
            R"("right":{"description":"again Tree, which contains itself"}}})");
  EXPECT_EQ(
      Written(R"({"$ref":"#/components/schemas/A"})", R"({"A":{"$ref":"#/components/schemas/A"}})"),
      R"({"description":"again A, which contains itself"})");
}

TEST(OpenApiSchemas, OldSpellingsAreTranslated) {
  const char* schema =
      R"({"type":"integer","nullable":true,"minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false,"enum":[1,2]})";
  EXPECT_EQ(Written(schema, "{}"),
            R"({"type":["integer","null"],"maximum":9,"enum":[1,2,null],"exclusiveMinimum":1})");
  EXPECT_EQ(Written(R"({"exclusiveMinimum":1})", "{}", "3.1.0"), R"({"exclusiveMinimum":1})");
  // A property may be called like a keyword.
  EXPECT_EQ(
      Written(R"({"properties":{"example":{"type":"string"},"nullable":{"nullable":true}}})", "{}"),
      R"({"properties":{"example":{"type":"string"},"nullable":{}}})");
}

TEST(OpenApiSchemas, NumbersAndBooleansWrittenAsTextsAreSuch) {
  EXPECT_EQ(Written(R"({"additionalProperties":"true"})", "{}"),
            R"({"additionalProperties":true})");
  EXPECT_EQ(Written(R"({"type":"integer","minimum":"0","default":"20","enum":["-1","5"]})", "{}"),
            R"({"type":"integer","minimum":0,"default":20,"enum":[-1,5]})");
  EXPECT_EQ(Written(R"({"type":"string","default":"20","enum":["-1"],"minLength":"x"})", "{}"),
            R"({"type":"string","default":"20","enum":["-1"],"minLength":"x"})");
}

TEST(OpenApiSchemas, WhatCannotBeFollowedIsNamed) {
  EXPECT_NE(Written(R"({"$ref":"other.json#/A"})", "{}").find("another document"),
            std::string::npos);
  EXPECT_NE(Written(R"({"$ref":"#/components/schemas/None"})", "{}").find("leads to nothing"),
            std::string::npos);
  EXPECT_NE(Written("3", "{}").find("must be an object"), std::string::npos);
  // Each contains the next twice: written out it would be a billion.
  Json doubling = Json::Of({});
  for (int i = 0; i < 30; ++i) {
    const std::string next = "#/components/schemas/s" + std::to_string(i + 1);
    const Json reference = Json::Of({{"$ref", next}});
    doubling.Set("s" + std::to_string(i),
                 Json::Of({{"properties", Json::Of({{"a", reference}, {"b", reference}})}}));
  }
  doubling.Set("s30", Json::Of({}));
  EXPECT_NE(Written(R"({"$ref":"#/components/schemas/s0"})", DumpJson(doubling).c_str())
                .find("too large"),
            std::string::npos);
}

TEST(OpenApiSchemas, FollowingGoesThroughSeveralButNotInCircles) {
  const Json document = *ParseJson(
      R"({"openapi":"3.1.0","a":{"$ref":"#/b"},"b":{"$ref":"#/c/0"},"c":[{"x":1}],"loop":{"$ref":"#/loop"}})");
  const OpenApiSchemas schemas(document);
  EXPECT_EQ(**schemas.Follow(*document.Find("a")), Json::Of({{"x", 1}}));
  EXPECT_NE(schemas.Follow(*document.Find("loop")).error().message().find("circle"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
