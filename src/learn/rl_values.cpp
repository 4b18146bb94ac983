#include "learn/rl_values.h"

#include <algorithm>

namespace hone {
namespace {

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double Mean(double sum, int64_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); }

// Means over the leaves that were scored: of every term, and of the whole.
void AddRewards(const std::vector<ScoredTree>& records, StepValues* values) {
  std::map<std::string, double> sums;
  double total = 0;
  int64_t scored = 0, unscored = 0;
  for (const ScoredTree& record : records) {
    for (const Score& score : record.scores) {
      const std::optional<double> all = Total(score);
      if (!all) {
        ++unscored;
        continue;
      }
      ++scored;
      total += *all;
      for (const RewardTerm& term : score.terms) {
        if (term.value) sums[term.name] += *term.value * term.weight;
      }
    }
  }
  (*values)["reward/mean"] = Mean(total, scored);
  (*values)["unscored"] = static_cast<double>(unscored);
  for (const auto& [name, sum] : sums) (*values)["reward/" + name] = Mean(sum, scored);
}

void AddConduct(const Conduct& conduct, StepValues* values) {
  const auto mean = [&](int64_t count) { return Share(count, conduct.trajectories); };
  values->insert({{"success", conduct.Success()},
                  {"when", conduct.When()},
                  {"which", conduct.Which()},
                  {"which_accuracy", conduct.Which()},
                  {"how", conduct.How()},
                  {"needless_call_rate", conduct.Needless()},
                  {"missed_call_rate", conduct.Missed()},
                  {"tool_calls", conduct.CallsPerTask()},
                  {"response_length", mean(conduct.tokens)},
                  {"num_turns", mean(conduct.turns)},
                  {"faults", mean(conduct.faults)},
                  {"execution_failure_rate", Share(conduct.failed_calls, conduct.calls)}});
}

}  // namespace

Result<void> AddRolloutValues(const std::vector<ScoredTree>& records, const RolloutCounts& counts,
                              StepValues* values) {
  Conduct conduct;
  int64_t leaves = 0, truncated = 0, broken = counts.dropped;
  for (const ScoredTree& record : records) {
    HONE_ASSIGN_OR_RETURN(const Conduct one, ConductOf(record.tree));
    conduct.Add(one);
    for (const Leaf& leaf : record.tree.leaves) {
      ++leaves;
      truncated += leaf.ending == Ending::kTokenLimit || leaf.ending == Ending::kTurnLimit ? 1 : 0;
    }
    broken += static_cast<int64_t>(record.tree.leaves.size()) - one.trajectories;
  }
  AddConduct(conduct, values);
  AddRewards(records, values);
  // An action is a call, an answer or what could not be read.
  const int64_t actions = conduct.calls + conduct.faults + conduct.trajectories;
  values->insert({{"groups", static_cast<double>(records.size())},
                  {"trajectories", static_cast<double>(counts.leaves)},
                  {"truncated_rate", Share(truncated, leaves)},
                  {"fault_rate", Share(broken, leaves + counts.dropped)},
                  {"valid_action_rate", 1 - Share(conduct.faults, actions)},
                  {"sampled_tokens", static_cast<double>(counts.sampled_tokens)},
                  {"shared_tokens", counts.SharedShare()}});
  return {};
}

double SilentShare(std::span<const Credit> credits) {
  int64_t silent = 0;
  for (const Credit& credit : credits) {
    const bool zero =
        std::all_of(credit.advantages.begin(), credit.advantages.end(), [](const Advantages& leaf) {
          return std::all_of(leaf.values.begin(), leaf.values.end(),
                             [](float value) { return value == 0; });
        });
    silent += zero ? 1 : 0;
  }
  return Share(silent, static_cast<int64_t>(credits.size()));
}

}  // namespace hone
