// Thirty runs that are killed with SIGKILL at random moments, once to three times each.

#include "support/kill_suite.h"

namespace hone {
namespace {

class ThirtyKilledRuns : public KillSuite {
 protected:
  // Every kind of moment comes first, second and third.
  static std::vector<std::vector<Moment>> Fifteen() {
    std::vector<std::vector<Moment>> runs;
    for (size_t i = 0; i < 15; ++i) {
      std::vector<Moment>& moments = runs.emplace_back();
      for (size_t k = 0; k <= i % 3; ++k) moments.push_back(kMoments[(i + 2 * k) % 5]);
    }
    return runs;
  }
  void Report() const {
    for (const auto& [where, count] : killed_) {
      std::printf("killed in %s: %d\n", where.c_str(), count);
    }
  }
};

TEST_F(ThirtyKilledRuns, FifteenAgainstASimulator) {
  KillSimulated(Fifteen());
  Report();
  for (const char* where : {"checkpoint", "stage cache"}) EXPECT_GT(killed_[where], 0) << where;
}

TEST_F(ThirtyKilledRuns, FifteenWithLiveTools) {
  KillLive(Fifteen());
  Report();
  EXPECT_GT(killed_["checkpoint"], 0);
}

TEST_F(ThirtyKilledRuns, FifteenWhoseRolloutIsAhead) {
  changes_ = {"rollout.ahead=2", "objective.correction.kind=truncate"};
  KillSimulated(Fifteen());
  Report();
}

}  // namespace
}  // namespace hone
