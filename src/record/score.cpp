#include "record/score.h"

namespace hone {

std::optional<double> Total(const Score& score) {
  std::optional<double> total;
  for (const RewardTerm& term : score.terms) {
    if (term.value) total = total.value_or(0) + term.weight * *term.value;
  }
  return total;
}

}  // namespace hone
