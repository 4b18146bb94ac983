#include "train/evaluation_manners.h"

#include "evaluate/policy_evaluation.h"

namespace hone {

std::vector<EvaluationManner> MannersOf(const RunEvaluationOptions& options, Split split) {
  std::vector<EvaluationManner> manners = {{"sampled", options.temperature}, {"greedy", 0}};
  if (options.without_tools && split == Split::kTest) {
    manners.push_back({kWithoutTools, options.temperature, true});
  }
  return manners;
}

}  // namespace hone
