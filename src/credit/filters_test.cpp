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

// ltzheng/SimpleTIR (execute_predictions): a turn is void without a whole code block and without an
// answer. One that was cut off inside a call is; one whose call is whole and cannot be read is not.
TEST(Filters, ATurnThatWasCutOffIsVoidAndAnUnreadableActionIsNot) {
  ShortGroup group = GroupFrom(R"({"group":[
      {"terms":{"outcome":0},"turns":[{"tokens":4,"faults":[{"begin":0,"end":4}]},{"tokens":2}]},
      {"terms":{"outcome":0},"turns":[{"tokens":4,"faults":[{"begin":0,"end":4}]},{"tokens":2}]},
      {"terms":{"outcome":0},"turns":[{"tokens":4,"calls":[{"begin":0,"end":2}],
                                       "faults":[{"begin":2,"end":4}]}]},
      {"terms":{"outcome":1},"turns":[{"tokens":2}]}]})");
  std::vector<Fault*> faults;
  for (Node& node : group.record.tree.nodes) {
    for (Fault& fault : node.faults) faults.push_back(&fault);
  }
  ASSERT_EQ(faults.size(), 3u);
  faults[0]->kind = FaultKind::kIncomplete;
  faults[1]->kind = FaultKind::kBadJson;
  faults[2]->kind = FaultKind::kIncomplete;
  const Credit credit = CreditOf("simpletir", group);
  EXPECT_TRUE(HasNote(credit, NoteKind::kMasked, 0)) << "cut off inside an action";
  EXPECT_FALSE(HasNote(credit, NoteKind::kMasked, 1)) << "whole, but unreadable";
  EXPECT_FALSE(HasNote(credit, NoteKind::kMasked, 2)) << "it has a whole call";
  EXPECT_FALSE(HasNote(credit, NoteKind::kMasked, 3));
  EXPECT_NEAR(credit.advantages[3].values[0], 0.75 / (0.5 + 1e-6), 1e-5) << "their zeros count";
}

TEST(Filters, CutOffTurnsCanBeMaskedWithAnyMethod) {
  ShortGroup group = GroupFrom(R"({"group":[
      {"terms":{"outcome":0},"turns":[{"tokens":4,"faults":[{"begin":0,"end":4}]},{"tokens":2}]},
      {"terms":{"outcome":1},"turns":[{"tokens":2}]}]})");
  for (Node& node : group.record.tree.nodes) {
    for (Fault& fault : node.faults) fault.kind = FaultKind::kIncomplete;
  }
  for (const char* name : {"grpo", "rloo", "toolpo-siblings"}) {
    Method method = *NewMethod(name);
    EXPECT_FALSE(HasNote(*AssignCredit(method, group.record), NoteKind::kMasked)) << name;
    method.filters.mask_truncated = true;
    EXPECT_TRUE(HasNote(*AssignCredit(method, group.record), NoteKind::kMasked, 0)) << name;
    EXPECT_FALSE(HasNote(*AssignCredit(method, group.record), NoteKind::kMasked, 1)) << name;
  }
}

}  // namespace
}  // namespace hone
