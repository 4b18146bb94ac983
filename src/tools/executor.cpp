#include "tools/executor.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include <fmt/format.h>

#include "base/mutex.h"
#include "base/rng.h"
#include "tools/cut.h"

namespace hone {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr size_t kNoResponder = SIZE_MAX;

int64_t Microseconds(Clock::Duration duration) {
  return std::chrono::duration_cast<microseconds>(duration).count();
}

// For people who look into the journal; nothing is decided by it.
int64_t UnixMilliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(now).count();
}

}  // namespace

class Executor::Core : public std::enable_shared_from_this<Core> {
  // A call on its way. Guarded by the executor's mutex.
  struct Pending {
    uint64_t ticket = 0;
    CallRequest request;
    CallContent content;
    const Toolbox::Tool* tool = nullptr;
    const ToolLimits* limits = nullptr;
    std::optional<Sessions::Place> place;
    Clock::Duration submitted{0};
    bool settled = false;
    const std::shared_ptr<std::atomic<bool>> in_journal =
        std::make_shared<std::atomic<bool>>(false);

    // The current attempt.
    int32_t attempt = 0;
    Clock::Duration began{0};
    size_t asked = kNoResponder;  // which responder's reply is waited for
    bool ended = false;           // by a reply or by its time
    std::stop_source stop;
    std::shared_ptr<AttemptNote> note;
    Timeline::Timer timer;  // the end of the attempt, or of the pause before the next

    std::vector<Attempt> attempts;
    std::string injected;
  };
  using PendingPtr = std::shared_ptr<Pending>;

 public:
  Core(ExecutorOptions options, Timeline* timeline)
      : options_(std::move(options)), timeline_(timeline) {}

  // The mutex is never held while a responder, session or journal runs: it may come back in here.
  uint64_t Submit(CallRequest request) {
    auto call = std::make_shared<Pending>();
    call->request = std::move(request);
    call->submitted = timeline_->Now();
    {
      MutexLock lock(mutex_);
      call->ticket = ++last_ticket_;
      pending_[call->ticket] = call;
    }
    if (std::optional<ToolReply> fault = RefusalOf(call.get())) {
      {
        MutexLock lock(mutex_);
        call->settled = true;
        call->attempt = 1;
      }
      Deliver(call, ResultOf(*call, *fault), CallSource::kExecutor);
    } else {
      StartAttempt(call);
    }
    return call->ticket;
  }

  void Cancel(uint64_t ticket) {
    PendingPtr call;
    {
      MutexLock lock(mutex_);
      const auto found = pending_.find(ticket);
      if (found == pending_.end()) return;
      call = found->second;
    }
    Conclude(call, {.reply = {.status = CallStatus::kInterrupted,
                              .blame = Blame::kInfrastructure,
                              .content = "cancelled"},
                    .source = CallSource::kExecutor});
  }

  std::optional<CallOutcome> Next(std::stop_token stop) {
    while (true) {
      // Before looking: what comes between the look and the wait ends the wait.
      const uint64_t seen = timeline_->news();
      if (std::optional<CallOutcome> outcome = Poll()) return outcome;
      {
        MutexLock lock(mutex_);
        if (pending_.empty() && outcomes_.empty()) return std::nullopt;
      }
      if (!timeline_->Wait(seen, stop)) return std::nullopt;
    }
  }

  void CatchUp() { timeline_->CatchUp(); }
  std::optional<CallOutcome> Poll() {
    MutexLock lock(mutex_);
    if (outcomes_.empty()) return std::nullopt;
    CallOutcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    return outcome;
  }

