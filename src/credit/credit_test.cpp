#include "credit/credit.h"

#include <gtest/gtest.h>

#include "support/credit_groups.h"

namespace hone {
namespace {

TEST(CreditBuilder, LayersHoldWhatEachAddedAndReplaced) {
  const ShortGroup made = GroupFrom(GroupOfPlain({"1", "0"}));
  const Group group = *GroupOf(made.record);
  CreditBuilder builder(group, true);
  builder.Open("a");
  builder.Add(0, {0, 2}, 1);
  EXPECT_TRUE(builder.TakesPart(0));
  EXPECT_FALSE(builder.TakesPart(1));
  builder.Open("b");
  builder.AddEach(0, std::vector<float>{0.5f, 0});
  builder.Open("c");
  builder.Replace(0, {3, 3});
  builder.Remark(NoteKind::kMasked, 0, "why");
  const Credit credit = std::move(builder).Take();
  EXPECT_EQ(credit.advantages[0].values, (std::vector<float>{3, 3}));
  EXPECT_EQ(credit.layers[1].advantages[0].values, (std::vector<float>{0.5f, 0}));
  EXPECT_EQ(credit.layers[2].advantages[0].values, (std::vector<float>{1.5f, 2}));
  EXPECT_EQ(credit.notes[0], (Note{NoteKind::kMasked, 0, "c", "why"}));
}

TEST(CreditBuilder, EveryKindOfNoteHasAName) {
  for (int kind = 0; kind <= static_cast<int>(NoteKind::kNothingToRead); ++kind) {
    EXPECT_FALSE(NoteKindName(static_cast<NoteKind>(kind)).empty());
  }
}

}  // namespace
}  // namespace hone
