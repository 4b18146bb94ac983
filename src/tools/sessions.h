#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "tools/toolbox.h"

namespace hone {

// The sessions of one trajectory, and what was called in it.
//
// A session is opened at the first call that needs it. Its calls have places in a history, and are
// carried out in that order, one at a time. A call that was answered without the tool (from a
// journal) stays in the history, and is made up for when the tool is needed after all: so a resumed
// run, a branch and a restarted interpreter are all the same thing, a history that is carried out
// again. Thread-safe.
class Sessions {
 public:
  Sessions(std::shared_ptr<const Toolbox> toolbox, uint64_t seed);

  // A second trajectory that goes on from here, with sessions of its own. No call may be under way.
  // kUnsupported when a session that was used cannot be had twice.
  Result<std::shared_ptr<Sessions>> Fork() const;

  const std::shared_ptr<const Toolbox>& toolbox() const { return toolbox_; }
  uint64_t seed() const { return seed_; }
  // The seed that the session of the n-th toolkit is opened with.
  static uint64_t SeedOf(uint64_t seed, size_t kit);

  // The place of one call in the trajectory.
  struct Place {
    size_t kit = 0;
    size_t index = 0;                   // in the history of its toolkit's session
    int64_t ordinal = 0;                // how many calls of this tool came before
    std::string state_hash;             // of the earlier calls that wrote what this one depends on
    std::vector<size_t> writes_before;  // those calls, among all writes of the trajectory
    std::optional<size_t> write;        // this call, among them
  };
  // In the order the agent made the calls. The tool is one of the toolbox.
  Place Enter(const Toolbox::Tool& tool, const Json& arguments);

  // Runs `then` once every earlier call of the same session is settled: now, or from Settle.
  void WhenTurn(const Place& place, std::function<void()> then);

  // One attempt at a call whose turn it is: opens the session or builds it again if need be.
  ToolReply Perform(const Place& place, const Toolbox::Tool& tool, const Json& arguments,
                    const CallLimits& limits);

  // The call has its outcome. It `counts` when its effects on the session are part of the history;
  // else the session goes on as if it had not been. An attempt still running is left behind.
  void Settle(const Place& place, bool counts, const ToolResult& result = {});

  // A call that wrote, and how it ended.
  struct EarlierWrite {
    std::string tool;
    Json arguments;
    CallStatus status = CallStatus::kOk;
    std::string content;

    bool operator==(const EarlierWrite&) const = default;
  };
  // Runs `then` with the calls that the state hash of a place stands for, in their order, once all
  // of them have ended: now, or from Settle. For those who answer without the tool.
  void WhenWritesEnded(const Place& place, std::function<void(std::vector<EarlierWrite>)> then);

  // What calls were answered, and the newest answer that an equal call of an earlier turn got.
  void Remember(const std::string& tool, const Json& arguments, int32_t turn, int32_t call,
                const std::string& answer);
  std::optional<std::string> EarlierAnswer(const std::string& tool, const Json& arguments,
                                           int32_t turn) const;

  // Calls that were carried out again and ended differently than the first time.
  int64_t rebuild_mismatches() const;

 private:
  struct HistoryCall {
    size_t tool = 0;  // index into toolbox tools
    Json arguments;
    bool settled = false;
    bool counts = false;
    std::optional<CallStatus> status;  // how it ended when the tool carried it out
  };
  struct KitState {
    std::shared_ptr<Session> session;
    uint64_t generation = 0;     // goes up when the session is left behind
    std::optional<size_t> busy;  // the place whose call is being carried out
    size_t applied = 0;          // calls of the history that the session has seen
    std::vector<HistoryCall> history;
    std::map<size_t, std::function<void()>> waiting;  // by place
  };
  struct Write {
    std::string scope;  // its resource; empty: the world
    std::string what;   // tool and arguments, hashed
    EarlierWrite call;
    bool ended = false;
  };
  struct WaitingForWrites {
    std::vector<size_t> writes;
    std::function<void(std::vector<EarlierWrite>)> then;
  };

  Result<std::shared_ptr<Session>> OpenSession(size_t kit, uint64_t generation);
  ToolReply CatchUp(size_t kit, size_t end, Session* session, uint64_t generation,
                    const CallLimits& limits);
  // The session goes on without what is going on in it. What is returned is to be let go of when no
  // lock is held: ending a session can take a while.
  [[nodiscard]] std::shared_ptr<Session> LeaveBehind(KitState* state) HONE_REQUIRES(mutex_);
  void EndWrite(size_t write, const ToolResult& result);
  std::optional<std::vector<EarlierWrite>> EndedWrites(const std::vector<size_t>& writes) const
      HONE_REQUIRES(mutex_);
  Sharing SharingOf(size_t kit) const { return toolbox_->kits()[kit].toolkit->sharing(); }

  const std::shared_ptr<const Toolbox> toolbox_;
  const uint64_t seed_;
  mutable Mutex mutex_;
  std::vector<KitState> kits_ HONE_GUARDED_BY(mutex_);
  std::map<std::string, int64_t> ordinals_ HONE_GUARDED_BY(mutex_);
  std::vector<Write> writes_ HONE_GUARDED_BY(mutex_);
  std::vector<WaitingForWrites> waiting_for_writes_ HONE_GUARDED_BY(mutex_);
  std::map<std::string, std::map<std::pair<int32_t, int32_t>, std::string>> answers_
      HONE_GUARDED_BY(mutex_);
  int64_t rebuild_mismatches_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
