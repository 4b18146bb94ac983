#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewards/presets.h"
#include "rewards/rewarder.h"
#include "rewards/schedule.h"

namespace hone {

// Lets the terms of a part count only on leaves where another term is large enough: on the others
// they are zero. Where that term was not scored, they are not scored either.
struct TermGate {
  std::string term;  // of any part; the sum of its values on the leaf, before weights
  double at_least = 0;
};

// One rewarder of a sum.
struct RewardPart {
  std::unique_ptr<Rewarder> rewarder;
  Schedule weight = {};                 // multiplies the weights of its terms
  std::optional<TermGate> gate = {};    // absent: always counts
  std::vector<std::string> terms = {};  // which of its terms; empty: all
};

// The terms of all parts, weighted by the training step of the context.
std::unique_ptr<Rewarder> NewSum(std::vector<RewardPart> parts);

// A reward as data (docs/rewards.md): the name of a preset, or an object with one of
//
//   {"preset": "toolrl"}   {"command": ["python3", "r.py"], "deadline_ms": 5000, "term": "reward"}
//   {"costs": {"per_call": 0.1}}   {"sum": [reward, ...]}
//
// and "weight", "gate": {"term", "at_least"}, "terms", "flip": {"share", "terms", "seed"}
// (flipped.h). Errors name the place.
Result<std::unique_ptr<Rewarder>> RewarderFromJson(const Json& json,
                                                   const PresetOptions& options = {});

}  // namespace hone
