// What every curriculum promises (learn/curriculum.h), over all orders, told apart by several
// things, on tasks without end and on a handful.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "learn/batches.h"
#include "learn/curriculum.h"
#include "learn/task_stream.h"
#include "support/kinds_source.h"

namespace hone {
namespace {

using Order = CurriculumOptions::Order;

constexpr int64_t kSteps = 12;

struct CurriculumCase {
  std::string name;
  CurriculumOptions options;
  std::optional<uint64_t> tasks;  // absent: without end
};

void PrintTo(const CurriculumCase& one, std::ostream* out) { *out << one.name; }

class CurriculumConformanceTest : public testing::TestWithParam<CurriculumCase> {
 protected:
  std::unique_ptr<Curriculum> Make(uint64_t seed = 7) const {
    return NewCurriculum(GetParam().options, &source_, Rng(seed)).value();
  }

  // How many groups a step wants, and how often it draws again.
  static size_t Wanted(int64_t step) { return 1 + static_cast<size_t>(step) * 5 % 17; }
  static int64_t Rounds(int64_t step) { return 1 + step % 3; }

  // All tasks of a step.
  static std::vector<uint64_t> SampleStep(int64_t step, Curriculum* curriculum) {
    std::vector<uint64_t> numbers;
    for (int64_t round = 0; round < Rounds(step); ++round) {
      for (const uint64_t number : curriculum->Sample(step, Wanted(step)))
        numbers.push_back(number);
    }
    return numbers;
  }

  // What came of these tasks, by lot: kinds that are mastered, that stall and that get better, and
  // groups of the same task and success whose rewards differ.
  std::vector<GroupOutcome> Outcomes(int64_t step, const std::vector<uint64_t>& numbers) const {
    std::vector<GroupOutcome> groups;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Task task = source_.Make(Split::kTrain, numbers[i]);
      Rng rng = Rng(3).Split(static_cast<uint64_t>(step)).Split(i);
      GroupOutcome group{.index = numbers[i],
                         .kind = KindOf(task, numbers[i], GetParam().options.by)};
      for (int leaf = 0; leaf < 4; ++leaf) {
        const bool right = rng.Below(4) < numbers[i] % 4;
        group.success += right ? 0.25 : 0;
        group.rewards.push_back(right ? 1 : 0.1 * static_cast<double>(rng.Below(3)));
      }
      groups.push_back(std::move(group));
    }
    return groups;
  }

