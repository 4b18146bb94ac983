#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/call.h"
#include "tools/tool_spec.h"

namespace hone {

// What came of one attempt at a call.
struct ToolReply {
  CallStatus status = CallStatus::kOk;
  Blame blame = Blame::kNone;
  std::string content;  // what the agent reads; UTF-8
  // The tool vouches that nothing was done, so that even a write may be tried again.
  bool refused = false;
  // Not before this much time has passed (a server's Retry-After).
  std::optional<std::chrono::milliseconds> retry_after;
  // The session's state is gone. It is built again from its history before the next call.
  bool session_lost = false;

  bool operator==(const ToolReply&) const = default;
};

// The tool ran and this is its answer.
ToolReply Answered(std::string content);
// The tool ran and says what is wrong with what it was asked: the agent's fault.
ToolReply Refuted(std::string content);
// The tool could not be reached, or broke: not the agent's fault.
ToolReply Unavailable(std::string content, Blame blame = Blame::kTool);
// The attempt ran out of its time.
ToolReply TimedOut(std::string content);
// What an Error of this program's own plumbing means for a call: kDeadline and kStopped are
// TimedOut, everything else Unavailable.
ToolReply FromError(const Error& error);

// What the calls of one trajectory share, and how that can be had a second time.
enum class Sharing {
  kNothing,  // calls are independent: there are no sessions
  kClone,    // a session can be copied: Session::Clone
  kReplay,   // a fresh session that is called with the same calls becomes an equal one
  kOnce,     // a session cannot be had twice: branching inside an episode is refused
};

// The state that the calls of one trajectory share: variables of an interpreter, a folder, a
// connection. One thread at a time.
class Session {
 public:
  virtual ~Session() = default;
  // Only of toolkits that share by kClone.
  virtual Result<std::unique_ptr<Session>> Clone();
};

// How long an attempt may take. `stop` is requested at the latest when `time` is over.
struct CallLimits {
  std::chrono::milliseconds time{30000};
  std::stop_token stop;
};

// Tools that belong together: one function, the operations of a folder, an MCP server. It knows
// nothing of rewards, retries, journals or simulation; those stand between it and the agent.
class Toolkit {
 public:
  virtual ~Toolkit() = default;

  // The tools, under the names they are called by. The same list for the life of the object.
  virtual const std::vector<ToolSpec>& tools() const = 0;

  virtual Sharing sharing() const = 0;

  // How many sessions can be in use at a time: who plays many trajectories plays no more at once,
  // and does not branch. 0: any number.
  virtual int64_t sessions_at_once() const { return 0; }

  // A fresh session; null when calls share nothing. `seed` is all the randomness it may have.
  virtual Result<std::unique_ptr<Session>> Open(uint64_t seed) = 0;

  // One attempt at one call, to its end. `tool` is one of tools(), the arguments fit its schema,
  // `session` came from Open(). Returns within the limits, and soon after stop is requested.
  // Calls may come from many threads at once, but never two for one session.
  virtual ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                         const CallLimits& limits) = 0;
};

}  // namespace hone
