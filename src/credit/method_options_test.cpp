#include "credit/method_options.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(MethodOptions, AskedForByTypeWithDefaults) {
  MethodOptions options = *MethodOptions::Parse("gamma=0.5, mode=b,names=x+y ,flag=no");
  EXPECT_EQ(options.Number("gamma", 1, 0, 1), 0.5);
  EXPECT_EQ(options.Number("lambda", 0.9), 0.9);
  EXPECT_EQ(options.Choice("mode", {"a", "b"}, "a"), "b");
  EXPECT_EQ(options.Names("names", {}), (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(options.Flag("flag", true));
  EXPECT_TRUE(options.Check("m").ok());
  EXPECT_EQ(options.asked()[1], "lambda=0.9");
}

TEST(MethodOptions, ProblemsAreSaidOnceAsked) {
  for (const char* text : {"gamma", "=1", "a=1,a=2"}) {
    EXPECT_FALSE(MethodOptions::Parse(text).ok()) << text;
  }
  for (const char* text : {"gamma=x", "gamma=2", "gamma=nan", "gamma=", "gamma=1e999", "other=1"}) {
    MethodOptions options = *MethodOptions::Parse(text);
    options.Number("gamma", 1, 0, 1);
    EXPECT_FALSE(options.Check("m").ok()) << text;
  }
}

}  // namespace
}  // namespace hone
