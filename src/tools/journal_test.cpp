#include "tools/journal.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {
TEST(JournalTest, Smoke) {
  TemporaryDirectory d;
  auto j = Journal::Open(d.path() / "j.sqlite");
  ASSERT_TRUE(j.ok()) << j.error().message();
  JournalEntry e;
  e.identity = {"r", "t", "0", 1, 2};
  e.result.call = 2;
  e.content.arguments = Json::Of({{"a", 1}});
  e.content.tool = "x";
  e.source = "tool";
  e.attempts = {{CallStatus::kOk, "", 0, ""}};
  auto f = (*j)->Finish(e);
  ASSERT_TRUE(f.ok()) << f.error().message();
  EXPECT_TRUE((*j)->Finish(e).ok());
  EXPECT_EQ((*j)->Find(e.identity)->entry, e);
  EXPECT_EQ(*(*j)->FindByContent(e.content), e);
  e.result.content = "z";
  EXPECT_FALSE((*j)->Finish(e).ok());
}
}  // namespace
}  // namespace hone
