#include "serve/batcher.h"

#include <gtest/gtest.h>

#include <future>

#include "serve/response.h"
#include "support/no_memory_for.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

Batcher::Turn Turn(const std::string& prompt, uint64_t seed, int64_t most) {
  static const Tokenizer tokenizer =
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json").value();
  Batcher::Turn turn;
  turn.prompt = tokenizer.Encode(prompt);
  turn.request.max_new = most;
  turn.request.rng = Rng(seed);
  return turn;
}

std::vector<SampleResult> Finish(BatchTicket* ticket, size_t turns) {
  std::vector<SampleResult> drawn(turns);
  while (true) {
    const auto news = ticket->Wait({});
    if (news.empty()) return drawn;
    for (const BatchTicket::News& one : news) AppendDrawn(one.fresh, &drawn[one.turn]);
  }
}

TEST(Batcher, WhereMemoryRunsOutWhatIsUnderWayFailsAndTheNextRequestIsDrawn) {
  const auto served = TinyServed();
  Batcher batcher(served->engine.get(), {});
  Batcher::Turn greedy = Turn("Hello", 1, 5);
  greedy.request.stop = [](std::span<const TokenId>) -> bool { throw std::bad_alloc(); };
  const auto failed = batcher.Submit({std::move(greedy)}).value();
  EXPECT_TRUE(failed->Wait({}).empty());
  ASSERT_NE(failed->failure(), std::nullopt);
  EXPECT_EQ(failed->failure()->code(), ErrorCode::kUnavailable);
  const auto next = batcher.Submit({Turn("Hello", 1, 5)}).value();
  EXPECT_EQ(Finish(next.get(), 1)[0].tokens.size(), 5u);
  EXPECT_EQ(next->failure(), std::nullopt);
}

TEST(Batcher, AGpuThatIsFullIsLikeThat) {
  const auto served = TinyServed();
  Batcher batcher(served->engine.get(), {});
  Batcher::Turn greedy = Turn("Hello", 1, 5);
  greedy.request.stop = [](std::span<const TokenId>) -> bool {
    throw DeviceError(DeviceError::Kind::kFull, "the GPU's memory is full");
  };
  const auto failed = batcher.Submit({std::move(greedy)}).value();
  EXPECT_TRUE(failed->Wait({}).empty());
  ASSERT_NE(failed->failure(), std::nullopt);
  EXPECT_EQ(failed->failure()->code(), ErrorCode::kUnavailable);
  const auto next = batcher.Submit({Turn("Hello", 1, 5)}).value();
  EXPECT_EQ(Finish(next.get(), 1)[0].tokens.size(), 5u);
}

TEST(Batcher, WhereMemoryRunsOutForOneOfThemAllThatAreTakenInFail) {
#ifdef HONE_SANITIZED
  GTEST_SKIP() << "sanitizers end a process that has no memory left";
#endif
  const auto served = TinyServed();
  Batcher batcher(served->engine.get(), {});
  EXPECT_EQ(Finish(batcher.Submit({Turn("Hello", 1, 5)}).value().get(), 1)[0].tokens.size(), 5u);
  std::vector<Batcher::Turn> turns = {Turn("first", 1, 5), Turn("too long", 1, 5),
                                      Turn("last", 1, 5)};
  turns[1].prompt.resize(size_t{16} << 20);
  {
    const NoMemoryFor copies(turns[1].prompt.size() * sizeof(TokenId));
    const auto failed = batcher.Submit(std::move(turns)).value();
    EXPECT_TRUE(failed->Wait({}).empty());
    ASSERT_NE(failed->failure(), std::nullopt);
    EXPECT_EQ(failed->failure()->code(), ErrorCode::kUnavailable);
  }
  const auto next = batcher.Submit({Turn("Hello", 1, 5)}).value();
  EXPECT_EQ(Finish(next.get(), 1)[0].tokens.size(), 5u);
  EXPECT_EQ(next->failure(), std::nullopt);
}

