#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "tools/journal/journal.h"
#include "tools/sessions.h"

namespace hone {

// What is to be kept of an attempt even if no reply comes. Thread-safe.
class AttemptNote {
 public:
  // A fault of this kind was put in.
  void SetInjected(std::string_view kind) {
    MutexLock lock(mutex_);
    injected_ = kind;
  }
  std::string injected() const {
    MutexLock lock(mutex_);
    return injected_;
  }
  // The tool is being asked, in earnest.
  void SetBegun() { begun_ = true; }
  bool begun() const { return begun_; }

 private:
  mutable Mutex mutex_;
  std::string injected_ HONE_GUARDED_BY(mutex_);
  std::atomic<bool> begun_ = false;
};

// One attempt at one call, as those who may answer it see it.
struct CallAttempt {
  CallIdentity identity;
  CallContent content;  // as the journal has it: without secrets
  Json arguments;       // as the agent wrote them
  int32_t attempt = 1;
  const Toolbox::Tool* tool = nullptr;
  std::shared_ptr<Sessions> sessions;
  Sessions::Place place;
  Clock::Duration until{0};  // on the timeline: when its time is over
  std::stop_token stop;      // requested when nobody waits for the answer any more
  std::shared_ptr<AttemptNote> note;
  std::shared_ptr<std::atomic<bool>> in_journal;  // of all attempts: that it begins is committed
};

// What one of them says.
struct RoutedReply {
  ToolReply reply;
  CallSource source = CallSource::kTool;  // who answered
  // What was cut off when it was recorded: then it is not cut again.
  int64_t cut_bytes = 0;
  // The outcome that a journal has of this very call: taken as it is, neither retried nor recorded.
  std::optional<JournalEntry> recorded;
};

// Somebody who may answer calls: a journal, the real tools, a simulator. Thread-safe.
class Responder {
 public:
  virtual ~Responder() = default;

  // Nothing: "not mine, ask the next". To be called once, now or later, from any thread. (A reply
  // that comes late, or twice, or never, is the asker's to cope with.)
  using Reply = std::function<void(std::optional<RoutedReply>)>;
  virtual void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) = 0;
};

// Answers from the journal: the outcome recorded under the call's identity. A call that had begun,
// was never finished and must not be repeated is `interrupted`. A record of the same identity that
// asked something else is an error of the run, and says so.
std::unique_ptr<Responder> NewRecordedResponder(std::shared_ptr<Journal> journal);

// Answers from the journal by content: what an equal call was answered, in any run. Writes are not
// answered so.
std::unique_ptr<Responder> NewLookupResponder(std::shared_ptr<Journal> journal);

}  // namespace hone
