#include "tools/openapi/yaml.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Yaml, ReadsWhatJsonCanSay) {
  const auto value = ParseYaml(R"(
openapi: 3.0.1
count: 3
big: 123456789012345678901234567890
part: -1.5e3
on: yes
flag: true
nothing: ~
empty:
quoted: "12"
single: 'true'
zero: 010
list: [a, 2, {b: c}]
200: code
text: |
  two
  lines
base: &shared {x: 1}
again: *shared
)");
  ASSERT_TRUE(value.ok()) << value.error().message();
  EXPECT_EQ(DumpJson(*value),
            R"({"openapi":"3.0.1","count":3,"big":123456789012345678901234567890,"part":-1500.0,)"
            R"("on":"yes","flag":true,"nothing":null,"empty":null,"quoted":"12","single":"true",)"
            R"("zero":"010","list":["a",2,{"b":"c"}],"200":"code","text":"two\nlines\n",)"
            R"("base":{"x":1},"again":{"x":1}})");
}

TEST(Yaml, BadTextIsAnErrorWithItsLine) {
  EXPECT_NE(ParseYaml("a: 1\nb: [").error().message().find("line"), std::string::npos);
  EXPECT_EQ(ParseYaml("a: 1\na: 2").error().message(), "line 2: the key \"a\" is there twice");
  EXPECT_FALSE(ParseYaml("\xff").ok());
  EXPECT_FALSE(ParseYaml("[a]: 1").ok());
  EXPECT_FALSE(ParseYaml(std::string(5000, '[')).ok());
  EXPECT_FALSE(ParseYaml("a: &a [*a]").ok());
  // Nine lines that would be a billion values.
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? ",*a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_NE(ParseYaml(bomb).error().message().find("too many values"), std::string::npos);
}

}  // namespace
}  // namespace hone