  void Close() {
    std::map<uint64_t, PendingPtr> left;
    {
      MutexLock lock(mutex_);
      left.swap(pending_);
      // Those whose outcome is being recorded go their way to the end.
      std::erase_if(left, [](const auto& entry) { return entry.second->settled; });
      for (const auto& [ticket, call] : left) {
        call->settled = true;
        timeline_->Cancel(call->timer);
      }
    }
    // All are stopped before the first is settled, or its end would give the next one its turn.
    for (const auto& [ticket, call] : left) call->stop.request_stop();
    for (const auto& [ticket, call] : left) {
      if (call->place) {
        call->request.sessions->Settle(*call->place, false, {.status = CallStatus::kInterrupted});
      }
    }
  }

  ExecutorCounts counts() const {
    MutexLock lock(mutex_);
    return counts_;
  }

 private:
  // Why no tool is asked, if so: mostly something that is wrong with the call itself. Else the call
  // gets its tool and its place.
  std::optional<ToolReply> RefusalOf(Pending* call) {
    CallRequest& request = call->request;
    const Toolbox& toolbox = *request.sessions->toolbox();
    const Toolbox::Tool* tool = toolbox.Find(request.tool);
    if (tool == nullptr) {
      return ToolReply{.status = CallStatus::kUnknownTool,
                       .blame = Blame::kAgent,
                       .content = toolbox.UnknownTool(request.tool)};
    }
    call->limits = &toolbox.kits()[tool->kit].limits;
    auto invalid = [](std::string why) {
      return ToolReply{.status = CallStatus::kInvalidArguments,
                       .blame = Blame::kAgent,
                       .content = std::move(why)};
    };
    // Before the schema is asked, whose work grows with the arguments.
    const size_t bytes = DumpJson(request.arguments).size();
    if (bytes > static_cast<size_t>(call->limits->max_argument_bytes)) {
      return invalid(fmt::format("the arguments have {} bytes; at most {} are allowed", bytes,
                                 call->limits->max_argument_bytes));
    }
    ArgumentChecker::Verdict verdict = tool->checker.Check(request.arguments);
    // A schema that cannot be checked in bounded time is its tool's fault, not the agent's.
    if (verdict.undecided) return Unavailable(std::move(verdict.problem), Blame::kTool);
    if (!verdict.problem.empty()) return invalid(std::move(verdict.problem));
    call->tool = tool;
    call->place = request.sessions->Enter(*tool, request.arguments);
    call->content = {.environment_seed = request.sessions->seed(),
                     .tool = request.tool,
                     .arguments = options_.redact_arguments
                                      ? options_.redact_arguments(request.arguments)
                                      : request.arguments,
                     .state_hash = call->place->state_hash};
    return std::nullopt;
  }

  Clock::Duration DeadlineOf(const Pending& call) const {
    return call.submitted + call.limits->deadline;
  }

  void StartAttempt(const PendingPtr& call) {
    auto attempt = std::make_shared<CallAttempt>();
    {
      MutexLock lock(mutex_);
      if (call->settled) return;
      // All new: the attempt before may still be running somewhere.
      ++call->attempt;
      call->began = timeline_->Now();
      call->stop = std::stop_source();
      call->note = std::make_shared<AttemptNote>();
      call->asked = 0;
      call->ended = false;
      const Clock::Duration until =
          std::min<Clock::Duration>(call->began + call->limits->attempt, DeadlineOf(*call));
      *attempt = {.identity = call->request.identity,
                  .content = call->content,
                  .arguments = call->request.arguments,
                  .attempt = call->attempt,
                  .tool = call->tool,
                  .sessions = call->request.sessions,
                  .place = *call->place,
                  .until = until,
                  .stop = call->stop.get_token(),
                  .note = call->note,
                  .in_journal = call->in_journal};
      // Weakly: a timer that nobody waits for any more must not keep the executor alive.
      call->timer = timeline_->At(until, [core = weak_from_this(), call, number = call->attempt] {
        if (const auto alive = core.lock()) alive->OnTimeout(call, number);
      });
    }
    Ask(call, std::move(attempt), 0);
  }

