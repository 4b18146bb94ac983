#pragma once

#include <memory>

#include "envs/environment.h"
#include "envs/rules.h"
#include "envs/switchboard/switchboard_tasks.h"

namespace hone::switchboard {

// The switchboard (docs/environments/switchboard.md): one request, calls of `op`, an answer.
//
// Success: the answer is the right one, byte for byte. The final state says of each call whether it
// was right where it stood (call_scores, 0 or 1): the operation that was next, its form, and the
// code that came last, whatever went wrong before. In a loud world the episode ends as `budget`
// when so many calls were refused in a row.
//
// What is right is taken from the task alone ("answer", "reward.calls"), so that it holds in the
// world that answers, whichever that is. With judge_by_acceptance only the operations are: a call
// is right if it was accepted where it stood, and success is that all of them were, in order, and
// that the last code was told. With the real tool that is the same.
Result<std::shared_ptr<const Environment>> NewSwitchboard(std::shared_ptr<const Board> board,
                                                          const SwitchboardOptions& options,
                                                          bool list_tools);

// Silent: two calls more than are needed; loud: all tries of all calls. Two turns more than calls.
Rules SwitchboardRules(const SwitchboardOptions& options);

}  // namespace hone::switchboard
