#include "tools/fault_content.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/utf8.h"

namespace hone {
namespace {

TEST(FaultContent, TruncatedIsAProperPrefixOfWholeCharacters) {
  const std::string content = R"({"a":"é漢🙂","b":[1,2,3]})";
  for (uint64_t i = 0; i < 200; ++i) {
    const std::string cut = Truncated(content, Rng(1).Split(i));
    EXPECT_TRUE(content.starts_with(cut));
    EXPECT_LT(cut.size(), content.size());
    EXPECT_TRUE(IsUtf8(cut));
  }
  EXPECT_EQ(Truncated("", Rng(1)), "");
  EXPECT_EQ(Truncated("x", Rng(1)), "");
}

TEST(FaultContent, WrongTypeChangesOneTypeAndKeepsTheRest) {
  const Json before = ParseJson(R"({"a":1,"b":true,"c":null,"d":[1.5],"e":"x"})").value();
  for (uint64_t i = 0; i < 100; ++i) {
    const Json after = ParseJson(WithWrongType(DumpJson(before), Rng(2).Split(i))).value();
    int changed = 0;
    for (const char* key : {"a", "b", "c", "d", "e"}) {
      changed += *before.Find(key) != *after.Find(key);
    }
    EXPECT_EQ(changed, 1);
  }
  EXPECT_EQ(WithWrongType("fog", Rng(1)), "null");
  EXPECT_EQ(WithWrongType("5", Rng(1)), "\"5\"");
}

TEST(FaultContent, RenamedFieldKeepsAllValues) {
  const std::string content = R"({"user_id":1,"userId":2,"list":[{"x":3}]})";
  for (uint64_t i = 0; i < 50; ++i) {
    const std::string after = WithRenamedField(content, Rng(3).Split(i));
    EXPECT_NE(after, content);
    const Result<Json> parsed = ParseJson(after);  // no name twice
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->AsObject().size(), 3u);
  }
  EXPECT_EQ(WithRenamedField("7", Rng(1)), R"({"result":7})");
  EXPECT_EQ(WithRenamedField("fog", Rng(1)), R"({"result":"fog"})");
}

TEST(FaultContent, InstructionsGoIntoTheDataOrBehindIt) {
  EXPECT_EQ(WithInstruction(R"({"a":1})", "do x"), R"({"a":1,"note":"do x"})");
  EXPECT_EQ(WithInstruction("[1]", "do x"), "[1]\n\ndo x");
}

}  // namespace
}  // namespace hone