  void Ask(const PendingPtr& call, std::shared_ptr<const CallAttempt> attempt, size_t responder) {
    if (responder == options_.responders.size()) {
      return OnAnswer(
          call, attempt->attempt,
          {.reply = Unavailable("nobody answers this call: it is not in the journal, and the "
                                "real tools are not asked in this mode",
                                Blame::kInfrastructure),
           .source = CallSource::kExecutor});
    }
    options_.responders[responder]->Answer(attempt, [core = weak_from_this(), call, attempt,
                                                     responder](std::optional<RoutedReply> answer) {
      const auto alive = core.lock();
      if (alive == nullptr || !alive->Expected(call, attempt->attempt, responder)) return;
      if (answer) {
        alive->OnAnswer(call, attempt->attempt, *std::move(answer));
      } else {
        alive->Ask(call, attempt, responder + 1);
      }
    });
  }

  // Whether this reply is the one that is waited for; if so, the next one is of the next responder.
  bool Expected(const PendingPtr& call, int32_t attempt, size_t responder) {
    MutexLock lock(mutex_);
    if (call->attempt == attempt && call->asked == responder && !call->settled) {
      call->asked = responder + 1;
      return true;
    }
    // Not an error: tools, networks and faults on purpose do this, and it must change nothing.
    const bool answered = call->attempt == attempt && call->asked == responder + 1;
    ++(answered ? counts_.duplicate_replies : counts_.late_replies);
    return false;
  }

  void OnTimeout(const PendingPtr& call, int32_t attempt) {
    bool played = false;
    {
      MutexLock lock(mutex_);
      if (call->settled || call->attempt != attempt) return;
      // Who plays a tool may be slower than the tool is said to be.
      played = options_.patience.count() > 0 && call->note->injected().empty();
      const Clock::Duration until = call->began + options_.patience;
      if (played && timeline_->Now() < until) {
        call->timer = timeline_->At(until, [core = weak_from_this(), call, attempt] {
          if (const auto alive = core.lock()) alive->OnTimeout(call, attempt);
        });
        return;
      }
      call->asked = kNoResponder;  // whatever comes now is late
    }
    std::string content =
        fmt::format("no answer within {} ms", Microseconds(timeline_->Now() - call->began) / 1000);
    if (!call->tool->may_repeat) {
      content += call->note->begun() ? "; it may or may not have been carried out"
                                     : "; it was not carried out";
    }
    // Not here, where the other timers wait: what a call holds on to can take a while to end.
    ToolReply reply = played ? Unavailable("the simulator gave " + content, Blame::kSimulator)
                             : TimedOut(content);
    timeline_->Run([core = shared_from_this(), call, attempt, reply = std::move(reply)] {
      core->EndAttempt(call, attempt, {.reply = reply, .source = CallSource::kExecutor});
    });
  }

  void OnAnswer(const PendingPtr& call, int32_t attempt, RoutedReply answer) {
    // What was recorded is how the call ended, its retries included.
    if (answer.recorded) return Conclude(call, std::move(answer));
    EndAttempt(call, attempt, std::move(answer));
  }

  // The attempt is over: either another follows, or the call is.
  void EndAttempt(const PendingPtr& call, int32_t attempt, RoutedReply answer) {
    std::stop_source stop;
    bool again = false;
    {
      MutexLock lock(mutex_);
      if (call->settled || call->attempt != attempt || call->ended) return;
      call->ended = true;
      const Clock::Duration now = timeline_->Now();
      timeline_->Cancel(call->timer);
      stop = call->stop;
      call->attempts.push_back({.status = answer.reply.status,
                                .content = answer.reply.content,
                                .latency_us = Microseconds(now - call->began),
                                .injected = call->note->injected()});
      if (!call->note->injected().empty()) call->injected = call->note->injected();
      const Clock::Duration pause = PauseBeforeRetry(*call, answer.reply);
      again = WorthRetrying(*call, answer.reply) && now + pause < DeadlineOf(*call);
      if (again) {
        ++counts_.retries;
        call->timer = timeline_->At(now + pause, [core = weak_from_this(), call] {
          if (const auto alive = core.lock()) alive->StartAttempt(call);
        });
      }
    }
    stop.request_stop();
    if (!again) Conclude(call, std::move(answer));
  }

