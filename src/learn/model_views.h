#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "credit/method.h"
#include "engine/logprobs.h"
#include "record/score.h"

namespace hone {

// What models say of trees that were drawn. Each is empty where there is no such model, and else
// has one entry per tree.
struct ModelViews {
  std::vector<TreeLogprobs> reference;  // a policy that is to be stayed close to
  std::vector<TreeLogprobs> now;        // the policy itself, with its critic's values
  std::vector<CriticValues> values;     // of the critic, before each token; empty: there is none
};

// What a model says of some trees (Engine::LogProbs, train/reference.h).
using LogprobsFunction = std::function<std::vector<TreeLogprobs>(std::span<const Tree> trees)>;
struct ModelQuestions {
  LogprobsFunction reference, now;  // null: not asked
  bool critic = false;              // the policy has one, which `now` tells of
  int64_t call_tokens = 16'384;     // that one call has at most
};
ModelViews AskModels(const std::vector<ScoredTree>& records, const ModelQuestions& questions);

}  // namespace hone
