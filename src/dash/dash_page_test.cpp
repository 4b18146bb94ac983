#include "dash/dash_page.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(DashPageTest, ThereIsAWholePageOrNone) {
  EXPECT_EQ(FindPageFile("/").has_value(), HasPage());
  EXPECT_EQ(FindPageFile("/dash.js").has_value(), HasPage());
  EXPECT_EQ(FindPageFile("/dash.css").has_value(), HasPage());
  EXPECT_NE(HowToGetThePage().find("npm"), std::string_view::npos);
}

TEST(DashPageTest, NoOtherPathIsAFile) {
  for (const char* path : {"", "/index.html", "//", "/dash.js/", "/../dash.js", "/etc/passwd"}) {
    EXPECT_FALSE(FindPageFile(path)) << path;
  }
}

TEST(DashPageTest, ThePageNeedsNothingFromElsewhere) {
  if (!HasPage()) GTEST_SKIP() << HowToGetThePage();
  const std::string_view html = FindPageFile("/")->content;
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
  EXPECT_NE(html.find("src=\"/dash.js\""), std::string_view::npos);
  EXPECT_NE(html.find("href=\"/dash.css\""), std::string_view::npos);
  EXPECT_EQ(html.find("src=\"http"), std::string_view::npos);
  const std::string_view css = FindPageFile("/dash.css")->content;
  EXPECT_EQ(css.find("url("), std::string_view::npos);
  EXPECT_EQ(css.find("@import"), std::string_view::npos);
}

}  // namespace
}  // namespace hone
