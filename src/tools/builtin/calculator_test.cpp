#include "tools/builtin/calculator.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::string Of(std::string_view expression) {
  const auto value = Calculate(expression);
  return value.ok() ? *value : value.error().message();
}

TEST(Calculator, ComputesAsPeopleDo) {
  EXPECT_EQ(Of("0.1 + 0.2"), "0.3");
  EXPECT_EQ(Of("2 + 3 * 4 ^ 2 / 8"), "8");
  EXPECT_EQ(Of("-2^2"), "-4");
  EXPECT_EQ(Of("2^3^2"), "512");
  EXPECT_EQ(Of("2 ** -2"), "0.25");
  EXPECT_EQ(Of("(1 + 2) * (3 - -4)"), "21");
  EXPECT_EQ(Of("17 // 5 + 17 % 5"), "5");
  EXPECT_EQ(Of("-7 // 2"), "-4");
  EXPECT_EQ(Of("-7 % 3"), "2");
  EXPECT_EQ(Of("10^60 // 3 * 3 + 10^60 % 3 - 10^60"), "0");
  EXPECT_EQ(Of("7.5 % 0.2"), "0.1");
  EXPECT_EQ(Of("1.5e3 - 1e-3"), "1499.999");
  EXPECT_EQ(Of("round(2.675, 2) + ceil(1.2) + floor(-1.2) + abs(-3)"), "5.68");
  EXPECT_EQ(Of("max(1, 3, 2) - min(4, 0.5)"), "2.5");
  EXPECT_EQ(Of("sqrt(144) + 9 ** 0.5"), "15");
  EXPECT_EQ(Of("round(pi, 5)"), "3.14159");
  EXPECT_EQ(Of("99999999999999999999 * 99999999999999999999"),
            "9999999999999999999800000000000000000001");
}

TEST(Calculator, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(Of("1 + "), "at character 5: expected a number, found the end");
  EXPECT_EQ(Of("2 $ 3"), "at character 3: expected an operator, found \"$\"");
  EXPECT_EQ(Of("(1 + 2"), "at character 7: expected \")\", found the end");
  EXPECT_EQ(Of("1 / 0"), "division by zero");
  EXPECT_NE(Of("sin(1)").find("there is no function sin"), std::string::npos);
  EXPECT_NE(Of("x + 1").find("expected a number, pi, e or a function"), std::string::npos);
  EXPECT_NE(Of("9^9^9").find("more than"), std::string::npos);
  EXPECT_NE(Of(std::string(3000, '(')).find("deeply"), std::string::npos);
  EXPECT_NE(Of(std::string(3000, '-') + "1").find("deeply"), std::string::npos);
  EXPECT_NE(Of(std::string(5000, '1')).find("characters"), std::string::npos);
  EXPECT_NE(Of("").find("expected a number"), std::string::npos);
}

}  // namespace
}  // namespace hone
