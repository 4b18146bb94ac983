#include "text/jinja/jinja_run.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(JinjaRunTest, WorkIsPaidUntilNoneIsLeft) {
  JinjaRun run({.work = 10}, 0);
  EXPECT_TRUE(run.Charge(6).ok());
  EXPECT_FALSE(run.Charge(5).ok());
  EXPECT_TRUE(run.Charge(4).ok());
  EXPECT_FALSE(run.ChargeText(0).ok());
}

TEST(JinjaRunTest, ArgumentsFindTheirParameters) {
  const JinjaArguments arguments{{JinjaValue(1)}, {{"c", JinjaValue(3)}}};
  const auto bound = BindArguments("f", arguments, {"a", "b", "c"}, 1).value();
  EXPECT_EQ(bound[0]->AsInteger(), 1);
  EXPECT_FALSE(bound[1].has_value());
  EXPECT_EQ(bound[2]->AsInteger(), 3);
  EXPECT_EQ(BindArguments("f", arguments, {"a", "c", "b"}, 3).error().message(),
            "f() wants the argument 'b'");
  EXPECT_EQ(BindArguments("f", arguments, {"c"}, 0).error().message(),
            "f() got the argument 'c' twice");
  EXPECT_EQ(BindArguments("f", arguments, {"a"}, 0).error().message(), "f() has no parameter 'c'");
  EXPECT_EQ(BindArguments("f", arguments, {}, 0).error().message(),
            "f() takes at most 0 arguments, not 1");
}

}  // namespace
}  // namespace hone