  const KindsSource source_{GetParam().tasks};
};

TEST_P(CurriculumConformanceTest, GivesAsManyTasksAsAreAskedForAllOfThemTheSources) {
  const auto curriculum = Make();
  std::set<uint64_t> seen;
  for (int64_t step = 0; step < kSteps; ++step) {
    for (const size_t count : {0, 1, 2, 7, 50}) {
      const std::vector<uint64_t> numbers = curriculum->Sample(step, count);
      EXPECT_EQ(numbers.size(), count);
      for (const uint64_t number : numbers) {
        seen.insert(number);
        EXPECT_TRUE(!GetParam().tasks || number < *GetParam().tasks) << number;
      }
    }
    curriculum->Observe(Outcomes(step, curriculum->Sample(step, 4)));
  }
  EXPECT_GE(seen.size(), GetParam().tasks.value_or(50)) << "no task is lost";
}

TEST_P(CurriculumConformanceTest, TheSameSeedGivesTheSameTasks) {
  const auto one = Make(), same = Make(), other = Make(8);
  bool differs = false;
  for (int64_t step = 0; step < kSteps; ++step) {
    const std::vector<uint64_t> numbers = SampleStep(step, one.get());
    EXPECT_EQ(SampleStep(step, same.get()), numbers);
    differs |= SampleStep(step, other.get()) != numbers;
    for (Curriculum* curriculum : {one.get(), same.get(), other.get()}) {
      curriculum->Observe(Outcomes(step, numbers));
    }
    EXPECT_EQ(DumpJson(same->ToJson()), DumpJson(one->ToJson()));
  }
  const bool in_order = GetParam().options.order == Order::kSource && !GetParam().tasks;
  EXPECT_NE(differs, in_order) << "only the source's own order owes nothing to chance";
}

// Wherever it is killed: before a step, between two rounds of it, before it is told what came of
// it.
TEST_P(CurriculumConformanceTest, RestoredGoesOnAsIfNothingHadHappened) {
  const auto whole = Make();
  auto cut = Make();
  const auto kill = [&] {
    const std::string state = DumpJson(cut->ToJson());
    cut = Make();
    const Result<void> restored = cut->Restore(*ParseJson(state));
    ASSERT_TRUE(restored.ok()) << restored.error().message();
    EXPECT_EQ(DumpJson(cut->ToJson()), state);
  };
  for (int64_t step = 0; step < kSteps; ++step) {
    std::vector<uint64_t> numbers;
    for (int64_t round = 0; round < Rounds(step); ++round) {
      kill();
      const std::vector<uint64_t> drawn = whole->Sample(step, Wanted(step));
      ASSERT_EQ(cut->Sample(step, Wanted(step)), drawn) << "step " << step << ", round " << round;
      numbers.insert(numbers.end(), drawn.begin(), drawn.end());
    }
    kill();
    whole->Observe(Outcomes(step, numbers));
    cut->Observe(Outcomes(step, numbers));
    EXPECT_EQ(cut->Weights(), whole->Weights());
    EXPECT_EQ(cut->PhaseName(), whole->PhaseName());
  }
}

TEST_P(CurriculumConformanceTest, TheOrderOfObservationsInAStepDoesNotMatter) {
  const auto ordered = Make(), shuffled = Make();
  for (int64_t step = 0; step < kSteps; ++step) {
    const std::vector<uint64_t> numbers = SampleStep(step, ordered.get());
    ASSERT_EQ(SampleStep(step, shuffled.get()), numbers);
    const std::vector<GroupOutcome> groups = Outcomes(step, numbers);
    std::vector<GroupOutcome> other;
    for (const size_t i : Shuffled(groups.size(), Rng(static_cast<uint64_t>(step)))) {
      other.push_back(groups[i]);
    }
    ordered->Observe(groups);
    shuffled->Observe(other);
    ASSERT_EQ(DumpJson(shuffled->ToJson()), DumpJson(ordered->ToJson())) << "step " << step;
  }
}

TEST_P(CurriculumConformanceTest, WeightsAreSharesOrThereAreNone) {
  const auto curriculum = Make();
  for (int64_t step = 0; step < kSteps; ++step) {
    const std::map<std::string, double> weights = curriculum->Weights();
    EXPECT_EQ(weights.empty(), GetParam().options.order == Order::kSource);
    double sum = 0;
    for (const auto& [kind, weight] : weights) {
      EXPECT_GE(weight, 0) << kind;
      sum += weight;
    }
    EXPECT_NEAR(sum, weights.empty() ? 0 : 1, 1e-9);
    curriculum->Observe(Outcomes(step, SampleStep(step, curriculum.get())));
  }
}

TEST_P(CurriculumConformanceTest, AStepOfWhichNothingIsKnownTeachesNothing) {
  const auto curriculum = Make();
  curriculum->Observe(Outcomes(0, SampleStep(0, curriculum.get())));
  const auto weights = curriculum->Weights();
  const std::string phase = curriculum->PhaseName();
  curriculum->Sample(1, 4);
  curriculum->Observe({});
  EXPECT_EQ(curriculum->Weights(), weights);
  EXPECT_EQ(curriculum->PhaseName(), phase);
}

TEST_P(CurriculumConformanceTest, ABrokenStateIsRefusedAndChangesNothing) {
  const auto curriculum = Make();
  curriculum->Observe(Outcomes(0, SampleStep(0, curriculum.get())));
  const Json state = curriculum->ToJson();
  int refused = 0;
  for (const auto& [key, value] : state.AsObject()) {
    for (const Json& bad : {Json("nonsense"), Json(-1), Json(Json::Array())}) {
      Json broken = state;
      broken.Set(key, bad);
      if (const Result<void> restored = Make()->Restore(broken); restored.ok()) continue;
      ++refused;
      EXPECT_FALSE(curriculum->Restore(broken).ok());
      EXPECT_EQ(DumpJson(curriculum->ToJson()), DumpJson(state)) << key << ": " << DumpJson(bad);
    }
  }
  EXPECT_GE(refused, 2 * static_cast<int>(state.AsObject().size())) << "texts and lists at least";
  EXPECT_FALSE(curriculum->Restore(Json()).ok());
}

std::vector<CurriculumCase> AllCurricula() {
  std::vector<CurriculumCase> cases;
  const auto add = [&](const std::string& name, const CurriculumOptions& options) {
    cases.push_back({name + "_without_end", options, std::nullopt});
    cases.push_back({name + "_of_seven_tasks", options, 7});
  };
  add("source", {.order = Order::kSource});
  add("standard_phases", {.order = Order::kPhases});
  add("phases", {.order = Order::kPhases,
                 .by = "level",
                 .phases = {{"easy", 3, 0, {{"0", 3}, {"1", 1}}},
                            {"hard", 100, 0.3, {{"1", 1}, {"2", 1}}},
                            {"open", 1, 0, {}}}});
  add("dynamic", {.order = Order::kDynamic, .memory = 4});
  add("entropy", {.order = Order::kEntropy, .memory = 4});
  // Every task by itself: only where they come again.
  cases.push_back(
      {"dynamic_tasks", {.order = Order::kDynamic, .by = "index", .memory = 4}, uint64_t{7}});
  cases.push_back(
      {"entropy_tasks", {.order = Order::kEntropy, .by = "index", .memory = 4}, uint64_t{7}});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, CurriculumConformanceTest, testing::ValuesIn(AllCurricula()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hone
