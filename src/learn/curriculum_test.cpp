#include "learn/curriculum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "envs/data_env.h"
#include "envs/mixture.h"
#include "learn/task_stream.h"
#include "support/kinds_source.h"

namespace hone {
namespace {

using Order = CurriculumOptions::Order;

std::unique_ptr<Curriculum> New(const CurriculumOptions& options, const TaskSource& source) {
  auto curriculum = NewCurriculum(options, &source, Rng(7));
  EXPECT_TRUE(curriculum.ok()) << (curriculum.ok() ? "" : curriculum.error().message());
  return std::move(*curriculum);
}

std::map<std::string, int> FamiliesOf(const std::vector<uint64_t>& numbers) {
  std::map<std::string, int> families;
  for (const uint64_t number : numbers) {
    ++families[std::string(1, static_cast<char>('A' + number % 4))];
  }
  return families;
}

// Groups of eight whose success is what `success` says of their kind.
template <typename Success>
std::vector<GroupOutcome> Outcomes(const std::vector<uint64_t>& numbers, const Success& success) {
  std::vector<GroupOutcome> groups;
  for (const uint64_t number : numbers) {
    const std::string kind(1, static_cast<char>('A' + number % 4));
    GroupOutcome group{number, kind, success(kind), {}};
    for (int leaf = 0; leaf < 8; ++leaf) {
      group.rewards.push_back(leaf < 8 * group.success - 1e-9 ? 1 : 0);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

TEST(Curriculum, RewardEntropyIsHighestWhereGroupsDisagree) {
  EXPECT_EQ(RewardEntropy(std::vector<double>{1, 1, 1}), 0);
  EXPECT_EQ(RewardEntropy({}), 0);
  EXPECT_NEAR(RewardEntropy(std::vector<double>{0, 1, 1, 0}), std::log(2.0), 1e-12);
  EXPECT_NEAR(RewardEntropy(std::vector<double>{0.5, 1, 2, 0}), std::log(4.0), 1e-12);
  EXPECT_NEAR(RewardEntropy(std::vector<double>{1, 1 + 1e-12}), 0, 1e-12);
  EXPECT_TRUE(std::isfinite(RewardEntropy(std::vector<double>{NAN, NAN, 1}))) << "and ends";
}

TEST(Curriculum, RewardsThatAreAlikeAreOneClass) {
  const std::vector<double> rewards = {0.3, 5, 0, 10, 0.1, 5.1, 9.9, 0.2};
  EXPECT_NEAR(RewardEntropy(rewards), std::log(8.0), 1e-12) << "every one is another number";
  EXPECT_NEAR(RewardEntropy(rewards, 4), 0.5 * std::log(2.0) + 0.5 * std::log(4.0), 1e-12);
  EXPECT_EQ(RewardEntropy(rewards, 11), 0);
}

TEST(Curriculum, TheSourcesOrderIsTheDefault) {
  const KindsSource source;
  const auto curriculum = New({}, source);
  EXPECT_EQ(curriculum->Sample(0, 3), (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_EQ(curriculum->Sample(0, 2), (std::vector<uint64_t>{3, 4})) << "more for the same step";
  EXPECT_TRUE(curriculum->Weights().empty());
  EXPECT_EQ(curriculum->PhaseName(), "");
}

TEST(Curriculum, PhasesFollowEachOtherBySuccessOrBySteps) {
  const KindsSource source;
  CurriculumOptions options;
  options.order = Order::kPhases;
  options.phases = {{"when", 100, 0.8, {{"A", 1}, {"B", 1}}},
                    {"which", 3, 0, {{"B", 3}, {"C", 1}}},
                    {"open", 1, 0, {}}};
  const auto curriculum = New(options, source);
  EXPECT_EQ(FamiliesOf(curriculum->Sample(0, 8)), (std::map<std::string, int>{{"A", 4}, {"B", 4}}));
  curriculum->Observe(Outcomes({0, 1}, [](const std::string&) { return 0.5; }));
  EXPECT_EQ(curriculum->PhaseName(), "when");
  for (int i = 0; i < 6; ++i) {
    curriculum->Observe(Outcomes({0, 1}, [](const std::string&) { return 1.0; }));
  }
  EXPECT_EQ(curriculum->PhaseName(), "which") << "reached its success";
  EXPECT_EQ(FamiliesOf(curriculum->Sample(7, 8)), (std::map<std::string, int>{{"B", 6}, {"C", 2}}));
  for (int i = 0; i < 3; ++i) {
    curriculum->Observe(Outcomes({1}, [](const std::string&) { return 0.0; }));
  }
  EXPECT_EQ(curriculum->PhaseName(), "open") << "its steps are over";
  EXPECT_EQ(FamiliesOf(curriculum->Sample(9, 8)).size(), 4u);
}

TEST(Curriculum, ThePhasesOfTheDeskNeverLoseAFamily) {
  const KindsSource source;
  CurriculumOptions options;
  options.order = Order::kPhases;
  const auto curriculum = New(options, source);
  EXPECT_EQ(curriculum->PhaseName(), "when");
  EXPECT_EQ(FamiliesOf(curriculum->Sample(0, 40)).size(), 4u);
  for (const Phase& phase : StandardPhases()) {
    EXPECT_TRUE(phase.mix.empty() || phase.mix.size() == 4u) << phase.name;
  }
}

TEST(Curriculum, APhaseWithAKindThatDoesNotExistIsRefused) {
  const KindsSource source;
  CurriculumOptions options;
  options.order = Order::kPhases;
  options.by = "level";
  const auto curriculum = NewCurriculum(options, &source, Rng(1));
  ASSERT_FALSE(curriculum.ok());
  EXPECT_NE(curriculum.error().message().find("there are: 0, 1, 2"), std::string::npos)
      << curriculum.error().message();
  const KindsSource empty(0);
  EXPECT_FALSE(NewCurriculum({}, &empty, Rng(1)).ok());
}

TEST(Curriculum, DynamicMovesTowardsWhatIsNotMasteredAndStalls) {
  const KindsSource source;
  CurriculumOptions options;
  options.order = Order::kDynamic;
  options.memory = 8;
  const auto curriculum = New(options, source);
  EXPECT_NEAR(curriculum->Weights().at("A"), 0.25, 1e-9) << "nothing is known yet";
  // A and B are mastered; C stands at 0.5; D rises from 0.1 to 0.5.
  for (int step = 0; step < 40; ++step) {
    const auto numbers = curriculum->Sample(step, 16);
    curriculum->Observe(Outcomes(numbers, [&](const std::string& kind) {
      return kind < "C" ? 1.0 : kind == "C" ? 0.5 : 0.1 + 0.01 * step;
    }));
  }
  const auto weights = curriculum->Weights();
  EXPECT_NEAR(weights.at("A"), options.floor / 4, 1e-9) << "no kind is lost";
  EXPECT_GT(weights.at("C"), 1.2 * weights.at("D")) << "as weak, but it stalls";
  EXPECT_GT(weights.at("D"), 2 * weights.at("A"));
  double sum = 0;
  for (const auto& [kind, weight] : weights) sum += weight;
  EXPECT_NEAR(sum, 1, 1e-9);
  const auto families = FamiliesOf(curriculum->Sample(40, 32));
  EXPECT_NEAR(families.at("C"), 32 * weights.at("C"), 1.0) << "each its share, rounded";
}

TEST(Curriculum, EntropyMovesTowardsTasksWhoseGroupsDisagree) {
  const KindsSource source(12);
  CurriculumOptions options;
  options.order = Order::kEntropy;
  options.by = "index";
  options.memory = 2;
  const auto curriculum = New(options, source);
  for (int step = 0; step < 30; ++step) {
    std::vector<GroupOutcome> groups;
    for (const uint64_t number : curriculum->Sample(step, 6)) {
      // Task 5 is half solved, the others always or never.
      GroupOutcome group{number, std::to_string(number), 0, {0, 0, 0, 0}};
      if (number == 5) group.rewards = {0, 1, 0, 1};
      if (number % 2 == 0) group.rewards = {1, 1, 1, 1};
      groups.push_back(std::move(group));
    }
    curriculum->Observe(groups);
  }
  const auto weights = curriculum->Weights();
  EXPECT_NEAR(weights.at("5"), options.floor / 12 + (1 - options.floor), 1e-9);
  const std::vector<uint64_t> numbers = curriculum->Sample(30, 10);
  EXPECT_GE(std::count(numbers.begin(), numbers.end(), 5), 7);
}

// Rewards that are never twice the same, as judges and composite rewards give them: those of task 5
// spread as widely as all rewards, the others by a hundredth of that around their own mean.
TEST(Curriculum, EntropyTellsContinuousRewardsApart) {
  const KindsSource source(12);
  CurriculumOptions options;
  options.order = Order::kEntropy;
  options.by = "index";
  options.memory = 2;
  const auto curriculum = New(options, source);
  Rng rng(3);
  for (int step = 0; step < 30; ++step) {
    std::vector<GroupOutcome> groups;
    for (const uint64_t number : curriculum->Sample(step, 6)) {
      GroupOutcome group{number, std::to_string(number), 0, {}};
      for (int leaf = 0; leaf < 8; ++leaf) {
        const double noise = rng.NextNormal();
        group.rewards.push_back(number == 5 ? 5 * noise
                                            : 3 * static_cast<double>(number % 4) + 0.05 * noise);
      }
      groups.push_back(std::move(group));
    }
    curriculum->Observe(groups);
  }
  EXPECT_GT(curriculum->Weights().at("5"), 0.7);
}

// Of two values, whichever they are, the classes are the values: nothing changes with what was
// seen.
TEST(Curriculum, EntropyOfTwoValuesIsThatOfTheValues) {
  const KindsSource source(12);
  CurriculumOptions options;
  options.order = Order::kEntropy;
  options.memory = 1;
  for (const auto& [wrong, right] : {std::pair{0.0, 1.0}, std::pair{-1.0, 1.0}}) {
    const auto curriculum = New(options, source);
    for (const int rights : {4, 1, 7, 8, 0, 4}) {
      GroupOutcome group{0, "A", 0, {}};
      for (int leaf = 0; leaf < 8; ++leaf) group.rewards.push_back(leaf < rights ? right : wrong);
      curriculum->Observe(std::vector<GroupOutcome>{group});
      EXPECT_EQ(curriculum->ToJson().Find("kinds")->Find("A")->Find("entropy")->AsDouble(),
                RewardEntropy(group.rewards))
          << rights;
    }
  }
}

TEST(Curriculum, ResumedEqualsUninterruptedAndTheOrderOfObservationsDoesNotMatter) {
  const KindsSource source;
  for (const Order order : {Order::kSource, Order::kPhases, Order::kDynamic, Order::kEntropy}) {
    CurriculumOptions options;
    options.order = order;
    options.memory = 4;
    if (order == Order::kPhases) {
      options.phases = {{"one", 5, 0, {{"A", 1}, {"D", 2}}}, {"two", 1, 0, {}}};
    }
    auto success = [](const std::string& kind) { return kind == "A" ? 0.75 : 0.25; };
    const auto whole = New(options, source);
    auto cut = New(options, source);
    for (int step = 0; step < 20; ++step) {
      const auto expected = whole->Sample(step, 10);
      EXPECT_EQ(cut->Sample(step, 10), expected) << step;
      for (int again = 0; again < step % 3; ++again) {
        EXPECT_EQ(cut->Sample(step, 3), whole->Sample(step, 3));
      }
      auto outcomes = Outcomes(expected, success);
      whole->Observe(outcomes);
      std::reverse(outcomes.begin(), outcomes.end());
      cut->Observe(outcomes);
      if (step % 3 == 0) {  // killed and resumed
        const std::string state = DumpJson(cut->ToJson());
        cut = New(options, source);
        ASSERT_TRUE(cut->Restore(*ParseJson(state)).ok());
      }
      EXPECT_EQ(DumpJson(cut->ToJson()), DumpJson(whole->ToJson()));
    }
  }
}

TEST(Curriculum, BrokenStatesAreRefused) {
  const KindsSource source;
  const auto curriculum = New({}, source);
  for (const char* bad : {"{}", "[]", R"({"tasks":{},"samples":0})"}) {
    EXPECT_FALSE(curriculum->Restore(*ParseJson(bad)).ok()) << bad;
  }
  Json state = curriculum->ToJson();
  state.Set("phase", 3);
  EXPECT_FALSE(curriculum->Restore(state).ok()) << "another recipe's";
}

TEST(Curriculum, IsReadFromARecipe) {
  auto recipe = Recipe::Parse(R"(
order = "phases"
by = "kind"
[[phase]]
name = "first"
steps = 7
success = 0.5
mix = ["a=1", "b=0.5"]
[[phase]]
name = "rest"
)",
                              "r.toml");
  const CurriculumOptions options = ReadCurriculum(recipe->Root());
  ASSERT_TRUE(recipe->Finish().ok());
  EXPECT_EQ(options.order, Order::kPhases);
  EXPECT_EQ(options.by, "kind");
  ASSERT_EQ(options.phases.size(), 2u);
  EXPECT_EQ(options.phases[0].mix, (std::map<std::string, double>{{"a", 1}, {"b", 0.5}}));
  EXPECT_EQ(options.phases[0].success, 0.5);

  auto bad = Recipe::Parse("order = 'dynamic'\nfloor = 2\n[[phase]]\nmix = ['a', 'b=0']\n", "r");
  ReadCurriculum(bad->Root());
  const Result<void> finished = bad->Finish();
  ASSERT_FALSE(finished.ok());
  for (const char* word : {"floor", "kind=weight", "only for order"}) {
    EXPECT_NE(finished.error().message().find(word), std::string::npos) << word;
  }
}

TEST(Curriculum, APhaseSaysWhatRewardsWeigh) {
  const KindsSource source;
  CurriculumOptions options;
  options.order = Order::kPhases;
  options.phases = {{"calls", 1, 0, {}, {{"call", 2}, {"outcome", 0}}}, {"open", 1, 0, {}}};
  const auto curriculum = New(options, source);
  EXPECT_EQ(curriculum->RewardWeights(),
            (std::map<std::string, double>{{"call", 2}, {"outcome", 0}}));
  curriculum->Observe(Outcomes({0, 1}, [](const std::string&) { return 0.5; }));
  EXPECT_TRUE(curriculum->RewardWeights().empty());
  EXPECT_TRUE(New({}, source)->RewardWeights().empty());
}

TEST(Curriculum, PhasesOfAMixtureGoByEnvironmentWithRewardsOfTheirOwn) {
  const auto member = [](const std::string& name) {
    Task task;
    task.id = "t";
    LoadedEnvironment loaded{.tasks = NewListedTasks({{Split::kTrain, {task}}})};
    return EnvironmentMember{name, 1, std::make_shared<const LoadedEnvironment>(std::move(loaded))};
  };
  const auto tasks = NewMixedTasks(std::vector{member("north"), member("south")}, {}, 0);
  CurriculumOptions options{.order = CurriculumOptions::Order::kPhases, .by = "environment"};
  options.phases = {{"first", 2, 0, {{"north", 1}}, {{"call", 0.5}}},
                    {"second", 1, 0, {{"south", 3}, {"north", 1}}}};
  const auto curriculum = NewCurriculum(options, tasks.get(), Rng(1)).value();
  const auto posed = [&](int64_t step) {
    std::map<std::string, int> counts;
    std::vector<GroupOutcome> outcomes;
    for (const uint64_t number : curriculum->Sample(step, 8)) {
      const std::string name =
          tasks->Make(Split::kTrain, number).metadata.Find("environment")->AsString();
      ++counts[name];
      outcomes.push_back({.index = number, .kind = name, .success = 0.5});
    }
    curriculum->Observe(outcomes);
    return counts;
  };
  EXPECT_EQ(curriculum->RewardWeights(), (std::map<std::string, double>{{"call", 0.5}}));
  EXPECT_EQ(posed(0), (std::map<std::string, int>{{"north", 8}}));
  EXPECT_EQ(posed(1), (std::map<std::string, int>{{"north", 8}}));
  EXPECT_EQ(curriculum->PhaseName(), "second");
  EXPECT_TRUE(curriculum->RewardWeights().empty());
  EXPECT_EQ(posed(2), (std::map<std::string, int>{{"north", 2}, {"south", 6}}));
}

}  // namespace
}  // namespace hone