  // Only where doing it twice is doing it once: what reads, or what was surely not begun.
  static bool WorthRetrying(const Pending& call, const ToolReply& reply) {
    if (reply.status != CallStatus::kUnavailable && reply.status != CallStatus::kTimeout) {
      return false;
    }
    if (reply.blame == Blame::kInfrastructure || call.attempt > call.limits->retries) return false;
    return call.tool->may_repeat || (reply.refused && call.tool->spec.effect == Effect::kWrites);
  }

  // Doubles with each attempt, with a jitter that depends on the call alone; never shorter than the
  // tool asked for.
  Clock::Duration PauseBeforeRetry(const Pending& call, const ToolReply& reply) const {
    const CallIdentity& id = call.request.identity;
    Rng rng = Rng(options_.seed)
                  .Split("retry")
                  .Split(id.task)
                  .Split(id.path)
                  .Split(static_cast<uint64_t>(id.turn))
                  .Split(static_cast<uint64_t>(id.call))
                  .Split(static_cast<uint64_t>(call.attempt));
    const int doublings = std::min(call.attempt - 1, 10);
    const double pause = static_cast<double>(Clock::Duration(call.limits->backoff).count()) *
                         (1 << doublings) * (0.5 + 0.5 * rng.NextDouble());
    // Whoever asks for more than the call has left gets no other try.
    const Clock::Duration asked = std::clamp(reply.retry_after.value_or(milliseconds(0)),
                                             milliseconds(0), call.limits->deadline);
    return std::max(Clock::Duration(static_cast<int64_t>(pause)), asked);
  }

  // `cut_bytes` as RoutedReply has it.
  ToolResult ResultOf(const Pending& call, const ToolReply& reply, int64_t cut_bytes = 0) const {
    CutText cut{reply.content, cut_bytes};
    if (cut_bytes == 0) {
      if (options_.redact_content) cut.text = options_.redact_content(std::move(cut.text));
      cut = Cut(std::move(cut.text),
                call.limits ? call.limits->max_result_bytes : ToolLimits{}.max_result_bytes);
    }
    return {.call = call.request.identity.call,
            .status = reply.status,
            .blame = reply.blame,
            .content = std::move(cut.text),
            .latency_us = Microseconds(timeline_->Now() - call.submitted),
            .attempts = std::max(call.attempt, 1),
            .cut_bytes = cut.cut_bytes,
            .injected = call.injected};
  }

  // The call's outcome stands. It is committed, then given out.
  void Conclude(const PendingPtr& call, RoutedReply answer) {
    std::stop_source stop;
    {
      MutexLock lock(mutex_);
      if (call->settled) return;
      call->settled = true;
      timeline_->Cancel(call->timer);
      stop = call->stop;
    }
    stop.request_stop();
    if (answer.recorded) {
      return Deliver(call, answer.recorded->result, CallSource::kJournal,
                     answer.recorded->session_lost);
    }
    ToolResult result = ResultOf(*call, answer.reply, answer.cut_bytes);
    if (options_.journal == nullptr) {
      return Deliver(call, std::move(result), answer.source, answer.reply.session_lost);
    }
    // Committing takes milliseconds and whoever answered has other things to do.
    {
      MutexLock lock(mutex_);
      to_journal_.push_back({call, std::move(answer), std::move(result)});
      if (writers_ == kMostWriters) return;
      ++writers_;
    }
    timeline_->Run([core = shared_from_this()] { core->RecordAll(); });
  }

