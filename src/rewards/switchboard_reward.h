#pragma once

#include <memory>

#include "rewards/rewarder.h"

namespace hone {

// outcome 0 or 1; `call` +1 for a call that is right where it stands, -0.25 for any other, which
// may be one that cannot be read; `omitted` -0.25 for each call that is missing, at the answer that
// stands in its place, or a single 0.
//
// Whether a call is right where it stands the environment says (final_state.call_scores); where it
// does not, a call is right that is a gold call, each once. Missing are as many as the gold calls
// are more than the calls. So each of the gold calls is worth 1 or -0.25, and each beyond them
// -0.25: nothing is gained by stopping, nor by calling more.
std::unique_ptr<Rewarder> NewSwitchboardReward(ProgramRunner* runner);

}  // namespace hone