TEST(Batcher, DrawsForManyWhatItWouldDrawForOne) {
  const auto served = TinyServed();
  const std::string common =
      "A beginning that is long enough to be worth sharing between requests, because it says the "
      "same thing over and over again, and then again, and so on and so forth: ";
  std::vector<std::vector<Batcher::Turn>> requests;
  for (uint64_t i = 0; i < 12; ++i) {
    const std::string prompt = i % 3 == 0 ? "Hello" : common + std::to_string(i % 4);
    requests.push_back({Turn(prompt, i, 3 + static_cast<int64_t>(i)), Turn(prompt, i + 50, 9)});
  }
  std::vector<std::vector<SampleResult>> expected;
  for (const auto& request : requests) {
    std::vector<SampleRequest> alone;
    for (const Batcher::Turn& turn : request) {
      SampleRequest& one = alone.emplace_back();
      static_cast<TurnRequest&>(one) = turn.request;
      one.prompt = turn.prompt;
    }
    expected.push_back(served->engine->Sample(alone).value());
  }
  Batcher batcher(served->engine.get(), {.max_live = 5, .max_waiting = 100});
  std::vector<std::shared_ptr<BatchTicket>> tickets;
  for (const auto& request : requests) tickets.push_back(batcher.Submit(request).value());
  for (size_t i = 0; i < requests.size(); ++i) {
    const std::vector<SampleResult> drawn = Finish(tickets[i].get(), 2);
    EXPECT_EQ(tickets[i]->failure(), std::nullopt);
    for (size_t t = 0; t < 2; ++t) {
      EXPECT_EQ(drawn[t].tokens, expected[i][t].tokens);
      EXPECT_EQ(drawn[t].logprobs, expected[i][t].logprobs);
    }
  }
  EXPECT_TRUE(batcher.WaitIdle(std::chrono::seconds(30)));
  EXPECT_EQ(batcher.counters().requests, 12);
  EXPECT_EQ(batcher.counters().live, 0);
}

// A turn that is under way until it is told to go on.
struct HeldTurn {
  std::promise<void> begun, go_on;
  Batcher::Turn turn = Turn("a", 1, 50);

  HeldTurn() {
    turn.request.stop = [this, held = false](std::span<const TokenId>) mutable {
      if (!std::exchange(held, true)) {
        begun.set_value();
        go_on.get_future().wait();
      }
      return false;
    };
  }
};

TEST(Batcher, TooManyAreRefusedAndCancellingMakesRoom) {
  const auto served = TinyServed();
  HeldTurn held;
  Batcher batcher(served->engine.get(), {.max_live = 1, .max_waiting = 1});
  const auto never = batcher.Submit(std::vector<Batcher::Turn>(3));
  ASSERT_FALSE(never.ok());
  EXPECT_EQ(never.error().code(), ErrorCode::kInvalidArgument) << "trying again is of no use";
  const auto first = batcher.Submit({held.turn}).value();
  held.begun.get_future().wait();
  const auto second = batcher.Submit({Turn("b", 1, 3)}).value();
  EXPECT_EQ(batcher.Submit({Turn("c", 1, 3)}).error().code(), ErrorCode::kFull);
  first->Cancel();
  held.go_on.set_value();
  EXPECT_EQ(Finish(second.get(), 1)[0].tokens.size(), 3u);
  EXPECT_EQ(batcher.counters().cancelled, 1);
}

// The same model with other weights.
Model Another(const Model& model) {
  Model other = model;
  InitializeModel(77, &other);
  return other;
}

