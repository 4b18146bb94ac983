#include "envs/study/readings.h"

#include <gtest/gtest.h>

namespace hone::study {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kText =
    "Ada Kell: Comes from Port Ellis. Born 1874. Trade: glazier.\n"
    "Port Ellis: in Doria, 4520 people, mayor Ada Kell.";

TEST(ReadingsTest, ValuesAreOfTheSameSort) {
  EXPECT_EQ(ValuesLike("1911", kText), (Texts{"1874", "4520"}));
  EXPECT_EQ(ValuesLike("Bren Moss", kText), (Texts{"Ada Kell", "Port Ellis"}));
  EXPECT_EQ(ValuesLike("Norland", kText), Texts{"Doria"});
  EXPECT_EQ(ValuesLike("baker", kText), Texts{"glazier"});
  EXPECT_EQ(ValuesLike("", kText),
            (Texts{"Ada Kell", "Port Ellis", "1874", "glazier", "Doria", "4520"}));
  EXPECT_EQ(ValuesLike("5", ""), Texts{});
}

TEST(ReadingsTest, NumbersAndSharedWords) {
  EXPECT_EQ(NumbersIn("What is 3 plus 14?"), (Texts{"3", "14"}));
  EXPECT_TRUE(SharesAWord("Ada Kell", "Kell Mills"));
  EXPECT_FALSE(SharesAWord("Ada Kell", "Ida Kelly"));
}

}  // namespace
}  // namespace hone::study
