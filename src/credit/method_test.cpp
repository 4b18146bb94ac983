#include "credit/method.h"

#include <gtest/gtest.h>

#include <cmath>

#include "credit/methods.h"
#include "credit/specimens.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

TEST(AssignCredit, AGroupWithoutAnyValueGetsANoteAndNoCredit) {
  EXPECT_TRUE(HasNote(CreditOf("grpo", GroupOfPlain({"null"})), NoteKind::kNothingToRead));
}

TEST(AssignCredit, RewardsTooLargeToCompareAreAnErrorNotInfinity) {
  const ShortGroup group = GroupFrom(GroupOfPlain({"1e308", "-1e308", "0"}));
  for (const std::string& name : MethodNames()) {
    const Result<Credit> credit =
        AssignCredit(*NewMethod(ReadingOutcomes(lab::SpecOf(name))), group.record);
    if (!credit.ok()) {
      EXPECT_NE(credit.error().message().find("leaf"), std::string::npos);
      continue;
    }
    for (const Advantages& one : credit->advantages) {
      for (const float value : one.values) EXPECT_TRUE(std::isfinite(value)) << name;
    }
  }
  EXPECT_FALSE(AssignCredit(*NewMethod("dr-grpo"), group.record).ok());
}

TEST(AssignCredit, ABatchGivesOneCreditPerRecordInOrder) {
  const ShortGroup first = GroupFrom(GroupOfPlain({"1", "0"})),
                   second = GroupFrom(GroupOfPlain({"5", "5", "5"}));
  const std::vector<CreditInput> batch = {{&first.record, nullptr}, {&second.record, nullptr}};
  const auto credits = AssignCredit(*NewMethod("dapo"), batch);
  ASSERT_TRUE(credits.ok());
  EXPECT_NEAR((*credits)[0].advantages[0].values[0], 0.707106, 1e-5);
  EXPECT_TRUE(HasNote((*credits)[1], NoteKind::kGroupDropped));
  EXPECT_EQ((*credits)[1].advantages.size(), 3u);
  EXPECT_TRUE(AssignCredit(*NewMethod("grpo"), std::span<const CreditInput>())->empty());
}

TEST(AssignCredit, FaultsOfOthersAreNamed) {
  const Credit credit = CreditOf("grpo", R"({"group":[
      {"terms":{"outcome":0},"turns":[{"tokens":1}],"ending":"failed","blame":"simulator"},
      {"terms":{"outcome":1},"turns":[{"tokens":1}]},{"terms":{"outcome":1},"turns":[{"tokens":1}]}]})");
  EXPECT_TRUE(HasNote(credit, NoteKind::kOthersFault, 0));
  for (const Advantages& one : credit.advantages) EXPECT_EQ(one.values[0], 0);
}

}  // namespace
}  // namespace hone