  // One of a few that work at the same time, so that the journal can commit together what comes
  // together.
  void RecordAll() {
    while (true) {
      Concluded next;
      {
        MutexLock lock(mutex_);
        if (to_journal_.empty()) {
          --writers_;
          return;
        }
        next = std::move(to_journal_.front());
        to_journal_.pop_front();
      }
      Record(next.call, std::move(next.answer), std::move(next.result));
    }
  }

  void Record(const PendingPtr& call, RoutedReply answer, ToolResult result) {
    for (Attempt& attempt : call->attempts) {
      if (options_.redact_content) {
        attempt.content = options_.redact_content(std::move(attempt.content));
      }
      attempt.content = Cut(std::move(attempt.content), call->limits->max_result_bytes).text;
    }
    const Result<void> recorded =
        options_.journal->Finish({.identity = call->request.identity,
                                  .content = call->content,
                                  .effect = call->tool->spec.effect,
                                  .source = answer.source,
                                  .result = result,
                                  .attempts = call->attempts,
                                  .session_lost = answer.reply.session_lost,
                                  .recorded_ms = UnixMilliseconds()});
    if (!recorded.ok()) {
      // What is not in the journal has not happened: the episode must not go on from it.
      result.status = CallStatus::kInterrupted, result.blame = Blame::kInfrastructure;
      MutexLock lock(mutex_);
      ++counts_.unrecorded;
      result.content = counts_.unrecorded_because =
          "the outcome could not be recorded: " + recorded.error().message();
    }
    Deliver(call, std::move(result), answer.source, answer.reply.session_lost);
  }

  void Deliver(const PendingPtr& call, ToolResult result, CallSource source,
               bool session_lost = false) {
    if (call->place) {
      // A session's history holds what was surely carried out.
      const bool ended =
          result.status == CallStatus::kOk || result.status == CallStatus::kToolError;
      if (options_.remember_answers && result.status == CallStatus::kOk) {
        const CallRequest& request = call->request;
        request.sessions->Remember(request.tool, request.arguments, request.identity.turn,
                                   request.identity.call, result.content);
      }
      call->request.sessions->Settle(*call->place, ended && !session_lost, result);
    }
    {
      MutexLock lock(mutex_);
      ++counts_.by_status[std::string(CallStatusName(result.status))];
      ++counts_.by_source[source];
      if (!result.injected.empty()) ++counts_.injected[result.injected];
      if (pending_.erase(call->ticket) == 0) return;  // closed meanwhile
      outcomes_.push_back({call->ticket, std::move(result), source});
    }
    timeline_->Notify();
  }

  struct Concluded {
    PendingPtr call;
    RoutedReply answer;
    ToolResult result;
  };
  static constexpr int kMostWriters = 16;

  const ExecutorOptions options_;
  Timeline* const timeline_;
  mutable Mutex mutex_;
  uint64_t last_ticket_ HONE_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, PendingPtr> pending_ HONE_GUARDED_BY(mutex_);
  std::deque<CallOutcome> outcomes_ HONE_GUARDED_BY(mutex_);
  std::deque<Concluded> to_journal_ HONE_GUARDED_BY(mutex_);
  int writers_ HONE_GUARDED_BY(mutex_) = 0;
  ExecutorCounts counts_ HONE_GUARDED_BY(mutex_);
};

Executor::Executor(ExecutorOptions options, Timeline* timeline)
    : core_(std::make_shared<Core>(std::move(options), timeline)) {}
Executor::~Executor() { core_->Close(); }
uint64_t Executor::Submit(CallRequest request) { return core_->Submit(std::move(request)); }
void Executor::Cancel(uint64_t ticket) { core_->Cancel(ticket); }
std::optional<CallOutcome> Executor::Next(std::stop_token stop) {
  return core_->Next(std::move(stop));
}
void Executor::CatchUp() { core_->CatchUp(); }
std::optional<CallOutcome> Executor::Poll() { return core_->Poll(); }
ExecutorCounts Executor::counts() const { return core_->counts(); }

}  // namespace hone
