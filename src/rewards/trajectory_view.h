#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/score.h"
#include "rewards/labels.h"

namespace hone {

// What a rewarder sees of one leaf: the typed record of its whole path and the final state. Text of
// the path is never put together, so nothing that a tool said can pass for an answer.
struct TrajectoryView {
  struct MadeCall {
    NodeId node = kNoNode;
    const Call* call = nullptr;
    const ToolResult* result = nullptr;  // null: none came back
  };
  struct MadeFault {
    NodeId node = kNoNode;
    const Fault* fault = nullptr;
  };

  const Tree* tree = nullptr;  // for sources that read tokens
  int32_t leaf = 0;
  Ending ending = Ending::kAnswered;
  Blame blame = Blame::kNone;
  const Json* final_state = nullptr;
  std::vector<MadeCall> calls;    // in the order they were written
  std::vector<MadeFault> faults;  // likewise
  NodeId last_turn = kNoNode;     // the last policy node on the path
  int64_t policy_tokens = 0;
  int64_t thought_tokens = 0;  // of them, those of its thoughts
  int64_t all_tokens = 0;      // on the path, prompts included
  int64_t turns = 0;           // user, policy and tool nodes
  int64_t latency_us = 0;      // of all calls
  bool folded = false;         // some segment was folded into it

  // final_state.answer; null when the policy gave none or the environment does not say.
  const Json& answer() const;
  // Where the answer stands: final_state.answer_span of the last turn, or that turn; or the
  // trajectory as a whole when it did not end in a turn of the policy, or in one that calls or
  // cannot be read.
  RewardTerm AtAnswer(std::string name, std::optional<double> value) const;
  // On the tokens of a call or fault.
  RewardTerm AtCall(std::string name, std::optional<double> value, const MadeCall& call) const;
  RewardTerm AtFault(std::string name, std::optional<double> value, const MadeFault& fault) const;
  // The trajectory as a whole.
  RewardTerm Overall(std::string name, std::optional<double> value) const;

  // A failure that is not the agent's own ended it; then nothing about it can be scored.
  bool failed_by_others() const;
  // Every turn could be read and the last one answered.
  bool well_formed() const { return faults.empty() && ending == Ending::kAnswered; }
  std::vector<const Call*> bare_calls() const;
  // Of each call, whether the environment says that it was right where it stood (call_scores, 1 or
  // more); absent: it does not judge calls.
  std::optional<std::vector<bool>> said_right() const;

  bool ends_in_turn = false;  // the leaf is a policy node
  std::optional<Span> answer_span;
};

// The tree must be valid (record/validate.h) and outlive the result.
TrajectoryView TrajectoryOf(const Tree& tree, int32_t leaf);

// Whether the form of a call is right: known tool, arguments that fit its schema.
enum class CallForm { kRight, kWrong, kUnknown };
// Whether it ran. kUnknown: no result, or a failure that is not the agent's.
enum class CallRun { kRan, kFailed, kNeverRan, kUnknown };
CallRun RunOf(const TrajectoryView::MadeCall& call);

// The tools of a task, as far as rewards need them.
class TaskTools {
 public:
  static TaskTools Of(const Task& task);
  // From the result's status where there is one, else from the tool's schema; kUnknown where
  // neither says.
  CallForm FormOf(const TrajectoryView::MadeCall& call) const;
  double PriceOf(const std::string& tool) const;  // per call; 0 when nothing is said

 private:
  struct Known;
  std::map<std::string, std::shared_ptr<const Known>> tools_;
};

}  // namespace hone
