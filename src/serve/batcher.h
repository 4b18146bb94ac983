#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/engine.h"

namespace hone {

// Turns that belong to one request, while they are drawn. One thread waits for it.
class BatchTicket {
 public:
  struct News {
    size_t turn = 0;     // index into the turns that were asked for
    SampleResult fresh;  // what was drawn since the last news of it
    bool ended = false;  // nothing more will come of this turn
  };

  // Called once, when nothing more will come of any turn, on the thread that draws. Does not throw.
  // May be null.
  using Over = std::function<void(BatchTicket&)>;

  explicit BatchTicket(size_t turns, Over over = nullptr) : left_(turns), over_(std::move(over)) {}

  // Waits for news. Nothing when all turns have ended, when it was stopped, or when it failed.
  std::vector<News> Wait(std::stop_token stop);
  // Why the turns were given up, if they were.
  std::optional<Error> failure() const;
  // Nobody wants the rest. Thread-safe.
  void Cancel();

 private:
  friend class Batcher;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::vector<News> news_ HONE_GUARDED_BY(mutex_);
  size_t left_ HONE_GUARDED_BY(mutex_);  // turns that have not ended
  std::optional<Error> failure_ HONE_GUARDED_BY(mutex_);
  bool cancelled_ HONE_GUARDED_BY(mutex_) = false;
  Over over_;  // of the thread that draws; null once it was called
};

// Draws turns for many at a time: they join and leave between two steps of the engine. What is
// drawn for one does not depend on who else is there. Beginnings that were computed a short time
// ago are not computed again. Who wants the engine for something else has it between two steps.
// Turns and work begin in the order in which they were given. Thread-safe; the engine must outlive
// it and is not to be used by others meanwhile.
class Batcher {
 public:
  struct Options {
    int64_t max_live = 64;      // turns that are drawn at a time
    int64_t max_waiting = 256;  // turns that wait for that
  };
  struct Turn {
    std::vector<TokenId> prompt;  // not empty, tokens of the model
    TurnRequest request;
    // Asked when its place in the order has come, before anything is drawn: an error is the
    // ticket's failure. May be null.
    std::function<Result<void>()> admit = nullptr;
  };

  // When work has the engine: between two steps of the turns under way, whose weights it leaves as
  // they are; or once all turns that were given before it have ended, and nothing is kept of them.
  // Turns that are given after work wait for it.
  enum class When { kBetweenSteps, kAfterTurns };
  // Called once, on the thread that draws: with null to be done, else with why it will not be. Does
  // not throw.
  using Work = std::function<void(const Error* dropped)>;

  Batcher(Engine* engine, const Options& options);
  // Gives up what is under way.
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // kFull when too many wait; kInvalidArgument when they are more than ever may; kUnavailable after
  // Close. kInvalidArgument for settings that are none comes with the ticket's failure.
  Result<std::shared_ptr<BatchTicket>> Submit(std::vector<Turn> turns,
                                              BatchTicket::Over over = nullptr);
  // kUnavailable after Close, and then the work is not called.
  Result<void> Do(When when, Work work);
  // Draws with another engine from now on. Only from work that waited for the turns.
  void UseEngine(Engine* engine) { engine_ = engine; }

  // The same after the turns, waiting until it is done; kUnavailable where the batcher ends before.
  Result<void> Change(const std::function<Result<void>()>& change);

  // Turns that may be there at a time, drawn or waiting.
  int64_t places() const { return options_.max_live + options_.max_waiting; }

  // Takes no more.
  void Close();
  // Waits until nothing is under way; false at the deadline.
  bool WaitIdle(std::chrono::milliseconds deadline);
  // Gives up what is under way: every ticket fails with this.
  void Abandon(const Error& why);

  struct Counters {
    int64_t live = 0, waiting = 0;  // now
    int64_t requests = 0, tokens = 0, steps = 0, cancelled = 0;
  };
  Counters counters() const;

 private:
  struct Job {
    std::shared_ptr<BatchTicket> ticket;
    size_t index = 0;
    Turn turn;
    Sampler::Id id = -1;
    size_t told = 0;  // tokens that the ticket knows of
  };

  // What waits: a turn, or work.
  struct Waiting {
    Job job;
    When when = When::kBetweenSteps;
    Work work;  // null: a turn
  };

  void Run();
  // Takes in who waits and draws one token for everybody. False at the end.
  bool Round();
  void TakeIn();
  void TakeInTurns();
  // Does the work whose place has come; false where there is none.
  bool DoNext();
  void FailAll(const Error& why);
  // Moves the job among those that are drawn; where memory runs out, it is whole enough to fail.
  void Admit(Job* job);
  Sampler::Id Begin(const std::vector<TokenId>& prompt);
  void DropCancelled();
  void Tell(Job* job, bool ended);
  void Retire(Sampler::Id id);
  static bool Gone(const Job& job);
  static void Fail(const Job& job, const Error& why);

  Engine* engine_;  // only of the thread, once that runs
  const Options options_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Waiting> waiting_ HONE_GUARDED_BY(mutex_);
  int64_t waiting_turns_ HONE_GUARDED_BY(mutex_) = 0;
  bool working_ HONE_GUARDED_BY(mutex_) = false;
  bool closed_ HONE_GUARDED_BY(mutex_) = false;
  bool ending_ HONE_GUARDED_BY(mutex_) = false;
  std::optional<Error> abandoned_ HONE_GUARDED_BY(mutex_);
  Counters counters_ HONE_GUARDED_BY(mutex_);

  // Only of the thread.
  std::unique_ptr<Sampler> sampler_;  // null before the first turn and where memory ran out
  std::deque<Job> admitted_;          // no longer waiting, not yet drawn
  std::vector<Job> live_;
  std::chrono::steady_clock::time_point last_round_;
  std::deque<Sampler::Id> recent_;  // turns that ended, oldest first: their beginnings are shared
  std::thread thread_;
};

}  // namespace hone
