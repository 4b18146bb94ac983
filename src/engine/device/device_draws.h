#pragma once

// Draws by every rule there is, and what they must give, in double precision.

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "engine/device/device_problems.h"

namespace hone {

// What a draw gave for one row.
struct DrawnTokens {
  DrawnRow row;
  std::vector<int32_t> kept, likely;
  std::vector<float> likely_logprob;
};

struct DrawProblem {
  int64_t rows, vocab;
  bool plain = false;  // rules that need no sorting
  std::vector<float> logits;
  std::vector<int32_t> forbidden, allowed;
  std::vector<DrawRule> rules;

  // Kind after kind of rule, row by row.
  DrawProblem& Fill(Rng rng) {
    logits = RandomFloats(rng.Split("logits"), rows * vocab, 2);
    for (int64_t v = 1; v < vocab; v += 7) forbidden.push_back(static_cast<int32_t>(v));
    for (int64_t r = 0; r < rows; ++r) rules.push_back(plain ? PlainRule(r) : RuleOf(r, rng));
    for (int64_t r = 0; r < rows; ++r) {
      rules[r].u = rng.NextDouble();
      if (r % 7 == 3) rules[r].u = r % 2 == 0 ? 0 : 1 - 0x1p-53;
      // Many ties: they go to the lower id.
      for (int64_t v = 0; r % 4 == 2 && v < vocab; ++v) {
        logits[r * vocab + v] = std::round(logits[r * vocab + v]);
      }
    }
    return *this;
  }
  static DrawRule Usual() {
    DrawRule rule{};
    rule.temperature = rule.top_p = 1;
    return rule;
  }
  static DrawRule PlainRule(int64_t r) {
    DrawRule rule = Usual();
    if (r % 5 == 1) rule.temperature = 0;
    if (r % 5 == 2) rule.temperature = 0.7f;
    if (r % 5 == 3) rule.temperature = 1.5f;
    rule.forbidden = static_cast<int32_t>(r % 2);
    rule.skip = r % 5 == 4;
    return rule;
  }
  DrawRule RuleOf(int64_t r, Rng rng) {
    DrawRule rule = Usual();
    const auto alive = static_cast<int32_t>(vocab - std::ssize(forbidden));
    switch (r % 14) {
      case 0: return PlainRule(r / 14);
      case 1: rule.top_k = std::min(5, alive); break;
      case 2: rule.top_p = 0.8f; break;
      case 3: rule.min_p = 0.1f; break;
      case 4:
        rule.temperature = 1.3f, rule.top_k = 20, rule.top_p = 0.9f, rule.min_p = 0.02f;
        break;
      case 5: rule.temperature = 0, rule.top_k = 3; break;
      case 6: rule.temperature = 0, Allow(&rule, rng.Split(r)); break;
      case 7: Allow(&rule, rng.Split(r)), rule.temperature = 0.8f; break;
      case 8: Allow(&rule, rng.Split(r)), rule.top_k = 4, rule.top_p = 0.95f; break;
      case 9: rule.skip = 1, rule.top_k = 2; break;
      case 10: rule.likeliest = kMostLikely, rule.temperature = 0.9f; break;
      case 11: rule.likeliest = 3, rule.top_p = 0.5f; break;
      case 12: rule.top_k = 1, rule.likeliest = 2; break;
      default: rule.top_k = static_cast<int32_t>(vocab) + 3; break;
    }
    rule.forbidden = rule.top_k > alive ? 0 : static_cast<int32_t>(r / 14 % 2);
    return rule;
  }
  void Allow(DrawRule* rule, Rng rng) {
    rule->allowed_first = static_cast<int32_t>(allowed.size());
    for (int32_t v = 0; v < vocab; ++v) {
      if (v % 7 != 1 && (v == 0 || rng.Below(5) == 0)) allowed.push_back(v);
    }
    rule->allowed_count = static_cast<int32_t>(allowed.size()) - rule->allowed_first;
  }
  DrawProblem Rows(int64_t first, int64_t count) const {
    DrawProblem part = *this;
    part.rows = count;
    part.logits = Slice(logits, first * vocab, count * vocab);
    part.rules = {rules.begin() + first, rules.begin() + first + count};
    return part;
  }

