#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace hone {

// What an environment says of the end of an episode (Leaf::final_state): the keys that mean the
// same in every environment, and what was read of them. Others are the environment's own.
//
// A view: the state must outlive it. A key is null where the state does not have it, which is not
// the same as a JSON null. Values are as the environment, which may be anybody's program, gave
// them; whoever uses one looks at its type.
class FinalState {
 public:
  explicit FinalState(const Json& state) : state_(state) {}
  explicit FinalState(Json&& state) = delete;

  // Whether it went well: true or false. Absent or a JSON null: no opinion.
  const Json* verdict() const { return state_.Find("verdict"); }
  bool has_verdict() const { return verdict() != nullptr && !verdict()->is_null(); }
  // The verdict; nothing when there is none, or one that is neither true nor false.
  std::optional<bool> is_right() const;

  // What the agent answered; a JSON null when it did not.
  const Json* answer() const { return state_.Find("answer"); }
  // [begin, end): the tokens of the last turn that spell it.
  const Json* answer_span() const { return state_.Find("answer_span"); }
  // What is right in the episode's own world; a JSON null: nobody knows.
  const Json* gold_answer() const { return state_.Find("gold_answer"); }

  // Numbers, one per call of the agent.
  const Json* call_scores() const { return state_.Find("call_scores"); }
  // Names of what was reached, or {"name", "share"} with a share in [0, 1].
  const Json* milestones() const { return state_.Find("milestones"); }

  // Of the world that was left behind, and of the one that is right.
  const Json* state_hash() const { return state_.Find("state_hash"); }
  const Json* gold_state_hash() const { return state_.Find("gold_state_hash"); }
  // Texts that the agent said to the user.
  const Json* messages() const { return state_.Find("messages"); }

 private:
  const Json& state_;
};

// Writes one; keys stand in the order in which they are given.
//
//   return FinalStateWriter().Verdict(right).Answer(answer).Own("sent", outbox).Take();
class FinalStateWriter {
 public:
  FinalStateWriter& Verdict(bool right) { return Own("verdict", right); }
  FinalStateWriter& Answer(Json answer) { return Own("answer", std::move(answer)); }
  // A key of the environment's own.
  FinalStateWriter& Own(std::string_view key, Json value);

  Json Take() { return std::move(state_); }

 private:
  Json state_ = Json::Object();
};

}  // namespace hone
