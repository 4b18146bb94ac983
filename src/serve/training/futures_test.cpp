#include "serve/training/futures.h"

#include <gtest/gtest.h>

#include <thread>

namespace hone {
namespace {

using std::chrono::milliseconds;

DrawOutcome Drawn(size_t tokens) {
  DrawOutcome outcome;
  outcome.sequences.push_back(
      {std::vector<TokenId>(tokens, 7), std::vector<float>(tokens, -1.0f), true});
  return outcome;
}

TEST(Futures, AnOutcomeIsThereForWhoeverComesHoweverOften) {
  Futures futures({.prefix = "x-"});
  const std::string id = futures.Begin(10).value();
  EXPECT_EQ(id, "x-0");
  EXPECT_EQ(futures.Wait(id, milliseconds(0), {}).state, Futures::State::kWaiting);
  EXPECT_EQ(futures.waiting(), 1u);
  std::thread finishes([&] { futures.Finish(id, Json("done")); });
  const Futures::Found found = futures.Wait(id, milliseconds(30'000), {});
  finishes.join();
  ASSERT_EQ(found.state, Futures::State::kDone);
  EXPECT_EQ(std::get<Json>(*found.outcome), Json("done"));
  EXPECT_EQ(futures.Wait(id, milliseconds(0), {}).state, Futures::State::kDone);
  EXPECT_EQ(futures.Wait("x-1", milliseconds(30'000), {}).state, Futures::State::kUnknown);
  EXPECT_EQ(futures.waiting(), 0u);
}

TEST(Futures, TheOldestOutcomesGoWhenTheRoomIsNeeded) {
  Futures futures({.outcome_bytes = 3 * OutcomeBytes(Drawn(1000))});
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(futures.Begin(1).value());
    futures.Finish(ids.back(), Drawn(1000));
  }
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(futures.Wait(ids[i], milliseconds(0), {}).state,
              i < 2 ? Futures::State::kUnknown : Futures::State::kDone)
        << i;
  }
  const std::string large = futures.Begin(1).value();
  futures.Finish(large, Drawn(100'000));
  EXPECT_EQ(futures.Wait(large, milliseconds(0), {}).state, Futures::State::kDone)
      << "the newest is kept, whatever its size";
}

TEST(Futures, TooManyThatWaitAreRefused) {
  Futures few({.calls = 2});
  const std::string first = few.Begin(1).value();
  EXPECT_TRUE(few.Begin(1).ok());
  EXPECT_EQ(few.Begin(1).error().code(), ErrorCode::kFull);
  few.Drop(first);
  EXPECT_EQ(few.Wait(first, milliseconds(0), {}).state, Futures::State::kUnknown);
  EXPECT_TRUE(few.Begin(1).ok());

  Futures small({.call_bytes = 100});
  const std::string large = small.Begin(1000).value();
  EXPECT_EQ(small.Begin(1).error().code(), ErrorCode::kFull);
  small.Finish(large, Json());
  EXPECT_TRUE(small.Begin(60).ok());
  EXPECT_EQ(small.Begin(60).error().code(), ErrorCode::kFull);
}

TEST(Futures, AWaitEndsWhenNobodyWantsItAnyMore) {
  Futures futures({});
  const std::string id = futures.Begin(1).value();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(futures.Wait(id, milliseconds(60'000), stop.get_token()).state,
            Futures::State::kWaiting);
}

TEST(Futures, WhereMemoryRunsOutForAnOutcomeNobodyWaitsForEver) {
  Futures futures({});
  const std::string id = futures.Begin(1).value();
  futures.FinishWith(id, []() -> TrainingOutcome { throw std::bad_alloc(); });
  const Futures::Found found = futures.Wait(id, milliseconds(0), {});
  ASSERT_EQ(found.state, Futures::State::kDone);
  const FailedOutcome& failed = std::get<FailedOutcome>(*found.outcome);
  EXPECT_NE(failed.message.find("memory"), std::string::npos);
  EXPECT_FALSE(failed.of_user);
}

TEST(Futures, ACallThatNobodyAcceptsIsDropped) {
  Futures futures({});
  const std::string dropped = futures.Begin(1).value(), kept = futures.Begin(1).value();
  {
    const BegunFuture left(&futures, dropped);
    BegunFuture accepted(&futures, kept);
    accepted.Accept();
  }
  EXPECT_EQ(futures.Wait(dropped, milliseconds(0), {}).state, Futures::State::kUnknown);
  EXPECT_EQ(futures.Wait(kept, milliseconds(0), {}).state, Futures::State::kWaiting);
}

}  // namespace
}  // namespace hone
