#include "learn/losses/policy_loss.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/exact_math.h"

namespace hone {
namespace {

constexpr double kMostSequenceLogRatio = 10;

// A token's loss before its weight, and its derivative by the token's log-probability.
struct TokenLoss {
  double loss = 0;
  double derivative = 0;
  bool clipped = false;
};

struct ClampedRatio {
  double value = 1;
  double derivative = 1;  // by the log-ratio: 0 where that is clamped
};

ClampedRatio RatioOf(double log_ratio, double most = kMostLogRatio) {
  const double d = std::clamp(log_ratio, -kMostLogRatio, most);
  const double value = Exponential(d);
  return {value, d == log_ratio ? value : 0.0};
}

// The pessimistic of the ratio and the clipped ratio; where the advantage is negative, no ratio
// counts more than dual_clip.
TokenLoss Clip(const ObjectiveOptions& options, double advantage, const ClampedRatio& ratio) {
  const double plain = -advantage * ratio.value;
  const double clipped =
      -advantage * std::clamp(ratio.value, 1 - options.clip_low, 1 + options.clip_high);
  TokenLoss loss{plain, -advantage * ratio.derivative, false};
  if (clipped > plain) loss = {clipped, 0, true};
  const double most = -advantage * options.dual_clip;
  if (options.dual_clip > 0 && advantage < 0 && loss.loss > most) loss = {most, 0, true};
  return loss;
}

TokenLoss ClipWeight(const ObjectiveOptions& options, double advantage, const ClampedRatio& ratio,
                     double logprob) {
  const double weight = std::clamp(ratio.value, 1 - options.clip_low, 1 + options.clip_high);
  return {-weight * advantage * logprob, -weight * advantage, weight != ratio.value};
}

TokenLoss SoftGate(const ObjectiveOptions& options, double advantage, const ClampedRatio& ratio) {
  const double temperature = advantage > 0 ? options.temperature_up : options.temperature_down;
  const double sigmoid = 1 / (1 + Exponential(-temperature * (ratio.value - 1)));
  return {-advantage * sigmoid * 4 / temperature,
          -advantage * 4 * sigmoid * (1 - sigmoid) * ratio.derivative, false};
}

TokenLoss HoldChosen(const ObjectiveOptions& options, double advantage, const ClampedRatio& ratio,
                     double log_ratio, bool chosen) {
  TokenLoss loss{-advantage * ratio.value, -advantage * ratio.derivative, false};
  if (chosen) {
    const double sign = log_ratio > 0 ? 1 : log_ratio < 0 ? -1 : 0;
    loss.loss += options.covariance.kl_coefficient * std::abs(log_ratio);
    loss.derivative += options.covariance.kl_coefficient * sign;
  }
  return loss;
}

std::vector<double> LogRatios(const PolicyInput& input) {
  std::vector<double> log_ratios(input.logprobs.size());
  for (size_t t = 0; t < log_ratios.size(); ++t) {
    log_ratios[t] = static_cast<double>(input.logprobs[t]) - static_cast<double>(input.old[t]);
  }
  return log_ratios;
}

// Puts the log-ratio of several tokens at each of them. Where it is their sum, each has its share
// of the one loss, of which its derivative is the whole: shares[t] is what its loss counts.
std::vector<double> Spread(const ObjectiveOptions& options, const PolicyInput& input,
                           std::vector<double> of_tokens, std::vector<double>* shares) {
  const size_t count = of_tokens.size();
  shares->assign(count, 1.0);
  auto fill = [&](size_t begin, size_t end, bool mean) {
    double sum = 0;
    for (size_t t = begin; t < end; ++t) sum += of_tokens[t];
    if (mean) sum /= static_cast<double>(end - begin);
    for (size_t t = begin; t < end; ++t) {
      of_tokens[t] = sum;
      if (!mean) (*shares)[t] = 1 / static_cast<double>(end - begin);
    }
  };
  if (options.policy == PolicyLoss::kSequenceClip) {
    fill(0, count, true);
  } else if (options.policy == PolicyLoss::kClip && options.ratio == RatioLevel::kTrajectory) {
    fill(0, count, false);
  } else if (options.policy == PolicyLoss::kClip && options.ratio == RatioLevel::kTurn) {
    for (const Span& turn : input.turns) {
      fill(static_cast<size_t>(turn.begin), static_cast<size_t>(turn.end), false);
    }
  }
  return of_tokens;
}

// exp of the mean of log-ratios, each clamped where that makes the loss larger, times the mean
// advantage: one loss for the whole sequence.
PolicyOutput GeometricMean(const ObjectiveOptions& options, const PolicyInput& input,
                           const std::vector<double>& log_ratios) {
  PolicyOutput output;
  const auto count = static_cast<double>(log_ratios.size());
  double advantage = 0, mean = 0;
  std::vector<bool> moves(log_ratios.size());
  for (size_t t = 0; t < log_ratios.size(); ++t) {
    const double a = input.advantages[t], d = log_ratios[t];
    const double clamped = std::clamp(d, -options.clip_low, options.clip_high);
    const double kept = a > 0 ? std::min(d, clamped) : a < 0 ? std::max(d, clamped) : 0;
    moves[t] = a != 0 && kept == d;
    if (a != 0 && kept != d) ++output.clipped;
    advantage += a / count;
    mean += kept / count;
  }
  const ClampedRatio ratio = RatioOf(mean);
  output.loss = -advantage * ratio.value * input.sequence_weight;
  for (const bool moved : moves) {
    output.derivatives.push_back(
        moved ? -advantage * ratio.derivative / count * input.sequence_weight : 0.0);
  }
  return output;
}

}  // namespace

PolicyOutput PolicyLossOf(const ObjectiveOptions& options, const PolicyInput& input) {
  const size_t count = input.logprobs.size();
  CHECK(count > 0 && input.old.size() == count && input.advantages.size() == count &&
            input.weights.size() == count,
        "a sequence whose parts differ in length");
  const std::vector<double> own = LogRatios(input);
  if (options.policy == PolicyLoss::kGeometricMean) return GeometricMean(options, input, own);

  std::vector<double> shares;
  const std::vector<double> log_ratios = Spread(options, input, own, &shares);
  const double most =
      options.policy == PolicyLoss::kSequenceClip ? kMostSequenceLogRatio : kMostLogRatio;
  PolicyOutput output;
  output.derivatives.reserve(count);
  for (size_t t = 0; t < count; ++t) {
    const double advantage = input.advantages[t];
    const bool chosen = !input.chosen.empty() && input.chosen[t] != 0;
    const ClampedRatio ratio = RatioOf(log_ratios[t], most);
    TokenLoss token;
    switch (options.policy) {
      case PolicyLoss::kClip:
      case PolicyLoss::kSequenceClip: token = Clip(options, advantage, ratio); break;
      case PolicyLoss::kClippedWeight:
        token = ClipWeight(options, advantage, ratio, input.logprobs[t]);
        break;
      case PolicyLoss::kSoftGate: token = SoftGate(options, advantage, ratio); break;
      case PolicyLoss::kCovarianceClip:
        if (chosen) {
          token.clipped = true;
        } else {
          token = Clip(options, advantage, ratio);
        }
        break;
      case PolicyLoss::kCovarianceKl:
        token = HoldChosen(options, advantage, ratio, log_ratios[t], chosen);
        break;
      case PolicyLoss::kGradient:
        token = {-advantage * static_cast<double>(input.logprobs[t]), -advantage, false};
        break;
      case PolicyLoss::kGeometricMean: break;  // above
    }
    output.loss += token.loss * input.weights[t] * shares[t];
    output.derivatives.push_back(token.derivative * input.weights[t]);
    if (token.clipped) ++output.clipped;
  }
  return output;
}

}  // namespace hone
