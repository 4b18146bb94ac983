#include "train/verify/step_verifier.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

// Lets a verifier see every step of the run as it is made a second time.
class Looking : public TrainObserver {
 public:
  explicit Looking(StepVerifier verifier) : verifier_(std::move(verifier)) {}
  void OnTrained(const TrainedStep& done) override {
    outcomes.push_back(verifier_.Verify(done).value());
  }
  std::vector<StepVerifier::Outcome> outcomes;

 private:
  StepVerifier verifier_;
};

TEST(StepVerifier, TheSameRunIsTheSameAndAnotherSeedIsNot) {
  const TemporaryDirectory first, again, other, scratch;
  ASSERT_TRUE(Train(ReadTiny(first.path()).value(), {}).ok());
  const auto stored = OpenStoredRun(first.path() / "tiny").value();
  Looking same(StepVerifier(stored.get(), {.scratch = scratch.path()}));
  ASSERT_TRUE(Train(ReadTiny(again.path()).value(), {.observer = &same}).ok());
  VerifiedCounts equal;
  for (const StepVerifier::Outcome& outcome : same.outcomes) {
    EXPECT_FALSE(outcome.difference) << outcome.difference->Text();
    equal.Add(outcome.equal);
  }
  EXPECT_EQ(equal.steps, 64);
  EXPECT_EQ(equal.groups, 16);
  Looking different(StepVerifier(stored.get(), {.scratch = scratch.path()}));
  ASSERT_TRUE(Train(ReadTiny(other.path(), {"run.seed=2"}).value(), {.observer = &different}).ok());
  ASSERT_EQ(different.outcomes.size(), 64u);
  ASSERT_TRUE(different.outcomes[60].difference);
  EXPECT_EQ(different.outcomes[60].difference->what, "start");
}

TEST(RunDifference, SaysWhereInWordsAndForPrograms) {
  const RunDifference difference{.step = 843,
                                 .what = "group",
                                 .name = "train-7",
                                 .part = "tokens",
                                 .tree = 12,
                                 .trajectory = 3,
                                 .node = 5,
                                 .index = 0,
                                 .place = "group 2 (tree 12, task train-7), trajectory 3",
                                 .derived = "1",
                                 .stored = "2"};
  EXPECT_EQ(difference.Text(), "step 843, group 2 (tree 12, task train-7), trajectory 3: tokens");
  EXPECT_EQ(difference.ToJson().Find("trajectory")->AsInteger(), 3);
  EXPECT_EQ(RunDifference{}.ToJson().Find("tree"), nullptr);
}

}  // namespace
}  // namespace hone
