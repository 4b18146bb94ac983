#include "credit/shapers.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hone {
namespace {

using Change = std::function<void(size_t group, size_t trajectory, std::vector<float>*)>;

// Runs `change` over the credit of every trajectory that takes part: one that was not scored has
// none to be shaped.
void ForEach(std::span<const Group> groups, std::span<CreditBuilder> builders,
             const Change& change) {
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i = 0; i < groups[g].trajectories.size(); ++i) {
      if (!builders[g].TakesPart(i)) continue;
      std::vector<float> values = builders[g].total(i);
      change(g, i, &values);
      builders[g].Replace(i, std::move(values));
    }
  }
}

void Whiten(std::span<const Group> groups, std::span<CreditBuilder> builders) {
  double sum = 0, squares = 0;
  int64_t count = 0;
  auto each = [&](auto&& take) {
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t i = 0; i < groups[g].trajectories.size(); ++i) {
        if (!builders[g].TakesPart(i)) continue;
        for (const float value : builders[g].total(i)) take(value);
      }
    }
  };
  each([&](float value) { sum += value, ++count; });
  if (count < 2) return;
  const double mean = sum / static_cast<double>(count);
  each([&](float value) { squares += (value - mean) * (value - mean); });
  const double scale = 1 / std::sqrt(squares / static_cast<double>(count - 1) + 1e-8);
  for (CreditBuilder& builder : builders) {
    if (squares == 0) builder.Remark(NoteKind::kAllEqual, -1, "all tokens have the same: 0");
  }
  ForEach(groups, builders, [&](size_t, size_t, std::vector<float>* values) {
    for (float& value : *values) value = static_cast<float>((value - mean) * scale);
  });
}

void NormaliseByTrajectory(std::span<const Group> groups, std::span<CreditBuilder> builders) {
  std::vector<double> all;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i = 0; i < groups[g].trajectories.size(); ++i) {
      const std::vector<float>& values = builders[g].total(i);
      if (builders[g].TakesPart(i) && !values.empty()) all.push_back(values[0]);
    }
  }
  if (all.size() < 2) return;
  const Deviation batch = DeviationOf(all);
  ForEach(groups, builders, [&](size_t, size_t, std::vector<float>* values) {
    for (float& value : *values) {
      value = static_cast<float>(batch.equal ? 0 : (value - batch.mean) / (batch.deviation + 1e-6));
    }
  });
}

std::vector<float> EntropiesOf(const Group& group, const Trajectory& trajectory) {
  std::vector<float> entropies;
  for (const Turn& turn : trajectory.turns) {
    const std::vector<float>& more = group.tree().nodes[turn.node].entropies;
    entropies.insert(entropies.end(), more.begin(), more.end());
  }
  return entropies;
}

}  // namespace

Shaper WhitenTokens() { return {"whiten", &Whiten}; }

Shaper NormaliseTrajectories() { return {"batch norm", &NormaliseByTrajectory}; }

Shaper ClipCredit(double limit) {
  return {"clip", [limit](std::span<const Group> groups, std::span<CreditBuilder> builders) {
            const auto bound = static_cast<float>(limit);
            ForEach(groups, builders, [&](size_t, size_t, std::vector<float>* values) {
              for (float& value : *values) value = std::clamp(value, -bound, bound);
            });
          }};
}

Shaper KeepHighEntropy(double share) {
  return {
      "entropy mask", [share](std::span<const Group> groups, std::span<CreditBuilder> builders) {
        std::vector<float> all;
        for (size_t g = 0; g < groups.size(); ++g) {
          for (size_t i = 0; i < groups[g].trajectories.size(); ++i) {
            if (!builders[g].TakesPart(i)) continue;
            const std::vector<float> more = EntropiesOf(groups[g], groups[g].trajectories[i]);
            all.insert(all.end(), more.begin(), more.end());
          }
        }
        if (all.empty()) return;
        const auto keep = std::clamp<size_t>(
            static_cast<size_t>(std::ceil(share * static_cast<double>(all.size()))), 1, all.size());
        std::nth_element(all.begin(), all.begin() + static_cast<ptrdiff_t>(keep) - 1, all.end(),
                         std::greater<>());
        const float threshold = all[keep - 1];  // ties stay: no choice between equals
        ForEach(groups, builders, [&](size_t g, size_t i, std::vector<float>* values) {
          const std::vector<float> entropies = EntropiesOf(groups[g], groups[g].trajectories[i]);
          for (size_t t = 0; t < values->size(); ++t) {
            if (entropies[t] < threshold) (*values)[t] = 0;
          }
        });
      }};
}

Shaper AverageSharedTokens() {
  return {"shared mean", [](std::span<const Group> groups, std::span<CreditBuilder> builders) {
            for (size_t g = 0; g < groups.size(); ++g) {
              // A node's tokens have as many values as trajectories that take part go through it.
              std::unordered_map<NodeId, std::pair<std::vector<double>, int>> sums;
              ForEach(groups.subspan(g, 1), builders.subspan(g, 1),
                      [&](size_t, size_t i, std::vector<float>* values) {
                        for (const Turn& turn : groups[g].trajectories[i].turns) {
                          auto& [sum, count] = sums[turn.node];
                          sum.resize(turn.tokens.end - turn.tokens.begin);
                          ++count;
                          for (size_t t = 0; t < sum.size(); ++t) {
                            sum[t] += (*values)[turn.tokens.begin + t];
                          }
                        }
                      });
              ForEach(groups.subspan(g, 1), builders.subspan(g, 1),
                      [&](size_t, size_t i, std::vector<float>* values) {
                        for (const Turn& turn : groups[g].trajectories[i].turns) {
                          const auto& [sum, count] = sums[turn.node];
                          if (count < 2) continue;
                          for (size_t t = 0; t < sum.size(); ++t) {
                            (*values)[turn.tokens.begin + t] = static_cast<float>(sum[t] / count);
                          }
                        }
                      });
            }
          }};
}

}  // namespace hone
