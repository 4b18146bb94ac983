#include "serve/batcher.h"

#include <algorithm>
#include <future>
#include <new>

#include <fmt/format.h>

#include "base/check.h"

namespace hone {
namespace {

constexpr size_t kRecentTurns = 64;
// A shorter common beginning is as quick to compute as to share.
constexpr size_t kWorthSharing = 32;
// How often those who wait hear of what was drawn for them, first and last tokens apart: 64 threads
// that wake at every step run on the engine's cores.
constexpr std::chrono::milliseconds kRound{50};

// The part of a result from token `from` on.
SampleResult Since(const SampleResult& result, size_t from) {
  const auto tail = [from](const auto& values) {
    using Values = std::decay_t<decltype(values)>;
    return from < values.size()
               ? Values(values.begin() + static_cast<std::ptrdiff_t>(from), values.end())
               : Values();
  };
  SampleResult fresh;
  fresh.tokens = tail(result.tokens);
  fresh.logprobs = tail(result.logprobs);
  fresh.entropies = tail(result.entropies);
  fresh.supports = tail(result.supports);
  fresh.likeliest = tail(result.likeliest);
  fresh.stopped = result.stopped;
  return fresh;
}

size_t CommonBeginning(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
  const size_t size = std::min(a.size(), b.size());
  size_t length = 0;
  while (length < size && a[length] == b[length]) ++length;
  return length;
}

}  // namespace

std::vector<BatchTicket::News> BatchTicket::Wait(std::stop_token stop) {
  MutexLock lock(mutex_);
  changed_.wait(lock, stop,
                [&]() HONE_REQUIRES(mutex_) { return !news_.empty() || left_ == 0 || failure_; });
  if (stop.stop_requested() || failure_) return {};
  return std::exchange(news_, {});
}

std::optional<Error> BatchTicket::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

void BatchTicket::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
}

Batcher::Batcher(Engine* engine, const Options& options) : engine_(engine), options_(options) {
  CHECK(options.max_live > 0);
  thread_ = std::thread([this] { Run(); });
}

Batcher::~Batcher() {
  Abandon(Error(ErrorCode::kStopped, "the server is shutting down"));
  {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Result<std::shared_ptr<BatchTicket>> Batcher::Submit(std::vector<Turn> turns,
                                                     BatchTicket::Over over) {
  auto ticket = std::make_shared<BatchTicket>(turns.size(), std::move(over));
  MutexLock lock(mutex_);
  if (closed_) return Error(ErrorCode::kUnavailable, "the server is shutting down");
  if (static_cast<int64_t>(turns.size()) > options_.max_live + options_.max_waiting) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} completions at once are more than this server ever takes, {}",
                             turns.size(), options_.max_live + options_.max_waiting));
  }
  // Who has left does not wait, and places that are free now count, so that a full house is one
  // where somebody really waits.
  waiting_turns_ -= static_cast<int64_t>(std::erase_if(
      waiting_, [](const Waiting& one) { return one.work == nullptr && Gone(one.job); }));
  const int64_t places = options_.max_live + options_.max_waiting - counters_.live;
  if (waiting_turns_ + static_cast<int64_t>(turns.size()) > places) {
    return Error(ErrorCode::kFull, "too many requests are waiting; try again");
  }
  const size_t before = waiting_.size();
  try {
    for (size_t i = 0; i < turns.size(); ++i) {
      waiting_.push_back({.job = {ticket, i, std::move(turns[i])}});
    }
  } catch (...) {
    while (waiting_.size() > before) waiting_.pop_back();  // all of them, or none
    throw;
  }
  waiting_turns_ += std::ssize(turns);
  ++counters_.requests;
  changed_.notify_all();
  return ticket;
}

Result<void> Batcher::Do(When when, Work work) {
  MutexLock lock(mutex_);
  if (closed_) return Error(ErrorCode::kUnavailable, "the server is shutting down");
  waiting_.push_back({.when = when, .work = std::move(work)});
  changed_.notify_all();
  return {};
}

