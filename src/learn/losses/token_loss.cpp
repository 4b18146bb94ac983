#include "learn/losses/token_loss.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "learn/batches.h"
#include "learn/losses/policy_loss.h"

namespace hone {
namespace {

struct NamedTokenLoss {
  std::string_view name;
  TokenLossOptions options;
  std::vector<std::string> settings;
};

const std::vector<NamedTokenLoss>& NamedTokenLosses() {
  static const std::vector<NamedTokenLoss> losses = {
      {"cross_entropy", {.kind = TokenLossKind::kCrossEntropy}, {}},
      {"importance_sampling", {.kind = TokenLossKind::kImportanceSampling}, {}},
      {"ppo",
       {.kind = TokenLossKind::kPpo, .clip_low = 0.8, .clip_high = 1.2},
       {"clip_low_threshold", "clip_high_threshold"}},
      {"cispo",
       {.kind = TokenLossKind::kCispo, .clip_low = 0, .clip_high = 4},
       {"clip_low_threshold", "clip_high_threshold"}},
      {"dro", {.kind = TokenLossKind::kDro}, {"beta"}}};
  return losses;
}

Result<void> ReadLossSettings(const NamedTokenLoss& loss, const LossSettings& settings,
                              TokenLossOptions* options) {
  std::map<std::string, double> given;
  for (const auto& [key, value] : settings) {
    if (std::find(loss.settings.begin(), loss.settings.end(), key) == loss.settings.end()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("loss_fn_config.{}: {} has no such setting{}", key, loss.name,
                               DidYouMean(key, loss.settings)));
    }
    if (!(value >= 0 && value <= kMostTokenNumber)) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("loss_fn_config.{}: wants a number from 0 to {}", key, kMostTokenNumber));
    }
    given[key] = value;
  }
  if (given.contains("clip_low_threshold")) options->clip_low = given["clip_low_threshold"];
  if (given.contains("clip_high_threshold")) options->clip_high = given["clip_high_threshold"];
  if (options->clip_low > options->clip_high) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("loss_fn_config: clip_low_threshold {} is above clip_high_threshold {}",
                    options->clip_low, options->clip_high));
  }
  if (options->kind != TokenLossKind::kDro) return {};
  if (!given.contains("beta")) {
    return Error(ErrorCode::kInvalidArgument,
                 "loss_fn_config.beta: is missing: how strongly dro holds the policy back");
  }
  options->beta = given["beta"];
  return {};
}

// The loss as hone train has it, where it has it.
ObjectiveOptions PolicyLossFor(const TokenLossOptions& options) {
  ObjectiveOptions policy;
  policy.dual_clip = 0;
  policy.clip_low = 1 - options.clip_low;
  policy.clip_high = options.clip_high - 1;
  switch (options.kind) {
    case TokenLossKind::kImportanceSampling:
      policy.clip_low = policy.clip_high = std::numeric_limits<double>::infinity();
      [[fallthrough]];
    case TokenLossKind::kPpo: policy.policy = PolicyLoss::kClip; break;
    case TokenLossKind::kCispo: policy.policy = PolicyLoss::kClippedWeight; break;
    case TokenLossKind::kCrossEntropy:
    case TokenLossKind::kDro: policy.policy = PolicyLoss::kGradient; break;
  }
  return policy;
}

// The loss of one sequence and its derivatives by the log-probabilities of all tokens but the
// first.
PolicyOutput LossOfSequence(const TokenLossOptions& options, const WeighedSequence& sequence,
                            std::span<const float> logprobs) {
  const std::vector<double> weights(sequence.weights.begin(), sequence.weights.end());
  const std::vector<float> ones(options.HasRatio() ? 0 : logprobs.size(), 1.0f);
  PolicyInput input{.logprobs = logprobs,
                    .old = options.HasRatio() ? std::span(sequence.sampled) : logprobs,
                    .advantages = options.HasRatio() ? std::span(sequence.advantages) : ones,
                    .weights = weights};
  PolicyOutput output = PolicyLossOf(PolicyLossFor(options), input);
  if (options.kind != TokenLossKind::kDro) return output;
  for (size_t t = 0; t < logprobs.size(); ++t) {
    const double away = double{logprobs[t]} - double{sequence.sampled[t]};
    output.loss += 0.5 * options.beta * away * away * weights[t];
    output.derivatives[t] += options.beta * away * weights[t];
  }
  return output;
}

void AddToReport(const TokenLossOptions& options, const WeighedSequence& sequence,
                 std::vector<float> logprobs, const PolicyOutput& output, TokenLossReport* report) {
  report->loss += output.loss;
  for (size_t t = 0; t < logprobs.size(); ++t) {
    if (sequence.weights[t] == 0 || (options.HasRatio() && sequence.advantages[t] == 0)) continue;
    ++report->tokens;
    if (options.HasRatio() && logprobs[t] == sequence.sampled[t]) ++report->ratio_one;
  }
  report->logprobs.push_back(std::move(logprobs));
}

