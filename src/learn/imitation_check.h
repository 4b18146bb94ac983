#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "record/tree.h"
#include "rollout/policy.h"

namespace hone {

// How well a policy says what others have said, without learning from it.
struct ImitationFigures {
  double loss = 0;  // nats per token of the turns
  int64_t tokens = 0;
  int64_t bytes = 0;  // that these tokens spell; special ones spell none
  // Of the turns that call: how many the policy, left to itself in their place and drawing
  // greedily, would have called the same tools in, and with the same arguments.
  int64_t calling = 0, right_tools = 0, right_calls = 0;
  // Of the turns that answer: how many it would have called nothing in, and how many it would have
  // written word for word.
  int64_t answering = 0, without_calls = 0, same_answers = 0;

  double BitsPerByte() const;  // 0 where there are no bytes
  // Those of both, as if they had been measured together.
  void Add(const ImitationFigures& other);
};

// `trees` are of ConversationTree or DemonstrationTree, and fit the model. `call_tokens` bounds one
// pass of the engine; `turns` how many turns are drawn, of those that come first.
Result<ImitationFigures> MeasureImitation(const Policy& policy, std::span<const Tree> trees,
                                          int64_t call_tokens, int64_t turns);

}  // namespace hone
