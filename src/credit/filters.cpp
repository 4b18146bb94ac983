#include "credit/filters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "base/hash.h"

namespace hone {
namespace {

std::vector<double> RewardsOf(const Method& method, const Group& group) {
  std::vector<double> rewards;
  const UnitValues values = method.filters.spread_of ? method.filters.spread_of(group)
                                                     : TrajectorySums(group, method.reads);
  for (const auto& units : values) {
    if (units[0]) rewards.push_back(*units[0]);
  }
  return rewards;
}

// Neither a whole action nor an answer: nothing at all, or an action that was cut off. An action
// that was written to its end and cannot be read is one.
bool IsVoid(const Node& turn) {
  if (!turn.calls.empty()) return false;
  bool nothing = false;
  for (const Fault& fault : turn.faults) {
    if (fault.kind == FaultKind::kBadJson || fault.kind == FaultKind::kBadCall) return false;
    nothing |= fault.kind == FaultKind::kNoAction || fault.kind == FaultKind::kIncomplete;
  }
  return nothing;
}

bool HasVoidTurn(const Group& group, const Trajectory& trajectory) {
  if (group.tree().leaves[trajectory.leaf].ending == Ending::kVoid) return true;
  return std::any_of(trajectory.turns.begin(), trajectory.turns.end(),
                     [&](const Turn& turn) { return IsVoid(group.tree().nodes[turn.node]); });
}

bool IsRepetitive(const Group& group, const Trajectory& trajectory) {
  constexpr size_t kRun = 20;
  constexpr int kOften = 10;
  std::vector<TokenId> tokens;
  for (const Turn& turn : trajectory.turns) {
    const std::vector<TokenId>& more = group.tree().nodes[turn.node].tokens;
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  std::unordered_map<uint64_t, int> seen;
  for (size_t t = 0; t + kRun <= tokens.size(); ++t) {
    const std::string_view run(reinterpret_cast<const char*>(tokens.data() + t),
                               kRun * sizeof(TokenId));
    if (++seen[Hash64(run)] >= kOften) return true;
  }
  return false;
}

}  // namespace

bool WasCutOff(const Group& group, const Trajectory& trajectory) {
  if (group.tree().leaves[trajectory.leaf].ending == Ending::kTokenLimit) return true;
  return std::any_of(trajectory.turns.begin(), trajectory.turns.end(), [&](const Turn& turn) {
    const std::vector<Fault>& faults = group.tree().nodes[turn.node].faults;
    return std::any_of(faults.begin(), faults.end(),
                       [](const Fault& fault) { return fault.kind == FaultKind::kIncomplete; });
  });
}

std::vector<bool> KeptGroups(const Method& method, std::span<const Group> groups,
                             std::span<CreditBuilder> builders) {
  const Filters& filters = method.filters;
  std::vector<bool> kept(groups.size(), true);
  if (!filters.least_deviation && filters.keep_share >= 1) return kept;
  std::vector<double> deviations(groups.size(), 0);
  for (size_t g = 0; g < groups.size(); ++g) {
    const std::vector<double> rewards = RewardsOf(method, groups[g]);
    const auto spread = DeviationOf(rewards);
    deviations[g] = spread.deviation;
    if (filters.least_deviation && rewards.size() > 1 &&
        (spread.equal || deviations[g] <= *filters.least_deviation)) {
      kept[g] = false;
      builders[g].Remark(NoteKind::kGroupDropped, -1,
                         fmt::format("rewards deviate by {:.4g}, at most {:.4g}: no signal",
                                     deviations[g], *filters.least_deviation));
    }
  }
  if (filters.keep_share < 1) {
    std::vector<size_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return deviations[a] > deviations[b]; });
    const auto keep = std::max<size_t>(
        static_cast<size_t>(filters.keep_share * static_cast<double>(groups.size()) + 1e-9),
        filters.keep_share > 0 ? 1 : 0);
    for (size_t i = keep; i < order.size(); ++i) {
      if (!kept[order[i]]) continue;
      kept[order[i]] = false;
      builders[order[i]].Remark(
          NoteKind::kGroupDropped, -1,
          fmt::format("not among the {} groups of {} that spread most", keep, order.size()));
    }
  }
  return kept;
}

void MaskTrajectories(const Filters& filters, const Group& group, CreditBuilder* builder) {
  if (!filters.mask_void && !filters.mask_truncated && !filters.mask_repetitive) return;
  builder->Open("mask");
  for (size_t i = 0; i < group.trajectories.size(); ++i) {
    const Trajectory& trajectory = group.trajectories[i];
    const char* why = nullptr;
    if (filters.mask_void && HasVoidTurn(group, trajectory)) {
      why = "a turn that neither calls nor answers";
    } else if (filters.mask_truncated && WasCutOff(group, trajectory)) {
      why = "cut off by a limit of tokens";
    } else if (filters.mask_repetitive && IsRepetitive(group, trajectory)) {
      why = "20 tokens repeated ten times";
    }
    if (why == nullptr) continue;
    builder->Remark(NoteKind::kMasked, trajectory.leaf, why);
    builder->Clear(i);
  }
}

}  // namespace hone
