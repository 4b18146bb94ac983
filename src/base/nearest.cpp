#include "base/nearest.h"

#include <algorithm>

namespace hone {
namespace {

// Damerau–Levenshtein distance (optimal string alignment), over three rows.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  size_t best_distance = 0;
  constexpr size_t kLongestWord = 100;  // nobody mistypes more; keeps hostile input cheap
  if (word.size() > kLongestWord) return best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    const size_t distance = EditDistance(word, candidate);
    const size_t allowed = std::max<size_t>(1, candidate.size() / 3);
    if (distance > allowed || (best && distance >= best_distance)) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = Nearest(word, candidates);
  return nearest ? " (did you mean \"" + *nearest + "\"?)" : "";
}

}  // namespace hone
