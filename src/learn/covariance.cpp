#include "learn/covariance.h"

#include <algorithm>
#include <cmath>

#include "base/exact_math.h"

namespace hone {
namespace {

bool IsClipped(const ObjectiveOptions& options, const CovarianceToken& token) {
  const double ratio = Exponential(
      std::clamp(static_cast<double>(token.logprob) - static_cast<double>(token.old), -20.0, 20.0));
  return (token.advantage > 0 && ratio > 1 + options.clip_high) ||
         (token.advantage < 0 && ratio < 1 - options.clip_low);
}

}  // namespace

std::vector<char> ChooseByCovariance(const ObjectiveOptions& options,
                                     std::span<const CovarianceToken> tokens, Rng rng) {
  std::vector<char> chosen(tokens.size(), 0);
  if (tokens.empty()) return chosen;
  const auto count = static_cast<double>(tokens.size());
  double mean_advantage = 0, mean_logprob = 0;
  for (const CovarianceToken& token : tokens) {
    mean_advantage += token.advantage / count;
    mean_logprob += token.logprob / count;
  }
  std::vector<double> covariances;
  for (const CovarianceToken& token : tokens) {
    covariances.push_back((token.advantage - mean_advantage) * (token.logprob - mean_logprob));
  }
  std::vector<size_t> candidates;
  const bool clip = options.policy == PolicyLoss::kCovarianceClip;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool within =
        covariances[i] > options.covariance.lower && covariances[i] < options.covariance.upper;
    if (!clip || (within && !IsClipped(options, tokens[i]))) candidates.push_back(i);
  }
  const size_t wanted = std::min(
      candidates.size(),
      std::max<size_t>(1, static_cast<size_t>(std::floor(options.covariance.share * count))));
  if (clip) {
    for (size_t i = 0; i < wanted; ++i) {
      std::swap(candidates[i], candidates[i + rng.Below(candidates.size() - i)]);
    }
  } else {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](size_t a, size_t b) { return covariances[a] > covariances[b]; });
  }
  for (size_t i = 0; i < wanted; ++i) chosen[candidates[i]] = 1;
  return chosen;
}

}  // namespace hone
