#include "learn/kl.h"

#include <algorithm>
#include <cmath>

#include "base/exact_math.h"
#include "base/json_fields.h"
#include "record/reward_terms.h"

namespace hone {

KlTerm KlOf(const KlOptions& options, double d) {
  constexpr double kMostDifference = 20, kMostK3 = 10;
  KlTerm term;
  switch (options.estimator) {
    case KlEstimator::kK1: term = {d, 1}; break;
    case KlEstimator::kAbs: term = {std::abs(d), d > 0 ? 1.0 : d < 0 ? -1.0 : 0.0}; break;
    case KlEstimator::kK2: term = {d * d / 2, d}; break;
    case KlEstimator::kK3: {
      const double clamped = std::clamp(d, -kMostDifference, kMostDifference);
      const double inverse = Exponential(-clamped);
      term = {inverse + clamped - 1, clamped == d ? 1 - inverse : 0.0};
      if (term.value > kMostK3) term = {kMostK3, 0};
      break;
    }
  }
  if (options.straight_through) term.derivative = d;
  return term;
}

void AddKlTerms(const KlOptions& options, double coefficient, const TreeLogprobs& reference,
                ScoredTree* record) {
  CHECK(reference.size() == record->tree.nodes.size(), "log-probs of another tree");
  for (Score& score : record->scores) {
    const Leaf& leaf = record->tree.leaves.at(static_cast<size_t>(score.leaf));
    for (const NodeId id : WholePathTo(record->tree, leaf.node)) {
      const Node& node = record->tree.nodes[static_cast<size_t>(id)];
      if (node.author != Author::kPolicy || node.logprobs.size() != node.tokens.size()) continue;
      for (size_t t = 0; t < node.tokens.size(); ++t) {
        const double d = static_cast<double>(node.logprobs[t]) -
                         static_cast<double>(reference[static_cast<size_t>(id)].logprobs.at(t));
        const auto at = static_cast<int32_t>(t);
        score.terms.push_back({.name = kKlTerm,
                               .value = -KlOf(options, d).value,
                               .weight = coefficient,
                               .node = id,
                               .span = Span{at, at + 1}});
      }
    }
  }
}

void KlController::Observe(double kl, int64_t trajectories) {
  if (options_.target <= 0 || !std::isfinite(kl)) return;
  const double error = std::clamp(kl / options_.target - 1, -0.2, 0.2);
  // However large a step is, it turns the coefficient by a fifth at most: never below 0.
  const double share = std::min(static_cast<double>(trajectories) / options_.horizon, 1.0);
  coefficient_ *= 1 + error * share;
}

Json KlController::ToJson() const { return Json::Of({{"coefficient", coefficient_}}); }

Result<void> KlController::Restore(const Json& state) {
  JsonErrors errors;
  double coefficient = 0;
  {
    JsonFields fields(state, "kl", &errors);
    fields.Required("coefficient", &coefficient);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (!std::isfinite(coefficient) || coefficient < 0) {
    return Error(ErrorCode::kCorrupt, "kl.coefficient: must be a number from 0 on");
  }
  coefficient_ = coefficient;
  return {};
}

}  // namespace hone