Result<void> Batcher::Change(const std::function<Result<void>()>& change) {
  static constexpr char kGone[] = "there is no memory for other weights, and the old ones are gone";
  std::promise<Result<void>> made;
  HONE_RETURN_IF_ERROR(Do(When::kAfterTurns, [&](const Error* dropped) {
    if (dropped != nullptr) {
      return made.set_value(Error(ErrorCode::kUnavailable, "the server is shutting down"));
    }
    try {
      made.set_value(change());
    } catch (const std::bad_alloc&) {
      CHECK(false, kGone);
    } catch (const DeviceError& error) {
      CHECK(error.kind() != DeviceError::Kind::kFull, kGone);
      throw;  // nothing can be drawn any more
    } catch (const std::exception& error) {
      made.set_value(Error(ErrorCode::kUnavailable, error.what()));
    }
  }));
  return made.get_future().get();
}

void Batcher::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
}

bool Batcher::WaitIdle(std::chrono::milliseconds deadline) {
  MutexLock lock(mutex_);
  return changed_.wait_for(lock, deadline, [&]() HONE_REQUIRES(mutex_) {
    return waiting_.empty() && counters_.live == 0 && !working_;
  });
}

void Batcher::Abandon(const Error& why) {
  MutexLock lock(mutex_);
  closed_ = true;
  abandoned_ = why;
  changed_.notify_all();
}

Batcher::Counters Batcher::counters() const {
  MutexLock lock(mutex_);
  Counters counters = counters_;
  counters.waiting = waiting_turns_;
  return counters;
}

bool Batcher::Gone(const Job& job) {
  MutexLock lock(job.ticket->mutex_);
  return job.ticket->cancelled_ || job.ticket->failure_;
}

void Batcher::Fail(const Job& job, const Error& why) {
  {
    MutexLock lock(job.ticket->mutex_);
    if (!job.ticket->failure_) job.ticket->failure_ = why;
    job.ticket->changed_.notify_all();
  }
  if (const auto over = std::exchange(job.ticket->over_, nullptr)) over(*job.ticket);
}

// A sequence with these tokens, on the pages of the one that begins most like it.
Sampler::Id Batcher::Begin(const std::vector<TokenId>& prompt) {
  Sampler::Id best = -1;
  size_t longest = kWorthSharing - 1;
  const auto consider = [&](Sampler::Id id) {
    const size_t length = CommonBeginning(prompt, sampler_->Tokens(id));
    if (length <= longest) return;
    longest = length;
    best = id;
  };
  for (const Job& job : live_) consider(job.id);
  for (const Sampler::Id id : recent_) consider(id);
  if (best < 0) return sampler_->Start(prompt);
  const Sampler::Id id = sampler_->Fork(best, static_cast<int64_t>(longest));
  sampler_->Append(id, std::span(prompt).subspan(longest));
  return id;
}

void Batcher::Admit(Job* job) {
  if (job->turn.admit) {
    if (const Result<void> admitted = job->turn.admit(); !admitted.ok()) {
      Fail(*job, admitted.error());
      return;
    }
  }
  if (sampler_ == nullptr) sampler_ = engine_->NewSampler();
  job->id = Begin(job->turn.prompt);
  if (Result<void> begun = sampler_->Generate(job->id, std::move(job->turn.request)); !begun.ok()) {
    Fail(*job, begun.error());
    sampler_->Release(job->id);
    return;
  }
  job->turn.prompt = {};
  live_.push_back(std::move(*job));
}

void Batcher::DropCancelled() {
  const auto gone =
      std::stable_partition(live_.begin(), live_.end(), [](const Job& job) { return !Gone(job); });
  const auto count = live_.end() - gone;
  for (auto job = gone; job != live_.end(); ++job) sampler_->Release(job->id);
  live_.erase(gone, live_.end());
  MutexLock lock(mutex_);
  counters_.cancelled += count;
}

void Batcher::Tell(Job* job, bool ended) {
  const SampleResult& drawn = sampler_->Drawn(job->id);
  if (drawn.tokens.size() == job->told && !ended) return;
  BatchTicket& ticket = *job->ticket;
  BatchTicket::News news{job->index, Since(drawn, job->told), ended};
  job->told = drawn.tokens.size();
  bool over = false;
  {
    MutexLock lock(ticket.mutex_);
    ticket.news_.push_back(std::move(news));
    if (ended) --ticket.left_;
    over = ticket.left_ == 0;
    ticket.changed_.notify_all();
  }
  if (!over) return;
  if (const auto tell = std::exchange(ticket.over_, nullptr)) tell(ticket);
}

