#include "credit/filters.h"

#include <gtest/gtest.h>

#include "credit/methods.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

TEST(Filters, TheGroupsThatSpreadMostStayAndAnEmptyBatchIsNoNumber) {
  std::vector<ShortGroup> made;
  for (const char* high : {"1", "9", "5", "3"})
    made.push_back(GroupFrom(GroupOfPlain({"0", high})));
  std::vector<CreditInput> batch;
  for (const ShortGroup& group : made) batch.push_back({&group.record, nullptr});
  const auto quarter = AssignCredit(*NewMethod("starpo-s"), batch);
  ASSERT_TRUE(quarter.ok());
  for (size_t g = 0; g < 4; ++g) {
    EXPECT_EQ(HasNote((*quarter)[g], NoteKind::kGroupDropped), g != 1) << g;
  }
  const auto none = AssignCredit(*NewMethod("starpo-s:keep=0"), batch);
  ASSERT_TRUE(none.ok());
  for (const Credit& credit : *none) EXPECT_EQ(credit.advantages[1].values[0], 0);
}

TEST(Filters, CutOffAndRepetitiveTrajectoriesAreMaskedAfterTheStatistics) {
  std::string ids;
  for (int i = 0; i < 400; ++i) ids += (i > 0 ? "," : "") + std::to_string(i % 7);
  const Credit credit = CreditOf(
      "spear",
      R"({"group":[{"terms":{"outcome":0},"turns":[{"tokens":[)" + ids +
          R"(]}]},{"terms":{"outcome":0},"turns":[{"tokens":2}],"ending":"token_limit"},)" +
          Plain("1") + "]}");
  EXPECT_TRUE(HasNote(credit, NoteKind::kMasked, 0));
  EXPECT_TRUE(HasNote(credit, NoteKind::kMasked, 1));
  EXPECT_NEAR(credit.advantages[2].values[0], 2.0 / 3, 1e-6) << "their zeros still count";
}

}  // namespace
}  // namespace hone
