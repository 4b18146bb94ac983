#include "learn/objective_metrics.h"

#include <algorithm>

namespace hone {

std::vector<std::pair<std::string, double>> ObjectiveMetrics::Named() const {
  return {{"loss", loss},
          {"policy_loss", policy_loss},
          {"kl_loss", kl_loss},
          {"entropy_loss", entropy_loss},
          {"value_loss", value_loss},
          {"clip_fraction", clip_fraction},
          {"approx_kl", approx_kl},
          {"kl", reference_kl},
          {"entropy", entropy},
          {"ratio_mean", mean_ratio},
          {"ratio_max", max_ratio},
          {"correction_weight", mean_weight},
          {"value_clip_fraction", value_clip_fraction},
          {"loss_sequences", static_cast<double>(sequences)},
          {"loss_tokens", static_cast<double>(tokens)},
          {"ratio_one_tokens", static_cast<double>(ratio_one)},
          {"vetoed_sequences", static_cast<double>(vetoed)},
          {"limited_tokens", static_cast<double>(limited)}};
}

namespace {

constexpr double ObjectiveMetrics::*kMeans[] = {
    &ObjectiveMetrics::loss,        &ObjectiveMetrics::policy_loss,
    &ObjectiveMetrics::kl_loss,     &ObjectiveMetrics::entropy_loss,
    &ObjectiveMetrics::value_loss,  &ObjectiveMetrics::clip_fraction,
    &ObjectiveMetrics::approx_kl,   &ObjectiveMetrics::reference_kl,
    &ObjectiveMetrics::entropy,     &ObjectiveMetrics::mean_ratio,
    &ObjectiveMetrics::mean_weight, &ObjectiveMetrics::value_clip_fraction};

void AddCounts(const ObjectiveMetrics& more, ObjectiveMetrics* all) {
  all->sequences += more.sequences;
  all->tokens += more.tokens;
  all->ratio_one += more.ratio_one;
  all->vetoed += more.vetoed;
  all->limited += more.limited;
  all->max_ratio = std::max(all->max_ratio, more.max_ratio);
}

}  // namespace

void AddSums(const ObjectiveMetrics& more, ObjectiveMetrics* sums) {
  AddCounts(more, sums);
  for (double ObjectiveMetrics::*sum : kMeans) sums->*sum += more.*sum;
}

ObjectiveMetrics Combine(std::span<const ObjectiveMetrics> parts) {
  ObjectiveMetrics all;
  for (const ObjectiveMetrics& part : parts) AddCounts(part, &all);
  if (all.tokens == 0) return all;
  for (const ObjectiveMetrics& part : parts) {
    const double share = static_cast<double>(part.tokens) / static_cast<double>(all.tokens);
    for (double ObjectiveMetrics::*mean : kMeans) all.*mean += share * (part.*mean);
  }
  return all;
}

}  // namespace hone
