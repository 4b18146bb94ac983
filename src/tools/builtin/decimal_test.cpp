#include "tools/builtin/decimal.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace hone {
namespace {

Decimal D(std::string_view text) { return Decimal::Parse(text).value(); }

TEST(Decimal, IsExactWhereItCanBe) {
  EXPECT_EQ(Add(D("0.1"), D("0.2"))->Text(), "0.3");
  EXPECT_EQ(Multiply(D("1.10"), D("-3"))->Text(), "-3.3");
  EXPECT_EQ(Subtract(D("1000000000"), D("0.000000001"))->Text(), "999999999.999999999");
  EXPECT_EQ(Divide(D("1"), D("8"))->Text(), "0.125");
  EXPECT_EQ(Power(D("2"), 100)->Text(), "1267650600228229401496703205376");
  EXPECT_EQ(Power(D("0.5"), -3)->Text(), "8");
  EXPECT_EQ(SquareRoot(D("1.44"))->Text(), "1.2");
  EXPECT_EQ(D("-0.0").Text(), "0");
  EXPECT_EQ(D("1e3").Text(), "1000");
  EXPECT_EQ(D("12.5e-3").Text(), "0.0125");
}

TEST(Decimal, RoundsToFiftyDigitsWhereItMust) {
  EXPECT_EQ(Divide(D("1"), D("3"))->Text(), "0." + std::string(50, '3'));
  EXPECT_EQ(Divide(D("2"), D("3"))->Text(), "0." + std::string(49, '6') + "7");
  EXPECT_EQ(SquareRoot(D("2"))->Text(), "1.4142135623730950488016887242096980785696718753769");
}

TEST(Decimal, FloorsAndRoundsAsPythonDoes) {
  EXPECT_EQ(D("-1.5").Floor().Text(), "-2");
  EXPECT_EQ(D("1.5").Floor().Text(), "1");
  EXPECT_EQ(D("2.5").Rounded(0).Text(), "2");
  EXPECT_EQ(D("3.5").Rounded(0).Text(), "4");
  EXPECT_EQ(D("-2.675").Rounded(2).Text(), "-2.68");
  EXPECT_EQ(D("1250").Rounded(-2).Text(), "1200");
}

TEST(Decimal, RefusesWhatIsNoNumberOrTooLong) {
  for (const char* text : {"", "-", ".", "1.2.3", "1e", "0x10", "1 2", "١"}) {
    EXPECT_FALSE(Decimal::Parse(text).ok()) << text;
  }
  EXPECT_FALSE(Power(D("9"), 387420489).ok());
  EXPECT_FALSE(Decimal::Parse("1e999999").ok());
  EXPECT_FALSE(Divide(D("1"), D("0")).ok());
  EXPECT_FALSE(SquareRoot(D("-1")).ok());
}

// Whole numbers of 31 bits and their quotients, against the machine's.
TEST(Decimal, AgreesWithTheMachine) {
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const auto a = static_cast<int64_t>(rng.Below(1u << 31)) - (1 << 30);
    const auto b = static_cast<int64_t>(rng.Below(1u << 20)) - (1 << 19);
    EXPECT_EQ(Add(a, b)->Text(), std::to_string(a + b));
    EXPECT_EQ(Multiply(a, b)->Text(), std::to_string(a * b));
    EXPECT_EQ(Compare(a, b), a < b ? -1 : a > b ? 1 : 0);
    if (b == 0) continue;
    const Decimal quotient = *Divide(a, b);
    EXPECT_NEAR(std::stod(quotient.Text()), static_cast<double>(a) / static_cast<double>(b),
                1e-9 * std::abs(static_cast<double>(a)));
    EXPECT_EQ(Multiply(*Divide(*Multiply(a, b), b), 1)->Text(), std::to_string(a));
  }
}

}  // namespace
}  // namespace hone
