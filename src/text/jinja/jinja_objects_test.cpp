#include "text/jinja/jinja_objects.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(JinjaObjects, ALoopKnowsItsPlace) {
  JinjaRun run({}, 0);
  JinjaLoop loop({JinjaValue(7), JinjaValue(8)}, 1, &run);
  loop.GoTo(1);
  EXPECT_EQ(loop.Member("index")->AsInteger(), 2);
  EXPECT_EQ(loop.Member("revindex0")->AsInteger(), 0);
  EXPECT_EQ(loop.Member("previtem")->AsInteger(), 7);
  EXPECT_TRUE(loop.Member("nextitem")->is_undefined());
  EXPECT_TRUE(loop.Member("last")->AsBool());
  EXPECT_EQ(loop.Member("depth")->AsInteger(), 2);
  EXPECT_FALSE(loop.Member("nothing").has_value());
  EXPECT_TRUE(loop.Changed({JinjaValue(1)}));
  EXPECT_FALSE(loop.Changed({JinjaValue(1)}));
}

TEST(JinjaObjects, ANamespaceIsSet) {
  JinjaNamespace space({});
  EXPECT_FALSE(space.Member("a").has_value());
  space.Set("a", JinjaValue(1));
  space.Set("a", JinjaValue(2));
  EXPECT_EQ(space.Member("a")->AsInteger(), 2);
}

TEST(JinjaObjects, TimeIsWrittenAsOfADatetimeWithoutAZone) {
  EXPECT_EQ(FormatTime(1736942400, "%Y-%m-%d %H:%M %A"), "2025-01-15 12:00 Wednesday");
  EXPECT_EQ(FormatTime(0, "[%Z%z] %%Z"), "[] %Z");
  EXPECT_EQ(FormatTime(0, ""), "");
}

TEST(JinjaObjects, EveryTemplateHasTheseFunctions) {
  for (const char* name :
       {"range", "dict", "namespace", "cycler", "joiner", "raise_exception", "strftime_now"}) {
    EXPECT_NE(FindJinjaGlobal(name), nullptr) << name;
  }
  EXPECT_EQ(FindJinjaGlobal("open"), nullptr);
}

}  // namespace
}  // namespace hone
