#pragma once

#include <memory>

#include "rewards/rewarder.h"

// Published rewards over trajectories (docs/rewards.md says for each what it takes from the record
// and what differs from the release). The runner, where there is one, is for answers that are
// programs; borrowed, may be null.

namespace hone {

std::unique_ptr<Rewarder> NewOutcomeReward(ProgramRunner* runner);   // outcome: the match's score
std::unique_ptr<Rewarder> NewCallF1Reward();                         // call
std::unique_ptr<Rewarder> NewExpertReward();                         // expert
std::unique_ptr<Rewarder> NewToolPoReward(ProgramRunner* runner);    // outcome, call, fold
std::unique_ptr<Rewarder> NewDeskReward(ProgramRunner* runner);      // outcome, call
std::unique_ptr<Rewarder> NewToolRlReward();                         // format, correctness
std::unique_ptr<Rewarder> NewSearchR1Reward(ProgramRunner* runner);  // outcome
std::unique_ptr<Rewarder> NewReToolReward(bool shaped, ProgramRunner* runner);  // outcome
std::unique_ptr<Rewarder> NewToRlReward(ProgramRunner* runner);      // outcome, execution
std::unique_ptr<Rewarder> NewToolStarReward(ProgramRunner* runner);  // format, outcome, tools
std::unique_ptr<Rewarder> NewTapoReward();  // format, outcome, length, accuracy (of weight 0)
std::unique_ptr<Rewarder> NewOtcReward(bool group, ProgramRunner* runner);  // outcome
std::unique_ptr<Rewarder> NewAdaReasonerReward(ProgramRunner* runner);      // outcome, call
std::unique_ptr<Rewarder> NewToolOrchestraReward(ProgramRunner* runner);    // outcome
std::unique_ptr<Rewarder> NewOrchestraCostReward(ProgramRunner* runner);    // outcome, cost
std::unique_ptr<Rewarder> NewMuaRlReward();                                 // outcome
std::unique_ptr<Rewarder> NewTgrlReward(ProgramRunner* runner);             // outcome, call

}  // namespace hone
