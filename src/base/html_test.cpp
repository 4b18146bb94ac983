#include "base/html.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(HtmlTest, TextCannotBecomeMarkup) {
  EXPECT_EQ(EscapeHtml("<a href=\"x\">R&D</a>"), "&lt;a href=&quot;x&quot;&gt;R&amp;D&lt;/a&gt;");
}

TEST(HtmlTest, APageStandsAlone) {
  const std::string page = HtmlPage("1 < 2", ".x { }", "<p>hello</p>\n");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("<title>1 &lt; 2</title>"), std::string::npos);
  EXPECT_NE(page.find(".x { }"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

}  // namespace
}  // namespace hone
