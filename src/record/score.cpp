#include "record/score.h"

namespace hone {

std::optional<double> Total(const Score& score) {
  std::optional<double> total;
  for (const RewardTerm& term : score.terms) {
    if (term.value) total = total.value_or(0) + term.weight * *term.value;
  }
  return total;
}

std::optional<double> MeanReward(const std::vector<Score>& scores) {
  double sum = 0;
  int scored = 0;
  for (const Score& score : scores) {
    if (const std::optional<double> total = Total(score)) {
      sum += *total;
      ++scored;
    }
  }
  if (scored == 0) return std::nullopt;
  return sum / scored;
}

}  // namespace hone
