#include "tools/builtin/builtin.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Builtin, ArgumentsOfAnotherKindAreAbsent) {
  const Json arguments = *ParseJson(
      R"({"text": "a", "number": 3, "whole": 4.0, "part": 4.5, "huge": 1e300, "big": 123456789012345678901})");
  EXPECT_EQ(TextArgument(arguments, "text"), "a");
  EXPECT_EQ(TextArgument(arguments, "number"), "");
  EXPECT_EQ(TextArgument(arguments, "nothing"), "");
  EXPECT_EQ(TextArgument(Json(Json::Array{}), "text"), "");
  EXPECT_EQ(IntegerArgument(arguments, "number", 7), 3);
  EXPECT_EQ(IntegerArgument(arguments, "whole", 7), 4);
  for (const char* key : {"text", "part", "huge", "big", "nothing"}) {
    EXPECT_EQ(IntegerArgument(arguments, key, 7), 7) << key;
  }
}

TEST(Builtin, SpecsAreReadFromTheirText) {
  const auto specs =
      BuiltinSpecs(R"([{"name": "a"}, {"name": "b", "x-hone": {"effect": "pure"}}])");
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[1].effect, Effect::kPure);
}

}  // namespace
}  // namespace hone
