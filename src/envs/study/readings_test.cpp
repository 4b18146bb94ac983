#include "envs/study/readings.h"

#include <gtest/gtest.h>

#include "envs/study/library.h"

namespace hone::study {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kText =
    "Ada Kell: Comes from Port Ellis. Born 1874. Trade: glazier.\n"
    "Port Ellis: in Doria, 4520 people, mayor Ada Kell.";

TEST(ReadingsTest, ValuesAreOfTheSameSort) {
  EXPECT_EQ(ValuesOf(SortOf("1911"), kText), (Texts{"1874", "4520"}));
  EXPECT_EQ(ValuesOf(SortOf("Bren Moss"), kText), Texts{"Ada Kell"});
  EXPECT_EQ(ValuesOf(SortOf("New Larne"), kText), Texts{"Port Ellis"});
  EXPECT_EQ(ValuesOf(SortOf("Norland"), kText), Texts{"Doria"});
  EXPECT_EQ(ValuesOf(SortOf("baker"), kText), Texts{"glazier"});
  EXPECT_EQ(ValuesOf(SortOf(""), kText),
            (Texts{"Ada Kell", "Port Ellis", "1874", "glazier", "Doria", "4520"}));
  EXPECT_EQ(ValuesOf(Sort::kNumber, ""), Texts{});
}

TEST(ReadingsTest, OnlyWordsThatBeginNamesBeginNames) {
  const std::string_view text =
      "Lies in Doria. River Cald Water. Near South Varna. Post at Kell Bank.";
  EXPECT_EQ(ValuesOf(Sort::kRiver, text), Texts{"Cald Water"});
  EXPECT_EQ(ValuesOf(Sort::kTown, text), Texts{"South Varna"});
  EXPECT_EQ(ValuesOf(Sort::kCompany, text), Texts{"Kell Bank"});
  EXPECT_EQ(ValuesOf(Sort::kPerson, text), Texts{});
}

TEST(ReadingsTest, RelationsHaveTheSortOfTheirValues) {
  const Library library({});
  for (const Entity& entity : library.entities()) {
    for (const auto& [relation, value] : entity.facts) {
      ASSERT_EQ(SortOf(NoteOf(relation)), SortOf(value)) << entity.name << " " << value;
    }
  }
}

TEST(ReadingsTest, NumbersAndSharedWords) {
  EXPECT_EQ(NumbersIn("What is 3 plus 14?"), (Texts{"3", "14"}));
  EXPECT_TRUE(SharesAWord("Ada Kell", "Kell Mills"));
  EXPECT_FALSE(SharesAWord("Ada Kell", "Ida Kelly"));
}

}  // namespace
}  // namespace hone::study
