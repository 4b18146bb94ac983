#include "base/fetch/web_address.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(WebAddress, ARedirectIsNeverFollowedFromHttpsToHttpHoweverTheSchemeIsWritten) {
  for (const char* from : {"https://host/a", "HTTPS://host/a", "Https://host/a"}) {
    for (const char* to : {"http://host/b", "HTTP://host/b", "ftp://host/b", "//host/b", "b", ""}) {
      const auto target = RedirectTarget(from, to);
      ASSERT_FALSE(target.ok()) << from << " " << to;
      EXPECT_EQ(target.error().code(), ErrorCode::kUnavailable);
      EXPECT_NE(target.error().message().find("which is not followed"), std::string::npos);
    }
    EXPECT_EQ(*RedirectTarget(from, "HTTPS://other/b"), "HTTPS://other/b");
  }
  EXPECT_EQ(*RedirectTarget("http://host:1/a", "HTTP://other/b"), "HTTP://other/b");
  EXPECT_EQ(*RedirectTarget("HTTP://host:1/a", "/b"), "HTTP://host:1/b");
}

TEST(WebAddress, BeginsWithItsScheme) {
  EXPECT_TRUE(IsWebAddress("HTTPS://host"));
  EXPECT_TRUE(IsWebAddress("http://host"));
  for (const char* other : {"models/x", "/models/x", "file:///x", "http", "http:/x", ""}) {
    EXPECT_FALSE(IsWebAddress(other)) << other;
  }
}

}  // namespace
}  // namespace hone
