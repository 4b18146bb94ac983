// Baselines that are neither a group's nor a critic's: the greedy trajectory (ReMax), the other
// trajectories at the same turn (turn-loo), the best token baseline (OTB).

#include <algorithm>
#include <cmath>

#include "base/exact_math.h"
#include "credit/gae.h"
#include "credit/methods/all.h"
#include "credit/methods/parts.h"

namespace hone::methods {
namespace {

bool IsGreedy(const Group& group, const Trajectory& trajectory) {
  return !trajectory.turns.empty() &&
         std::all_of(trajectory.turns.begin(), trajectory.turns.end(), [&](const Turn& turn) {
           return group.tree().nodes[turn.node].sampling.temperature == 0;
         });
}

void RemarkUnscored(const Group& group, const UnitValues& values, CreditBuilder* builder) {
  for (size_t i = 0; i < values.size(); ++i) {
    const Trajectory& trajectory = group.trajectories[i];
    if (trajectory.counts && (values[i].empty() || !values[i][0])) {
      builder->Remark(NoteKind::kUnscored, trajectory.leaf, "no reward");
    }
  }
}

}  // namespace

Method ReMax(MethodOptions* options) {
  Method method;
  method.about = "outcome minus that of the greedy trajectory of the same task";
  method.needs = "an outcome per trajectory, one leaf sampled at temperature 0";
  method.reads = OutcomeTerms(options);
  method.needs_greedy = true;
  method.estimators = {
      {"outcome", [outcome = method.reads](const Group& group, CreditBuilder* builder) {
         const UnitValues values = TrajectorySums(group, outcome);
         std::optional<double> greedy;
         for (size_t i = 0; i < values.size() && !greedy; ++i) {
           if (IsGreedy(group, group.trajectories[i])) greedy = values[i][0];
         }
         if (!greedy) {
           builder->Remark(NoteKind::kGroupDropped, -1,
                           "no scored leaf was sampled at temperature 0: nothing to compare with");
           return;
         }
         RemarkUnscored(group, values, builder);
         for (size_t i = 0; i < values.size(); ++i) {
           const Trajectory& trajectory = group.trajectories[i];
           if (!values[i][0] || IsGreedy(group, trajectory)) continue;
           builder->Add(i, {0, trajectory.tokens}, *values[i][0] - *greedy);
         }
       }}};
  method.promises.shift_invariant = true;
  return method;
}

// The return from a turn on, minus the mean of what the others had to come from the same turn on.
// The baseline depends on the others alone and is taken from *every* turn, calls and answers alike:
// that is what keeps it unbiased when the policy decides when to stop.
Method TurnLeaveOneOut(MethodOptions* options) {
  Method method;
  method.about = "return from each turn on, minus the others' at the same turn";
  method.needs = "rewards where they were earned";
  method.reads = {options->Names("terms", {"*"}), {}};
  method.estimators = {
      {"turns", [reads = method.reads](const Group& group, CreditBuilder* builder) {
         UnitValues to_go = TurnSums(group, reads);
         RemarkUnscored(group, to_go, builder);
         size_t scored = 0, longest = 0;
         for (auto& turns : to_go) {
           if (turns.empty() || !turns[0]) continue;
           ++scored;
           longest = std::max(longest, turns.size());
           for (size_t k = turns.size() - 1; k-- > 0;) *turns[k] += *turns[k + 1];
         }
         if (scored < 2) {
           builder->Remark(NoteKind::kGroupOfOne, -1, "nobody to compare with: 0");
           return;
         }
         for (size_t k = 0; k < longest; ++k) {
           double sum = 0, count = 0;
           auto reaches = [&](size_t i) { return k < to_go[i].size() && to_go[i][0]; };
           for (size_t i = 0; i < to_go.size(); ++i) {
             if (reaches(i)) sum += *to_go[i][k], ++count;
           }
           for (size_t i = 0; i < to_go.size(); ++i) {
             if (!reaches(i)) continue;
             const double own = *to_go[i][k];
             const double baseline = count > 1 ? (sum - own) / (count - 1) : 0;
             builder->Add(i, group.trajectories[i].turns[k].tokens, own - baseline);
           }
         }
       }}};
  method.promises = {.unbiased = true};
  return method;
}

namespace {

// A trajectory as OTB sees it: its tokens, those of all turns one after the other.
struct OtbRow {
  size_t trajectory;
  std::vector<float> returns;
  std::vector<double> weights;
};

std::vector<OtbRow> OtbRows(const Group& group, const UnitValues& sums, const Selection& reads) {
  std::vector<OtbRow> rows;
  for (size_t i = 0; i < sums.size(); ++i) {
    const Trajectory& trajectory = group.trajectories[i];
    if (!sums[i][0]) continue;
    OtbRow row{i, RewardsOnTokens(trajectory, reads), {}};
    TokenGae({1, 1}, row.returns, std::vector<float>(row.returns.size(), 0.0f), row.returns);
    double weight = 0;
    for (const Turn& turn : trajectory.turns) {
      const Node& node = group.tree().nodes[turn.node];
      for (size_t t = 0; t < node.tokens.size(); ++t) {
        // The squared size of the token's gradient. The record has no sum of squared probabilities;
        // exp(-entropy) is a lower bound of it.
        weight +=
            std::max(1 - 2 * Exponential(node.logprobs[t]) + Exponential(-node.entropies[t]), 0.0);
        row.weights.push_back(weight);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Takes its baseline from the return of every token.
void SubtractOtbBaselines(bool cut_tail, std::vector<OtbRow>* rows) {
  std::vector<size_t> lengths;
  for (const OtbRow& row : *rows) lengths.push_back(row.returns.size());
  std::sort(lengths.rbegin(), lengths.rend());
  // Behind the second longest there is nobody to compare with.
  const size_t shared = lengths.size() > 1 ? lengths[1] : 0;
  for (size_t t = 0; t < lengths[0]; ++t) {
    double weighted = 0, weights = 0, plain = 0, count = 0;
    for (const OtbRow& row : *rows) {
      if (t >= row.returns.size()) continue;
      weighted += row.weights[t] * row.returns[t];
      weights += row.weights[t];
      plain += row.returns[t], ++count;
    }
    // Where nothing was in doubt no gradient has a size: all count the same.
    double baseline = weights > 0 ? weighted / weights : plain / count;
    const bool alone = t >= shared;
    if (rows->size() < 2 || (alone && cut_tail)) baseline = 0;
    for (OtbRow& row : *rows) {
      if (t < row.returns.size()) row.returns[t] -= static_cast<float>(baseline);
    }
  }
}

}  // namespace

// Optimal token baseline, over the policy's own tokens (OTB-TIR): positions are those of the
// compacted sequence, so tool results of different length do not misalign trajectories.
Method Otb(MethodOptions* options) {
  Method method;
  method.about = "return minus a baseline per token position, weighed by gradient size";
  method.needs = "rewards where they were earned, log-probabilities, entropies";
  method.reads = {options->Names("terms", {"*"}), {}};
  const bool cut_tail = options->Flag("cut_tail", true);
  method.estimators = {
      {"otb", [=, reads = method.reads](const Group& group, CreditBuilder* builder) {
         const UnitValues sums = TrajectorySums(group, reads);
         RemarkUnscored(group, sums, builder);
         std::vector<OtbRow> rows = OtbRows(group, sums, reads);
         if (rows.empty()) return;
         SubtractOtbBaselines(cut_tail, &rows);
         if (rows.size() < 2 && group.trajectories.size() > 1) {
           builder->Remark(NoteKind::kGroupOfOne, -1, "nobody to compare with: 0");
           return;
         }
         for (const OtbRow& row : rows) builder->AddEach(row.trajectory, row.returns);
       }}};
  return method;
}

}  // namespace hone::methods
