#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/responder.h"
#include "tools/timeline.h"

namespace hone {

// A call that the agent made.
struct CallRequest {
  CallIdentity identity;  // no two of a run alike
  std::string tool;
  Json arguments;
  std::shared_ptr<Sessions> sessions;  // of its trajectory
};

struct CallOutcome {
  uint64_t ticket = 0;
  ToolResult result;
  CallSource source = CallSource::kTool;  // who answered
};

struct ExecutorOptions {
  std::vector<std::shared_ptr<Responder>> responders;  // asked in this order
  std::shared_ptr<Journal> journal;                    // outcomes are committed to it; null: not
  uint64_t seed = 0;                                   // of the jitter between retries
  // Take secrets out, before anything is written down and before the agent reads it, so that a
  // replay gives the agent the very same bytes. Absent: nothing is taken out.
  std::function<Json(const Json&)> redact_arguments;
  std::function<std::string(std::string)> redact_content;
  bool remember_answers = false;  // for faults that answer what was answered before
  // Where somebody plays the tools, who has limits of its own: an attempt that no fault was put
  // into lasts this long, whatever the limits of the tool, and what is later still is the
  // simulator's fault. 0: the limits hold.
  std::chrono::milliseconds patience{0};
};

// What happened so far.
struct ExecutorCounts {
  std::map<std::string, int64_t> by_status;
  std::map<CallSource, int64_t> by_source;
  std::map<std::string, int64_t> injected;
  int64_t retries = 0;
  int64_t late_replies = 0;       // came after the call had ended, or to an earlier attempt
  int64_t duplicate_replies = 0;  // came a second time
  int64_t unrecorded = 0;         // outcomes that the journal could not take
  std::string unrecorded_because;
};

// Stands between the agent and the tools. Calls are submitted, outcomes come out of a queue.
//
// Every call ends, exactly once, as one typed result, at the latest at its deadline: arguments that
// do not fit and tools that are not there are the agent's faults; a tool that fails, hangs or
// answers late is retried where repeating is harmless, and then typed. A reply counts only for the
// attempt that asked for it. An outcome is committed to the journal before it is given out.
// Thread-safe; the timeline must outlive it.
class Executor {
 public:
  Executor(ExecutorOptions options, Timeline* timeline);
  // Cancels what is under way.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Calls of one trajectory must be submitted in the order the agent made them.
  uint64_t Submit(CallRequest request);
  // The call ends now as `interrupted`, if it has not ended.
  void Cancel(uint64_t ticket);
  // The next outcome, waiting for it. Nothing when no call is under way, or when stopped.
  std::optional<CallOutcome> Next(std::stop_token stop = {});
  // Carries out what takes no virtual time, so that Poll finds its outcomes. On the machine's own
  // clock threads do that, and there is nothing to do.
  void CatchUp();
  // The next outcome if there is one already. Lets no virtual time pass.
  std::optional<CallOutcome> Poll();

  ExecutorCounts counts() const;
  // An error once the journal could not take an outcome: whoever goes on from such calls would not
  // come to the same again.
  Result<void> Recorded() const {
    const ExecutorCounts now = counts();
    if (now.unrecorded == 0) return {};
    return Error(ErrorCode::kIo, "a tool answered, and " + now.unrecorded_because +
                                     "; mend that, and give the same command again");
  }

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace hone
