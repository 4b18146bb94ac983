#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewards/presets.h"
#include "rewards/reward_options.h"

namespace hone {

// One rewarder of a sum.
struct RewardPart {
  std::unique_ptr<Rewarder> rewarder;
  Schedule weight = {};                 // multiplies the weights of its terms
  std::optional<TermGate> gate = {};    // absent: always counts
  std::vector<std::string> terms = {};  // which of its terms; empty: all
};

// The terms of all parts, weighted by the training step of the context.
std::unique_ptr<Rewarder> NewSum(std::vector<RewardPart> parts);

// The rewarder that the options describe. Errors name the place.
Result<std::unique_ptr<Rewarder>> NewRewarder(const RewardOptions& reward,
                                              const PresetOptions& options = {});
// The same, of the name of a preset or of an object (reward_options.h).
Result<std::unique_ptr<Rewarder>> RewarderFromJson(const Json& json,
                                                   const PresetOptions& options = {});

}  // namespace hone
