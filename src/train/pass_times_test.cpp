#include "train/pass_times.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using std::chrono::seconds;

TEST(PassTimes, AddUpByNameAndSayWhatIsNotCovered) {
  VirtualClock clock;
  PassTimes times(&clock);
  EXPECT_EQ(times.Run("rollout",
                      [&] {
                        clock.Advance(seconds(3));
                        return 7;
                      }),
            7);
  times.Run("rewards", [&] { clock.Advance(seconds(1)); });
  times.Run("rollout", [&] { clock.Advance(seconds(2)); });
  clock.Advance(seconds(2));
  EXPECT_EQ(times.seconds(), (std::map<std::string, double>{{"rewards", 1}, {"rollout", 5}}));
  EXPECT_EQ(times.wall(), 8);
  times.Restart();
  EXPECT_TRUE(times.seconds().empty());
  EXPECT_EQ(times.wall(), 0);
}

TEST(PassTimes, MoveWhatBelongsElsewhereButNeverMoreThanThereIs) {
  VirtualClock clock;
  PassTimes times(&clock);
  times.Run("rollout", [&] { clock.Advance(seconds(5)); });
  times.Move("rollout", "tools", 2);
  times.Move("rollout", "sampling", 100);
  EXPECT_EQ(times.seconds(),
            (std::map<std::string, double>{{"rollout", 0}, {"sampling", 3}, {"tools", 2}}));
}

TEST(PassTimesDeathTest, APassInsideAPassIsABug) {
  VirtualClock clock;
  PassTimes times(&clock);
  EXPECT_DEATH(times.Run("a", [&] { times.Run("b", [] {}); }), "a pass inside a pass");
}

}  // namespace
}  // namespace hone