TEST(Batcher, AChangeComesBetweenTheTurnsThatWereThereAndThoseThatCome) {
  const auto served = TinyServed();
  const Model other = Another(served->engine->model());
  const auto as_alone = [](Engine* engine) {
    SampleRequest one;
    const Batcher::Turn turn = Turn("Hello", 1, 5);
    static_cast<TurnRequest&>(one) = turn.request;
    one.prompt = turn.prompt;
    return engine->Sample({&one, 1}).value()[0];
  };
  const SampleResult before = as_alone(served->engine.get());
  Engine changed(other, {.threads = 1, .forbidden = served->engine->forbidden()});
  const SampleResult after = as_alone(&changed);
  ASSERT_NE(before.logprobs, after.logprobs);

  HeldTurn held;
  Batcher batcher(served->engine.get(), {.max_live = 1, .max_waiting = 9});
  const auto live = batcher.Submit({held.turn}).value();
  held.begun.get_future().wait();
  const auto earlier = batcher.Submit({Turn("Hello", 1, 5)}).value();
  std::promise<void> asked;
  std::thread changer([&] {
    EXPECT_TRUE(batcher
                    .Change([&] {
                      asked.set_value();
                      return served->engine->Become(other);
                    })
                    .ok());
  });
  // It has not come before the turn that is held has ended.
  EXPECT_EQ(asked.get_future().wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  held.go_on.set_value();
  changer.join();
  const auto later = batcher.Submit({Turn("Hello", 1, 5)}).value();
  EXPECT_EQ(Finish(live.get(), 1)[0].tokens.size(), 50u);
  EXPECT_EQ(Finish(earlier.get(), 1)[0].logprobs, before.logprobs);
  EXPECT_EQ(Finish(later.get(), 1)[0].logprobs, after.logprobs);
}

TEST(Batcher, AChangeThatIsNotMadeBeforeTheEndSaysSo) {
  const auto served = TinyServed();
  HeldTurn held;
  auto batcher = std::make_unique<Batcher>(served->engine.get(), Batcher::Options{});
  const auto live = batcher->Submit({held.turn}).value();
  held.begun.get_future().wait();
  std::thread changer([&] {
    const auto changed = batcher->Change([]() -> Result<void> { return {}; });
    ASSERT_FALSE(changed.ok());
    EXPECT_EQ(changed.error().code(), ErrorCode::kUnavailable);
  });
  batcher->Abandon(Error(ErrorCode::kStopped, "enough"));
  held.go_on.set_value();
  changer.join();
  batcher.reset();
}

TEST(Batcher, AChangeThatThrowsIsAnErrorAndTurnsGoOn) {
  const auto served = TinyServed();
  Batcher batcher(served->engine.get(), {});
  const auto changed =
      batcher.Change([]() -> Result<void> { throw std::runtime_error("the disk is gone"); });
  ASSERT_FALSE(changed.ok());
  EXPECT_NE(changed.error().message().find("the disk is gone"), std::string::npos);
  EXPECT_TRUE(batcher.WaitIdle(std::chrono::seconds(30)));
  EXPECT_EQ(Finish(batcher.Submit({Turn("a", 1, 3)}).value().get(), 1)[0].tokens.size(), 3u);
}

TEST(Batcher, WhatCannotBeDrawnFails) {
  const auto served = TinyServed();
  Batcher batcher(served->engine.get(), {});
  Batcher::Turn bad = Turn("a", 1, 3);
  bad.request.sampling.temperature = -1;
  const auto ticket = batcher.Submit({bad}).value();
  EXPECT_TRUE(ticket->Wait({}).empty());
  ASSERT_TRUE(ticket->failure().has_value());
  EXPECT_EQ(ticket->failure()->code(), ErrorCode::kInvalidArgument);
}

TEST(Batcher, AtTheEndNobodyWaitsForEver) {
  const auto served = TinyServed();
  HeldTurn held;
  auto batcher = std::make_unique<Batcher>(served->engine.get(),
                                           Batcher::Options{.max_live = 1, .max_waiting = 9});
  const auto live = batcher->Submit({held.turn}).value();
  held.begun.get_future().wait();
  const auto waiting = batcher->Submit({Turn("b", 1, 200)}).value();
  batcher->Close();
  EXPECT_EQ(batcher->Submit({Turn("c", 1, 3)}).error().code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(batcher->WaitIdle(std::chrono::milliseconds(0)));
  batcher->Abandon(Error(ErrorCode::kStopped, "enough"));
  held.go_on.set_value();
  Finish(live.get(), 1);
  Finish(waiting.get(), 1);
  EXPECT_EQ(live->failure()->message(), "enough");
  EXPECT_EQ(waiting->failure()->message(), "enough");
  batcher.reset();
}

// Everything has the place in which it was given: work between the steps of a turn that goes on,
// work that waits for the turns before it, and turns that wait for that.
TEST(Batcher, WorkAndTurnsKeepTheirOrder) {
  const auto served = TinyServed();
  Mutex mutex;
  std::vector<std::string> seen;
  const auto see = [&](const std::string& what) {
    MutexLock lock(mutex);
    seen.push_back(what);
  };
  HeldTurn held;
  Batcher batcher(served->engine.get(), {});
  const auto ended = [&](const std::string& what) {
    return [&see, what](BatchTicket&) { see(what); };
  };
  const auto first = batcher.Submit({held.turn}, ended("first turn")).value();
  held.begun.get_future().wait();
  const auto work = [&](const std::string& what) {
    return [&see, what](const Error* dropped) { see(dropped == nullptr ? what : "dropped"); };
  };
  EXPECT_TRUE(batcher.Do(Batcher::When::kBetweenSteps, work("between")).ok());
  Batcher::Turn second = Turn("b", 1, 3);
  second.admit = [&]() -> Result<void> {
    see("second admitted");
    return {};
  };
  const auto next = batcher.Submit({std::move(second)}, ended("second turn")).value();
  EXPECT_TRUE(batcher.Do(Batcher::When::kAfterTurns, work("after turns")).ok());
  Batcher::Turn third = Turn("c", 1, 3);
  third.admit = [&]() -> Result<void> {
    see("third admitted");
    return Error(ErrorCode::kInvalidArgument, "not this one");
  };
  const auto refused = batcher.Submit({std::move(third)}, ended("third turn")).value();
  EXPECT_TRUE(batcher.Do(Batcher::When::kBetweenSteps, work("last")).ok());
  EXPECT_FALSE(batcher.WaitIdle(std::chrono::milliseconds(0)));
  held.go_on.set_value();
  EXPECT_EQ(Finish(first.get(), 1)[0].tokens.size(), 50u);
  Finish(refused.get(), 1);
  EXPECT_TRUE(batcher.WaitIdle(std::chrono::seconds(30)));
  EXPECT_EQ(refused->failure()->message(), "not this one");
  const std::vector<std::string> expected = {
      "between",     "second admitted", "second turn", "first turn",
      "after turns", "third admitted",  "third turn",  "last"};
  MutexLock lock(mutex);
  EXPECT_EQ(seen, expected);
}

TEST(Batcher, WorkMayChangeTheWeightsAndTheEngine) {
  const auto served = TinyServed(), other = TinyServed();
  other->engine->Accumulate(std::vector<Tree>{ChainOf({1, 2, 3, 4, 5, 6})},
                            [](std::span<TreeTerms> terms) {
                              for (float& d : terms[0].paths[0].dlogprobs) d = -1;
                            });
  other->engine->Step({.learning_rate = 0.05});
  SampleRequest alone;
  static_cast<TurnRequest&>(alone) = Turn("Hello", 4, 12).request;
  alone.prompt = Turn("Hello", 4, 12).prompt;
  const auto expected = other->engine->Sample(std::vector<SampleRequest>{alone}).value();
  Batcher batcher(served->engine.get(), {});
  const auto before = batcher.Submit({Turn("Hello", 4, 12)}).value();
  EXPECT_TRUE(batcher
                  .Do(Batcher::When::kAfterTurns,
                      [&](const Error*) { batcher.UseEngine(other->engine.get()); })
                  .ok());
  const auto after = batcher.Submit({Turn("Hello", 4, 12)}).value();
  EXPECT_NE(Finish(before.get(), 1)[0].logprobs, expected[0].logprobs);
  EXPECT_EQ(Finish(after.get(), 1)[0].logprobs, expected[0].logprobs);
}

TEST(Batcher, WorkIsToldWhenItIsDropped) {
  const auto served = TinyServed();
  HeldTurn held;
  auto batcher = std::make_unique<Batcher>(served->engine.get(), Batcher::Options{});
  const auto live = batcher->Submit({held.turn}).value();
  held.begun.get_future().wait();
  std::promise<std::string> dropped;
  EXPECT_TRUE(batcher
                  ->Do(Batcher::When::kAfterTurns,
                       [&](const Error* why) {
                         dropped.set_value(why == nullptr ? "done" : why->message());
                       })
                  .ok());
  batcher->Abandon(Error(ErrorCode::kStopped, "enough"));
  EXPECT_EQ(batcher->Do(Batcher::When::kBetweenSteps, [](const Error*) {}).error().code(),
            ErrorCode::kUnavailable);
  held.go_on.set_value();
  EXPECT_EQ(dropped.get_future().get(), "enough");
  batcher.reset();
}

TEST(BatchTicket, AWaitCanBeStopped) {
  BatchTicket ticket(1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(ticket.Wait(stop.get_token()).empty());
}

}  // namespace
}  // namespace hone
