#include "tools/live.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>

#include "base/mutex.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

// How many calls of a toolkit run, and which wait for their turn.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(const ToolLimits& limits, Timeline* timeline) : limits_(limits), timeline_(timeline) {}

  // `work` is run when there is room, or never when `stop` is requested before: then it is dropped
  // at once, because it holds whoever waits for it, and they hold the lane. It gets a place, which
  // it gives back by Leave.
  void Enter(std::function<void()> work, std::stop_token stop) {
    auto on_stop = std::make_unique<OnStop>(stop, [weak = weak_from_this()] {
      if (const std::shared_ptr<Lane> lane = weak.lock()) lane->Pump();
    });
    {
      MutexLock lock(mutex_);
      waiting_.push_back({std::move(work), std::move(stop), std::move(on_stop)});
    }
    Pump();
  }

  void Leave() {
    {
      MutexLock lock(mutex_);
      --running_;
    }
    Pump();
  }

 private:
  using OnStop = std::stop_callback<std::function<void()>>;
  struct Waiting {
    std::function<void()> work;
    std::stop_token stop;
    std::unique_ptr<OnStop> on_stop;
  };

  // Forgets what was stopped, and starts what may start now.
  void Pump() {
    // Ends after the lock does: to end a callback is to wait for it, and it may wait for the lock.
    std::vector<Waiting> left;
    MutexLock lock(mutex_);
    for (Waiting& one : waiting_) {
      if (one.stop.stop_requested()) left.push_back(std::move(one));
    }
    std::erase_if(waiting_, [](const Waiting& one) { return one.on_stop == nullptr; });
    while (!waiting_.empty()) {
      if (running_ >= limits_.concurrent) return;
      if (limits_.per_second > 0) {
        const Clock::Duration now = timeline_->Now();
        if (now < next_start_) return WakeAt(next_start_);
        const auto gap = std::chrono::duration<double>(1 / limits_.per_second);
        next_start_ = now + std::chrono::duration_cast<Clock::Duration>(gap);
      }
      ++running_;
      timeline_->Run(std::move(waiting_.front().work));
      left.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
  }

  void WakeAt(Clock::Duration time) HONE_REQUIRES(mutex_) {
    if (wake_set_) return;
    wake_set_ = true;
    timeline_->At(time, [weak = weak_from_this()] {
      if (const std::shared_ptr<Lane> lane = weak.lock()) {
        {
          MutexLock lock(lane->mutex_);
          lane->wake_set_ = false;
        }
        lane->Pump();
      }
    });
  }

  const ToolLimits limits_;
  Timeline* const timeline_;
  Mutex mutex_;
  std::deque<Waiting> waiting_ HONE_GUARDED_BY(mutex_);
  int64_t running_ HONE_GUARDED_BY(mutex_) = 0;
  Clock::Duration next_start_ HONE_GUARDED_BY(mutex_){0};
  bool wake_set_ HONE_GUARDED_BY(mutex_) = false;
};

// A place in a lane, given back once: when the call is over, or when nobody waits for it any more,
// so that a call that hangs does not keep others out.
class LanePlace {
 public:
  LanePlace(std::shared_ptr<Lane> lane, std::stop_token stop)
      : lane_(std::move(lane)), on_stop_(std::move(stop), [this] { GiveBack(); }) {}
  ~LanePlace() { GiveBack(); }

 private:
  void GiveBack() {
    if (!given_back_.exchange(true)) lane_->Leave();
  }

  const std::shared_ptr<Lane> lane_;
  std::atomic<bool> given_back_ = false;
  std::stop_callback<std::function<void()>> on_stop_;
};

class LiveResponder final : public Responder {
 public:
  LiveResponder(const Toolbox& toolbox, Timeline* timeline, std::shared_ptr<Journal> journal)
      : timeline_(timeline), journal_(std::move(journal)) {
    for (const Toolbox::Kit& kit : toolbox.kits()) LaneOf(kit);
  }

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    const std::shared_ptr<Lane> lane =
        LaneOf(attempt->sessions->toolbox()->kits()[attempt->tool->kit]);
    // What is handed on holds no part of this object: it may outlive it.
    auto work = [attempt, lane, timeline = timeline_, journal = journal_, reply] {
      const LanePlace place(lane, attempt->stop);
      if (attempt->stop.stop_requested()) return;
      reply(RoutedReply{.reply = CarryOut(*attempt, *timeline, journal.get()),
                        .source = CallSource::kTool});
    };
    attempt->sessions->WhenTurn(attempt->place, [attempt, lane, work = std::move(work)] {
      lane->Enter(work, attempt->stop);
    });
  }

 private:
  // By toolkit, not by its place: the sessions of a call may have a toolbox with some of them only.
  std::shared_ptr<Lane> LaneOf(const Toolbox::Kit& kit) {
    MutexLock lock(mutex_);
    std::shared_ptr<Lane>& lane = lanes_[kit.toolkit.get()];
    if (lane == nullptr) lane = std::make_shared<Lane>(kit.limits, timeline_);
    return lane;
  }

  static ToolReply CarryOut(const CallAttempt& attempt, const Timeline& timeline,
                            Journal* journal) {
    if (attempt.until <= timeline.Now()) return TimedOut("no time was left to begin");
    // A call that must not be repeated has a second attempt only after it was refused.
    if (journal != nullptr && !attempt.tool->may_repeat && !attempt.in_journal->exchange(true)) {
      const Result<void> begun =
          journal->Begin(attempt.identity, attempt.content, attempt.tool->spec.effect);
      if (!begun.ok()) {
        return Unavailable("not carried out, because it could not be noted in the journal: " +
                               begun.error().message(),
                           Blame::kInfrastructure);
      }
    }
    const auto left = std::chrono::duration_cast<milliseconds>(attempt.until - timeline.Now());
    if (left.count() <= 0) return TimedOut("no time was left to begin");
    attempt.note->SetBegun();
    return attempt.sessions->Perform(attempt.place, *attempt.tool, attempt.arguments,
                                     {left, attempt.stop});
  }

  Timeline* const timeline_;
  const std::shared_ptr<Journal> journal_;
  Mutex mutex_;
  std::map<const Toolkit*, std::shared_ptr<Lane>> lanes_ HONE_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Responder> NewLiveResponder(const Toolbox& toolbox, Timeline* timeline,
                                            std::shared_ptr<Journal> journal) {
  return std::make_unique<LiveResponder>(toolbox, timeline, std::move(journal));
}

}  // namespace hone
