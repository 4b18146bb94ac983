// The distribution over the next token: scored, differentiated and drawn from.

#include <cmath>
#include <span>

#include "base/exact_math.h"
#include "engine/decoder_parts.h"
#include "engine/device/reference_kernels.h"
#include "engine/distribution.h"
#include "engine/draw.h"

namespace hone::reference {
namespace {

void MaskThese(std::span<const int32_t> tokens, std::span<float> logits) {
  for (const int32_t token : tokens) logits[static_cast<size_t>(token)] = kForbiddenLogit;
}

void MaskAllBut(std::span<const int32_t> tokens, std::span<float> logits) {
  std::vector<float> kept;
  for (const int32_t token : tokens) kept.push_back(logits[static_cast<size_t>(token)]);
  std::fill(logits.begin(), logits.end(), kForbiddenLogit);
  for (size_t i = 0; i < kept.size(); ++i) logits[static_cast<size_t>(tokens[i])] = kept[i];
}

// A row in which only the kept tokens have a probability; no `kept` is all. The others count as
// exact zeros in their place, so a support of all tokens gives the bits of none.
std::vector<float> MaskedCopy(std::span<const float> logits, std::span<const int32_t> kept) {
  std::vector<float> row(logits.begin(), logits.end());
  if (!kept.empty()) MaskAllBut(kept, row);
  return row;
}

// The same for scoring as for drawing. DistributionOf takes a temperature, whose inverse need not
// be the one that is given here.
Distribution DistributionAt(const std::vector<float>& row, float inverse_temperature) {
  const auto vocab = static_cast<int64_t>(row.size());
  const float largest = Plain().largest(row.data(), vocab, inverse_temperature);
  const float sum = Plain().exp_sum(row.data(), vocab, inverse_temperature, largest);
  Distribution d{inverse_temperature, largest + static_cast<float>(NaturalLog(sum)), 0};
  d.entropy = Plain().entropy(row.data(), vocab, inverse_temperature, d.log_sum);
  return d;
}

// The tokens that could be drawn; empty: all of them.
std::vector<TokenId> SupportOf(std::span<const float> logits, const DrawRule& rule,
                               std::span<const int32_t> allowed) {
  std::vector<TokenId> kept;
  if (rule.temperature > 0) {
    kept = KeptTokens(logits, {.temperature = rule.temperature,
                               .top_k = rule.top_k,
                               .top_p = rule.top_p,
                               .min_p = rule.min_p});
  }
  if (allowed.empty()) return kept;
  if (kept.empty()) return {allowed.begin(), allowed.end()};
  std::vector<TokenId> both;
  std::set_intersection(kept.begin(), kept.end(), allowed.begin(), allowed.end(),
                        std::back_inserter(both));
  return both;
}

// Fills in `likely`, and returns how many.
int32_t TellLikeliest(const DeviceDraw& d, int64_t row, const Distribution& distribution,
                      std::span<const TokenId> kept) {
  const float* logits = d.logits + row * d.vocab;
  std::vector<TokenId> tokens(kept.begin(), kept.end());
  if (kept.empty()) {
    for (int64_t v = 0; v < d.vocab; ++v) tokens.push_back(static_cast<TokenId>(v));
  }
  std::erase_if(tokens, [&](TokenId v) {  // what could not have been drawn
    return logits[v] <= kForbiddenLogit || !std::isfinite(distribution.LogProb(logits[v]));
  });
  std::stable_sort(tokens.begin(), tokens.end(), [&](TokenId a, TokenId b) {
    return distribution.LogProb(logits[a]) > distribution.LogProb(logits[b]);
  });
  const size_t asked = static_cast<size_t>(std::clamp(d.rules[row].likeliest, 0, kMostLikely));
  tokens.resize(std::min(tokens.size(), asked));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto at = row * kMostLikely + static_cast<int64_t>(i);
    d.likely[at] = tokens[i];
    d.likely_logprob[at] = distribution.LogProb(logits[tokens[i]]);
  }
  return static_cast<int32_t>(tokens.size());
}

void DrawRow(const DeviceDraw& d, int64_t r) {
  const DrawRule& rule = d.rules[r];
  const std::span<float> logits(d.logits + r * d.vocab, static_cast<size_t>(d.vocab));
  const std::span<const int32_t> allowed(
      rule.allowed_count > 0 ? d.allowed + rule.allowed_first : nullptr,
      static_cast<size_t>(rule.allowed_count));
  if (rule.forbidden != 0) {
    MaskThese({d.forbidden, static_cast<size_t>(d.forbidden_count)}, logits);
  }
  if (!allowed.empty()) MaskAllBut(allowed, logits);
  const bool greedy = rule.temperature == 0;
  const std::vector<TokenId> kept = SupportOf(logits, rule, allowed);
  const std::vector<float> row = MaskedCopy(logits, kept);
  const Distribution distribution = DistributionAt(row, greedy ? 1.0f : 1.0f / rule.temperature);
  size_t token = 0;
  if (greedy) {
    token = static_cast<size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  } else {
    std::vector<float> p(row.size());
    Plain().probabilities(row.data(), d.vocab, distribution.inverse_temperature,
                          distribution.log_sum, p.data());
    token = DrawnPlace(p, rule.u);
  }
  if (d.kept != nullptr) std::copy(kept.begin(), kept.end(), d.kept + r * d.vocab);
  d.drawn[r] = {.token = static_cast<int32_t>(token),
                .logprob = distribution.LogProb(logits[token]),
                .entropy = distribution.entropy,
                .kept = static_cast<int32_t>(kept.size()),
                .likeliest = rule.likeliest > 0 ? TellLikeliest(d, r, distribution, kept) : 0};
}

std::span<const int32_t> KeptByRule(const DeviceDistribution& d, int64_t r) {
  const PredictionRule& rule = d.rules[r];
  if (rule.kept_count == 0) return {};
  return {d.kept + rule.kept_first, static_cast<size_t>(rule.kept_count)};
}

}  // namespace