// Calls of the engine, each with the trees of some sequences, in order.
void InCalls(
    const TokenLossOptions& options, std::span<const WeighedSequence> sequences,
    const std::function<void(std::span<const Tree>, std::span<const WeighedSequence>)>& call) {
  std::vector<size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<int64_t> tokens;
  for (const WeighedSequence& sequence : sequences) {
    CHECK(CheckSequence(options, sequence).ok(), "a sequence that was not checked");
    tokens.push_back(static_cast<int64_t>(sequence.tokens.size()));
  }
  for (const std::vector<size_t>& run : PackByTokens(order, tokens, kTokenLossCallTokens)) {
    std::vector<Tree> trees;
    for (const size_t index : run) trees.push_back(ChainOf(sequences[index].tokens));
    call(trees, sequences.subspan(run.front(), run.size()));
  }
}

}  // namespace

std::vector<std::string> TokenLossNames() {
  std::vector<std::string> names;
  for (const NamedTokenLoss& loss : NamedTokenLosses()) names.emplace_back(loss.name);
  return names;
}

Result<TokenLossOptions> TokenLossNamed(std::string_view name, const LossSettings& settings) {
  for (const NamedTokenLoss& loss : NamedTokenLosses()) {
    if (loss.name != name) continue;
    TokenLossOptions options = loss.options;
    HONE_RETURN_IF_ERROR(ReadLossSettings(loss, settings, &options));
    return options;
  }
  std::string all;
  for (const std::string& one : TokenLossNames()) all += (all.empty() ? "" : ", ") + one;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("loss_fn: there is no loss \"{}\"; there are {}", name, all));
}

Result<void> CheckSequence(const TokenLossOptions& options, const WeighedSequence& sequence) {
  if (sequence.tokens.size() < 2) {
    return Error(ErrorCode::kInvalidArgument, "tokens: a sequence has at least two");
  }
  const auto check = [&](std::string_view name, const std::vector<float>& values) -> Result<void> {
    if (values.size() != sequence.tokens.size() - 1) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: {} numbers for {} tokens; every token wants one", name,
                               values.size(), sequence.tokens.size() - 1));
    }
    for (size_t t = 0; t < values.size(); ++t) {
      if (std::abs(values[t]) <= kMostTokenNumber) continue;  // false of what is no number, too
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}[{}]: {} is no number from {} to {}", name, t, values[t],
                               -kMostTokenNumber, kMostTokenNumber));
    }
    return {};
  };
  HONE_RETURN_IF_ERROR(check("weights", sequence.weights));
  if (!options.HasRatio()) return {};
  HONE_RETURN_IF_ERROR(check("advantages", sequence.advantages));
  return check("logprobs", sequence.sampled);
}

TokenLossReport AccumulateTokenLoss(const TokenLossOptions& options,
                                    std::span<const WeighedSequence> sequences, Engine* engine) {
  TokenLossReport report;
  InCalls(options, sequences,
          [&](std::span<const Tree> trees, std::span<const WeighedSequence> of_call) {
            engine->Accumulate(trees, [&](std::span<TreeTerms> terms) {
              for (size_t i = 0; i < terms.size(); ++i) {
                PathTerms& path = terms[i].paths[0];
                std::vector<float> logprobs(path.logprobs.begin() + 1, path.logprobs.end());
                const PolicyOutput output = LossOfSequence(options, of_call[i], logprobs);
                for (size_t t = 0; t < logprobs.size(); ++t) {
                  path.dlogprobs[t + 1] = static_cast<float>(output.derivatives[t]);
                }
                AddToReport(options, of_call[i], std::move(logprobs), output, &report);
              }
            });
          });
  return report;
}

TokenLossReport TokenLossOf(const TokenLossOptions& options,
                            std::span<const WeighedSequence> sequences, Engine* engine) {
  TokenLossReport report;
  InCalls(options, sequences,
          [&](std::span<const Tree> trees, std::span<const WeighedSequence> of_call) {
            const std::vector<TreeLogprobs> scores = engine->LogProbs(trees);
            for (size_t i = 0; i < scores.size(); ++i) {
              const std::vector<float>& all = scores[i][0].logprobs;
              std::vector<float> logprobs(all.begin() + 1, all.end());
              const PolicyOutput output = LossOfSequence(options, of_call[i], logprobs);
              AddToReport(options, of_call[i], std::move(logprobs), output, &report);
            }
          });
  return report;
}

}  // namespace hone