  // Rows that are skipped give nothing.
  std::vector<DrawnTokens> Run(DeviceTrial* t) const {
    DeviceDraw d{.rows = rows, .vocab = vocab, .logits = t->Put(logits)};
    d.forbidden = t->Put(forbidden);
    d.forbidden_count = static_cast<int64_t>(forbidden.size());
    d.rules = t->Put(rules);
    d.allowed = t->Put(allowed);
    d.drawn = t->Poisoned<DrawnRow>(rows);
    d.kept = t->Poisoned<int32_t>(rows * vocab);
    d.likely = t->Poisoned<int32_t>(rows * kMostLikely);
    d.likely_logprob = t->Poisoned<float>(rows * kMostLikely);
    d.plain = plain;
    t->Run([&](auto& api, auto* context) { api.draw(context, d); });
    const auto drawn = t->Get(d.drawn, rows);
    const auto kept = t->Get(d.kept, rows * vocab), likely = t->Get(d.likely, rows * kMostLikely);
    const auto logprobs = t->Get(d.likely_logprob, rows * kMostLikely);
    std::vector<DrawnTokens> all(static_cast<size_t>(rows));
    for (int64_t r = 0; r < rows; ++r) {
      if (rules[r].skip != 0) continue;
      const auto kept_at = kept.begin() + r * vocab, likely_at = likely.begin() + r * kMostLikely;
      const auto logprob_at = logprobs.begin() + r * kMostLikely;
      all[r] = {drawn[r],
                {kept_at, kept_at + std::clamp<int64_t>(drawn[r].kept, 0, vocab)},
                {likely_at, likely_at + std::clamp(drawn[r].likeliest, 0, kMostLikely)},
                {logprob_at, logprob_at + std::clamp(drawn[r].likeliest, 0, kMostLikely)}};
    }
    return all;
  }
};

// The rule of one row, in double precision.
class DrawCheck {
 public:
  DrawCheck(const DrawProblem& problem, int64_t row) : rule_(problem.rules[row]) {
    vocab_ = problem.vocab;
    inverse_ = rule_.temperature > 0 ? 1.0 / rule_.temperature : 1.0;
    for (int64_t v = 0; v < vocab_; ++v) {
      logits_.push_back(problem.logits[row * vocab_ + v] * inverse_);
    }
    const auto allowed = problem.allowed.begin() + rule_.allowed_first;
    for (int32_t v = 0; v < vocab_; ++v) {
      const bool forbidden = rule_.forbidden != 0 && v % 7 == 1;
      const bool may =
          rule_.allowed_count == 0 || std::binary_search(allowed, allowed + rule_.allowed_count, v);
      if (!forbidden && may) order_.push_back(v);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int32_t a, int32_t b) { return logits_[a] > logits_[b]; });
  }

  void Check(const DrawnTokens& got) const {
    ASSERT_GE(got.row.token, 0);
    ASSERT_LT(got.row.token, vocab_);
    int64_t slack = 0;
    const size_t keep = Keep(&slack);
    const bool whole = rule_.allowed_count == 0 && keep == order_.size() && !Restricted();
    ASSERT_EQ(got.row.kept == 0, whole);
    std::vector<int32_t> support = got.kept;
    if (whole) support.assign(order_.begin(), order_.end());
    std::sort(support.begin(), support.end());
    EXPECT_LE(std::abs(std::ssize(support) - static_cast<int64_t>(keep)), slack);
    std::vector<int32_t> likeliest(order_.begin(), order_.begin() + std::ssize(support));
    std::sort(likeliest.begin(), likeliest.end());
    EXPECT_EQ(support, likeliest);
    EXPECT_TRUE(std::is_sorted(got.kept.begin(), got.kept.end()));
    CheckNumbers(got, support);
  }

 private:
  bool Restricted() const {
    return rule_.temperature > 0 &&
           ((rule_.top_k > 0 && rule_.top_k < vocab_) || rule_.top_p < 1 || rule_.min_p > 0);
  }
  // How many tokens stay; some more or less where rounding decides about top_p's border.
  size_t Keep(int64_t* slack) const {
    size_t keep = order_.size();
    if (rule_.temperature == 0) return keep;
    if (rule_.top_k > 0) keep = std::min(keep, static_cast<size_t>(rule_.top_k));
    std::vector<double> weights;
    for (size_t i = 0; i < keep; ++i) {
      weights.push_back(std::exp(logits_[order_[i]] - logits_[order_[0]]));
    }
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double running = 0;
    size_t top_p = keep;
    for (size_t i = 0; i < keep && rule_.top_p < 1; ++i) {
      running += weights[i];
      if (running >= rule_.top_p * total) top_p = std::min(top_p, i + 1);
      if (std::abs(running - rule_.top_p * total) < kNear * total) ++*slack;
    }
    keep = top_p;
    while (keep > 1 && weights[keep - 1] < rule_.min_p) --keep;
    return keep;
  }
  void CheckNumbers(const DrawnTokens& got, const std::vector<int32_t>& support) const {
    double sum = 0, entropy = 0, before = 0;
    for (const int32_t v : support) sum += std::exp(logits_[v] - logits_[order_[0]]);
    const double log_sum = std::log(sum) + logits_[order_[0]];
    for (const int32_t v : support) {
      const double log_p = logits_[v] - log_sum;
      entropy -= std::exp(log_p) * log_p;
      if (v < got.row.token) before += std::exp(log_p);
    }
    EXPECT_TRUE(std::binary_search(support.begin(), support.end(), got.row.token));
    const double logprob = logits_[got.row.token] - log_sum;
    EXPECT_NEAR(got.row.logprob, logprob, 2e-5 * (1 + std::abs(logprob)));
    EXPECT_NEAR(got.row.entropy, entropy, 3e-5 * (1 + entropy));
    if (rule_.temperature == 0) {
      EXPECT_EQ(got.row.token, order_[0]);
    } else {
      EXPECT_GE(rule_.u, before - kNear) << "an earlier token has it";
      EXPECT_LE(rule_.u, before + std::exp(logprob) + kNear) << "a later token has it";
    }
    const size_t likely = std::min<size_t>(support.size(), rule_.likeliest);
    ASSERT_EQ(got.row.likeliest, static_cast<int32_t>(likely));
    for (size_t i = 0; i < likely; ++i) {
      EXPECT_EQ(got.likely[i], order_[i]);
      EXPECT_NEAR(got.likely_logprob[i], logits_[order_[i]] - log_sum, 1e-4);
    }
  }

  static constexpr double kNear =
      1e-4;  // sums of probabilities that float32 may take for each other
  DrawRule rule_;
  int64_t vocab_;
  double inverse_;
  std::vector<double> logits_;  // over the temperature
  std::vector<int32_t> order_;  // what may follow, the likeliest first
};

}  // namespace hone
