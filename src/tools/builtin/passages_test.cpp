#include "tools/builtin/passages.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(PassageLines, AreOneLineEach) {
  const Passage passages[] = {
      {"Ada Kell", "a glazier"}, {"", "no title"}, {"A\nB", "two\r\nlines"}};
  EXPECT_EQ(PassageLines(passages), "Ada Kell: a glazier\nno title\nA B: two  lines");
  EXPECT_EQ(PassageLines({}), "");
}

}  // namespace
}  // namespace hone