// A turn that ended stays for a while: the next request of that conversation begins with it.
void Batcher::Retire(Sampler::Id id) {
  sampler_->Take(id);  // the tokens stay, what was told of them goes
  recent_.push_back(id);
  if (recent_.size() <= kRecentTurns) return;
  sampler_->Release(recent_.front());
  recent_.pop_front();
}

void Batcher::Run() {
  last_round_ = std::chrono::steady_clock::now();
  const Error no_memory(ErrorCode::kUnavailable,
                        "the server has no memory left for this; try again");
  bool lost = false;
  // Nobody knows how far the sampler came: what it held is lost, and the next request is drawn. To
  // say so takes memory as well, so it is tried again.
  const auto lose = [&] {
    recent_.clear();
    sampler_.reset();
    lost = true;
  };
  while (true) {
    try {
      if (std::exchange(lost, false)) FailAll(no_memory);
      if (!Round()) return;
    } catch (const std::bad_alloc&) {
      lose();
    } catch (const DeviceError& error) {
      if (error.kind() != DeviceError::Kind::kFull) throw;  // nothing can be drawn any more
      lose();
    }
  }
}

void Batcher::FailAll(const Error& why) {
  for (const Job& job : admitted_) Fail(job, why);
  for (const Job& job : live_) Fail(job, why);
  admitted_.clear();
  live_.clear();
}

bool Batcher::Round() {
  {
    MutexLock lock(mutex_);
    counters_.live = static_cast<int64_t>(live_.size());
    if (live_.empty() && waiting_.empty()) changed_.notify_all();  // for WaitIdle
    changed_.wait(lock, [&]() HONE_REQUIRES(mutex_) {
      return ending_ || !live_.empty() || !waiting_.empty();
    });
    if (ending_ && live_.empty() && waiting_.empty()) return false;
  }
  TakeIn();
  DropCancelled();
  if (live_.empty()) return true;
  const std::vector<Sampler::Id> ended = sampler_->Step();
  size_t drawn = 0;
  const auto now = std::chrono::steady_clock::now();
  const bool round = now - last_round_ >= kRound;
  if (round) last_round_ = now;
  for (Job& job : live_) {
    const size_t told = job.told;
    const bool over = std::binary_search(ended.begin(), ended.end(), job.id);
    if (round || over || told == 0) Tell(&job, over);
    drawn += job.told - told;
    if (!over) continue;
    Retire(job.id);
    job.id = -1;
  }
  std::erase_if(live_, [](const Job& job) { return job.id < 0; });
  MutexLock lock(mutex_);
  counters_.tokens += static_cast<int64_t>(drawn);
  ++counters_.steps;
  return true;
}

void Batcher::TakeIn() {
  do {
    TakeInTurns();
  } while (DoNext());
}

void Batcher::TakeInTurns() {
  std::optional<Error> abandoned;
  {
    MutexLock lock(mutex_);
    abandoned = abandoned_;
    while (!waiting_.empty() && waiting_.front().work == nullptr &&
           (abandoned || counters_.live < options_.max_live)) {
      admitted_.push_back(std::move(waiting_.front().job));
      waiting_.pop_front();
      --waiting_turns_;
      ++counters_.live;
    }
  }
  if (abandoned) {
    for (const Job& job : admitted_) Fail(job, *abandoned);
    for (const Job& job : live_) Fail(job, *abandoned);
  }
  while (!admitted_.empty()) {
    if (!Gone(admitted_.front())) Admit(&admitted_.front());
    admitted_.pop_front();
  }
}

bool Batcher::DoNext() {
  Waiting next;
  std::optional<Error> abandoned;
  {
    MutexLock lock(mutex_);
    if (waiting_.empty() || waiting_.front().work == nullptr) return false;
    abandoned = abandoned_;
    const bool waits = waiting_.front().when == When::kAfterTurns && !live_.empty();
    if (waits && !abandoned) return false;
    next = std::move(waiting_.front());
    waiting_.pop_front();
    working_ = true;
  }
  if (next.when == When::kAfterTurns && !abandoned) {
    recent_.clear();
    sampler_.reset();
  }
  struct Worked {
    Batcher* batcher;
    ~Worked() {
      MutexLock lock(batcher->mutex_);
      batcher->working_ = false;
      batcher->counters_.live = std::ssize(batcher->live_);
    }
  };
  const Worked worked{this};  // also where what it does fails
  next.work(abandoned ? &*abandoned : nullptr);
  return true;
}

}  // namespace hone
