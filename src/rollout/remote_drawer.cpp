#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/mutex.h"
#include "rollout/remote_engine.h"

namespace hone {
namespace {

class RemoteDrawer final : public TurnDrawer {
 public:
  RemoteDrawer(const RemoteEngine* engine, const Policy& policy, const RemoteDrawerOptions& options)
      : engine_(engine),
        options_(options),
        manner_(engine->MannerOf(policy)),
        positions_(policy.engine().config().max_positions) {}

  // What is under way is given up.
  ~RemoteDrawer() override {
    stop_.request_stop();
    for (std::thread& thread : threads_) thread.join();
  }

  Id Start(std::vector<TokenId> tokens) override {
    sequences_[next_].tokens = std::move(tokens);
    return next_++;
  }
  Id Fork(Id from, int64_t length) override {
    const std::vector<TokenId>& tokens = At(from).tokens;
    const auto count = length < 0 ? tokens.size() : static_cast<size_t>(length);
    return Start({tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)});
  }
  void Append(Id id, std::span<const TokenId> tokens) override {
    std::vector<TokenId>& own = At(id).tokens;
    own.insert(own.end(), tokens.begin(), tokens.end());
  }

  Result<void> Generate(Id id, TurnRequest request) override {
    Sequence& sequence = At(id);
    CHECK(!sequence.wanted, "a sequence draws one turn at a time");
    CHECK(request.allow == nullptr && request.likeliest == 0, "a turn that servers cannot draw");
    sequence.wanted = true;
    const auto length = static_cast<int64_t>(sequence.tokens.size());
    CHECK(length < positions_, "a turn without room for a token");
    Job job{id, {sequence.tokens, std::move(request), 0}};
    job.turn.most = std::min(job.turn.request.max_new, positions_ - length);
    MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
    // As many threads as turns are asked for at a time, and not before they are needed.
    const auto most = static_cast<size_t>(engine_->options().concurrent);
    if (idle_ < jobs_.size() && threads_.size() < most) {
      threads_.emplace_back([this] { Work(); });
    }
    changed_.notify_all();
    return {};
  }

  Result<std::vector<Id>> Draw(std::chrono::milliseconds patience) override {
    if (options_.stop && options_.stop()) {
      return Error(ErrorCode::kStopped, "the rollout was stopped");
    }
    std::vector<Id> ended;
    MutexLock lock(mutex_);
    changed_.wait_for(lock, patience,
                      [&]() HONE_REQUIRES(mutex_) { return !done_.empty() || failure_; });
    if (failure_) return *failure_;
    for (auto& [id, drawn] : done_) {
      const auto found = sequences_.find(id);
      if (found == sequences_.end()) continue;  // released meanwhile
      Sequence& sequence = found->second;
      sequence.tokens.insert(sequence.tokens.end(), drawn.tokens.begin(), drawn.tokens.end());
      sequence.drawn = std::move(drawn);
      ended.push_back(id);
    }
    done_.clear();
    std::sort(ended.begin(), ended.end());
    return ended;
  }

  SampleResult Take(Id id) override {
    Sequence& sequence = At(id);
    CHECK(sequence.drawn.has_value(), "a turn that has not ended");
    sequence.wanted = false;
    return *std::exchange(sequence.drawn, std::nullopt);
  }
  void Release(Id id) override { sequences_.erase(id); }
  const std::vector<TokenId>& Tokens(Id id) const override { return sequences_.at(id).tokens; }

 private:
  struct Sequence {
    std::vector<TokenId> tokens;
    bool wanted = false;  // a turn was asked for and not taken
    std::optional<SampleResult> drawn;
  };
  struct Job {
    Id id = -1;
    RemoteTurn turn;
  };

  Sequence& At(Id id) {
    const auto found = sequences_.find(id);
    CHECK(found != sequences_.end(), "a sequence that is not there");
    return found->second;
  }

  // One thread: a turn after the other, until the end or the first that cannot be had.
  void Work() {
    const std::stop_token stop = stop_.get_token();
    while (true) {
      std::optional<Job> job;
      {
        MutexLock lock(mutex_);
        ++idle_;
        const bool more = changed_.wait(
            lock, stop, [&]() HONE_REQUIRES(mutex_) { return !jobs_.empty() || failure_; });
        --idle_;
        if (!more || stop.stop_requested() || failure_) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      Result<SampleResult> drawn = engine_->Draw(manner_, job->turn, stop);
      MutexLock lock(mutex_);
      if (drawn.ok()) {
        done_.emplace_back(job->id, *std::move(drawn));
      } else if (!failure_) {
        failure_ = drawn.error();
      }
      changed_.notify_all();
    }
  }

  const RemoteEngine* engine_;
  const RemoteDrawerOptions options_;
  const RemoteManner manner_;
  const int64_t positions_;
  // Only of the thread that drives it.
  std::map<Id, Sequence> sequences_;
  Id next_ = 0;

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Job> jobs_ HONE_GUARDED_BY(mutex_);  // nobody has begun them
  size_t idle_ HONE_GUARDED_BY(mutex_) = 0;       // threads
  std::vector<std::pair<Id, SampleResult>> done_ HONE_GUARDED_BY(mutex_);
  std::optional<Error> failure_ HONE_GUARDED_BY(mutex_);  // the first
  std::stop_source stop_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<TurnDrawer> NewRemoteDrawer(const RemoteEngine* engine, const Policy& policy,
                                            const RemoteDrawerOptions& options) {
  return std::make_unique<RemoteDrawer>(engine, policy, options);
}

}  // namespace hone
