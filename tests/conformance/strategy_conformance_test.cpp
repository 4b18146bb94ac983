// What every rollout strategy promises, over all of them: groups are played without a policy, by
// lot, and the strategy is asked as the scheduler would ask it.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <tuple>

#include "conformance/forks_strategy.h"
#include "rollout/strategies.h"
#include "rollout/trajectory_path.h"

namespace hone {
namespace {

// A group whose trajectories end after so many turns as a lot says.
class PlayedGroup {
 public:
  PlayedGroup(const Strategy& strategy, int64_t leaves, uint64_t seed)
      : strategy_(strategy), leaves_(leaves), rng_(seed) {}

  // Until the strategy is done, but no longer than a thousand decisions.
  void Play() {
    while (decisions_.size() < 1000) {
      const GroupView view = View();
      const std::vector<Extension> next = strategy_.Next(view);
      EXPECT_EQ(strategy_.Next(view), next) << "asked twice";
      Check(view, next);
      decisions_.push_back(next);
      const std::vector<Walker> going = Extend(next);
      started_ -= static_cast<int64_t>(open_.size());  // given up
      open_.clear();
      if (going.empty()) return;
      for (const Walker& walker : going) Walk(walker);
    }
    ADD_FAILURE() << strategy_.traits().name << " does not end";
  }

  int64_t ended() const { return ended_; }
  const std::vector<std::vector<Extension>>& decisions() const { return decisions_; }

 private:
  struct Walker {
    TrajectoryPath path;
    int64_t turns = 0;
    const Node* first = nullptr;
    const Node* last = nullptr;
    bool after_results = false;
  };

  // The prompt, then the others in the order that a group view has.
  GroupView View() {
    std::sort(open_.begin(), open_.end(), IsBefore);
    std::sort(spots_.begin(), spots_.end(), IsBefore);
    places_ = {{Walker(), false}};
    for (const Walker& spot : spots_) places_.emplace_back(spot, false);
    for (const Walker& walker : open_) places_.emplace_back(walker, true);
    std::stable_sort(places_.begin() + 1, places_.end(),
                     [](const auto& a, const auto& b) { return IsBefore(a.first, b.first); });
    GroupView view{.rng = rng_.Split("strategy").Split(decisions_.size()),
                   .leaves = leaves_,
                   .ended = ended_,
                   .started = started_,
                   .vocabulary = 100};
    for (const auto& [walker, open] : places_) {
      view.places.push_back({.id = static_cast<int32_t>(view.places.size()),
                             .path = walker.path.Text(),
                             .turns = walker.turns,
                             .open = open,
                             .after_results = walker.after_results,
                             .last_turn = walker.last,
                             .first_turn = walker.first});
    }
    return view;
  }

  void Check(const GroupView& view, const std::vector<Extension>& next) const {
    for (const Extension& extension : next) {
      ASSERT_GE(extension.place, 0);
      ASSERT_LT(extension.place, static_cast<int32_t>(view.places.size()));
      EXPECT_GE(extension.trajectories, 1);
      const Place& place = view.places[static_cast<size_t>(extension.place)];
      EXPECT_TRUE(extension.place == 0 || place.open || strategy_.traits().returns);
    }
  }

  // Those that go on. What stays in open_ was not named.
  std::vector<Walker> Extend(const std::vector<Extension>& next) {
    std::vector<Walker> going;
    for (const Extension& extension : next) {
      auto& [from, open] = places_[static_cast<size_t>(extension.place)];
      for (int64_t i = 0; i < extension.trajectories; ++i) {
        Walker walker = from;
        if (std::exchange(open, false)) {
          std::erase_if(open_,
                        [&](const Walker& one) { return one.path.Text() == walker.path.Text(); });
        } else {
          ++started_;
          const bool is_prompt = from.path.parts.empty();
          walker.path = from.path.Child(is_prompt ? roots_++ : ++forks_[from.path.Text()]);
        }
        going.push_back(std::move(walker));
      }
    }
    return going;
  }

  // One turn, or all of them where trajectories do not wait for each other.
  void Walk(Walker walker) {
    while (true) {
      Rng rng = rng_.Split(walker.path.Text()).Split(static_cast<uint64_t>(walker.turns));
      Node& turn = turns_.emplace_back();
      turn.entropies.assign(1 + rng.Below(30), static_cast<float>(rng.NextDouble()));
      walker.last = &turn;
      if (walker.turns++ == 0) walker.first = &turn;
      walker.after_results = rng.Below(2) == 0;
      if (rng.Below(3) == 0 || walker.turns == 12) {
        ++ended_;
        return;
      }
      if (strategy_.traits().returns) spots_.push_back(walker);
      if (strategy_.traits().waits) {
        open_.push_back(walker);
        return;
      }
    }
  }

  static bool IsBefore(const Walker& a, const Walker& b) {
    return std::tie(a.turns, a.path) < std::tie(b.turns, b.path);
  }

  const Strategy& strategy_;
  const int64_t leaves_;
  const Rng rng_;
  std::vector<std::vector<Extension>> decisions_;
  std::vector<std::pair<Walker, bool>> places_;  // of the last view, and whether they are open
  std::vector<Walker> open_, spots_;
  int32_t roots_ = 0;
  std::map<std::string, int32_t> forks_;
  std::deque<Node> turns_;
  int64_t started_ = 0, ended_ = 0;
};

class StrategyConformanceTest : public testing::TestWithParam<RegisteredStrategy> {
 protected:
  std::unique_ptr<Strategy> Make() const {
    return NewStrategy(GetParam().name, {&GetParam(), 1}).value();
  }
  int64_t LeavesOf(int64_t wanted, uint64_t seed) const {
    const auto strategy = Make();
    PlayedGroup group(*strategy, wanted, seed);
    group.Play();
    return group.ended();
  }
};

TEST_P(StrategyConformanceTest, IsWhatItsLineSays) {
  EXPECT_EQ(Make()->traits().name, GetParam().name);
  EXPECT_FALSE(GetParam().about.empty());
}

TEST_P(StrategyConformanceTest, BeginsAtThePrompt) {
  const std::vector<Extension> first = Make()->Next({.leaves = 4, .places = {{}}});
  ASSERT_FALSE(first.empty());
  for (const Extension& extension : first) EXPECT_EQ(extension.place, 0);
}

TEST_P(StrategyConformanceTest, EndsWithNoMoreLeavesThanAreWantedOrAlwaysWithTheSameNumber) {
  const int64_t own_number = LeavesOf(1, 1);
  bool within = true, constant = true;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const int64_t wanted : {1, 2, 3, 8, 16}) {
      const int64_t leaves = LeavesOf(wanted, seed);
      EXPECT_GT(leaves, 0);
      within &= leaves <= wanted;
      constant &= leaves == own_number;
    }
  }
  EXPECT_TRUE(within || constant);
}

TEST_P(StrategyConformanceTest, DecidesTheSameOnTheSameView) {
  const auto one = Make(), other = Make();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    PlayedGroup first(*one, 8, seed), again(*one, 8, seed), elsewhere(*other, 8, seed);
    first.Play();
    again.Play();
    elsewhere.Play();
    EXPECT_EQ(first.decisions(), again.decisions());
    EXPECT_EQ(first.decisions(), elsewhere.decisions());
  }
}

// The program's own, and the one that is there to be copied.
std::vector<RegisteredStrategy> AllStrategies() {
  std::vector<RegisteredStrategy> all = BuiltInStrategies();
  all.push_back(forks::Register());
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, StrategyConformanceTest, testing::ValuesIn(AllStrategies()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hone
