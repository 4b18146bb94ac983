#include "tools/timeline.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace hone {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Timeline, VirtualTimeJumpsFromEventToEventInOrder) {
  const auto timeline = NewVirtualTimeline();
  std::vector<int> order;
  auto note = [&](int what) {
    return [&order, what, timeline = timeline.get()] {
      order.push_back(what);
      timeline->Notify();
    };
  };
  timeline->At(hours(2), note(3));
  timeline->At(hours(1), note(1));
  timeline->At(hours(1), note(2));
  timeline->Run(note(0));
  const Timeline::Timer forgotten = timeline->At(hours(1), note(9));
  timeline->Cancel(forgotten);
  while (timeline->Wait(timeline->news(), {})) {
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(timeline->Now(), hours(2));
}

TEST(Timeline, VirtualWaitEndsWhenNothingCouldHappen) {
  const auto timeline = NewVirtualTimeline();
  EXPECT_FALSE(timeline->Wait(timeline->news(), {}));
  timeline->Notify();
  EXPECT_TRUE(timeline->Wait(0, {}));
}

TEST(Timeline, RealWorkThatHangsDelaysNeitherTimersNorOtherWork) {
  std::stop_source release;
  std::atomic<int> done = 0;
  const auto timeline = NewRealTimeline();
  for (int i = 0; i < 4; ++i) {
    timeline->Run([stop = release.get_token()] { NewRealClock()->SleepFor(hours(1), stop); });
  }
  for (int i = 0; i < 20; ++i) {
    timeline->Run([&] {
      ++done;
      timeline->Notify();
    });
  }
  timeline->At(timeline->Now() + milliseconds(1), [&] {
    ++done;
    timeline->Notify();
  });
  uint64_t seen = 0;
  while (done < 21) {
    ASSERT_TRUE(timeline->Wait(seen, {}));
    seen = timeline->news();
  }
  release.request_stop();
}

TEST(Timeline, RealTimersThatAreCancelledOrLeftNeverRun) {
  std::atomic<int> ran = 0;
  {
    const auto timeline = NewRealTimeline();
    timeline->At(timeline->Now() + hours(1), [&] { ++ran; });
    timeline->Cancel(timeline->At(timeline->Now() + milliseconds(2), [&] { ++ran; }));
    timeline->At(timeline->Now() + milliseconds(5), [&] { timeline->Notify(); });
    EXPECT_TRUE(timeline->Wait(0, {}));
  }
  EXPECT_EQ(ran, 0);
}

}  // namespace
}  // namespace hone