void Score(const DeviceDistribution& d) {
  for (int64_t r = 0; r < d.rows; ++r) {
    const PredictionRule& rule = d.rules[r];
    const std::span<float> logits(d.logits + r * d.vocab, static_cast<size_t>(d.vocab));
    if (rule.forbidden != 0) {
      MaskThese({d.forbidden, static_cast<size_t>(d.forbidden_count)}, logits);
    }
    const Distribution distribution =
        DistributionAt(MaskedCopy(logits, KeptByRule(d, r)), rule.inverse_temperature);
    d.logprob[r] = distribution.LogProb(logits[static_cast<size_t>(rule.token)]);
    d.entropy[r] = distribution.entropy;
    d.log_sum[r] = distribution.log_sum;
  }
}

void ScoreBackward(const DeviceDistributionBackward& b) {
  const DeviceDistribution& d = b.forward;
  std::vector<float> dlogits(static_cast<size_t>(d.vocab));
  for (int64_t i = 0; i < b.count; ++i) {
    const int64_t r = b.row_of == nullptr ? i : b.row_of[i];
    const PredictionRule& rule = d.rules[r];
    DistributionBackward({d.logits + r * d.vocab, dlogits.size()},
                         {rule.inverse_temperature, d.log_sum[r], d.entropy[r]}, KeptByRule(d, r),
                         rule.token, b.dlogprob[i], b.dentropy[i], Plain(), dlogits);
    SetRow(dlogits, b.element, b.dlogits, i * d.vocab);
  }
}

void Draw(const DeviceDraw& d) {
  for (int64_t r = 0; r < d.rows; ++r) {
    if (d.rules[r].skip == 0) DrawRow(d, r);
  }
}

}  // namespace hone::reference
