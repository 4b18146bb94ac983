#include "train/stages/rl_values.h"

#include <algorithm>
#include <set>

namespace hone {
namespace {

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A share of nothing is not 0: it is not there, or alarms would take it for a collapse.
void AddShare(const char* name, int64_t part, int64_t whole, StepValues* values) {
  if (whole > 0) (*values)[name] = Share(part, whole);
}

// By a limit of tokens or turns: of the whole, or of one of its turns.
bool WasTruncated(const Tree& tree, const Leaf& leaf) {
  if (leaf.ending == Ending::kTokenLimit || leaf.ending == Ending::kTurnLimit) return true;
  const std::vector<NodeId> path = WholePathTo(tree, leaf.node);
  return std::any_of(path.begin(), path.end(), [&](NodeId id) {
    const std::vector<Fault>& faults = tree.nodes[static_cast<size_t>(id)].faults;
    return std::any_of(faults.begin(), faults.end(),
                       [](const Fault& fault) { return fault.kind == FaultKind::kIncomplete; });
  });
}

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
  (*values)["unscored"] = static_cast<double>(unscored);
  if (scored == 0) return;
  (*values)["reward/mean"] = total / static_cast<double>(scored);
  for (const auto& [name, sum] : sums) {
    (*values)["reward/" + name] = sum / static_cast<double>(scored);
  }
}

// What was paid for calls that brought nothing: terms above 0 that stand on such a call.
double HollowReward(const TrajectoryView& trajectory, const Labels& labels, const Score& score) {
  const auto helped = CallsThatHelped(trajectory, labels);
  if (!helped) return 0;
  double paid = 0;
  for (size_t i = 0; i < helped->size(); ++i) {
    if ((*helped)[i]) continue;
    const TrajectoryView::MadeCall& made = trajectory.calls[i];
    for (const RewardTerm& term : score.terms) {
      if (term.value && term.node == made.node && term.span == made.call->span) {
        paid += std::max(0.0, term.weight * *term.value);
      }
    }
  }
  return paid;
}

// Per trajectory with calls; absent where no reward stands on calls that brought nothing.
void AddHollowReward(const std::vector<ScoredTree>& records, StepValues* values) {
  double paid = 0;
  int64_t calling = 0;
  for (const ScoredTree& record : records) {
    const Result<Labels> labels = LabelsOf(record.tree.task);
    if (!labels.ok()) continue;  // measuring says so
    for (const Score& score : record.scores) {
      const TrajectoryView trajectory = TrajectoryOf(record.tree, score.leaf);
      if (trajectory.calls.empty() || trajectory.failed_by_others()) continue;
      ++calling;
      paid += HollowReward(trajectory, *labels, score);
    }
  }
  if (paid > 0) (*values)["hollow_reward"] = paid / static_cast<double>(calling);
}

}  // namespace

bool IsWrittenSince(std::string_view name) {
  return name == "unused_call_rate" || name == "hollow_reward" || name == "thought_tokens" ||
         name == "thoughtful_turns" || name == "closed_thoughts";
}

void AddRolloutValues(const std::vector<ScoredTree>& records, const std::vector<Measures>& shown,
                      const RolloutCounts& counts, StepValues* values) {
  int64_t trajectories = 0, calls = 0, ran = 0, faults = 0;
  for (const Measures& m : shown) {
    if (!m.counts) continue;
    ++trajectories;
    calls += m.calls;
    ran += m.ran;
    faults += m.unreadable;
  }
  int64_t leaves = 0, truncated = 0;
  for (const ScoredTree& record : records) {
    for (const Leaf& leaf : record.tree.leaves) {
      ++leaves;
      truncated += WasTruncated(record.tree, leaf) ? 1 : 0;
    }
  }
  constexpr std::pair<const char*, const char*> kFigures[] = {
      {"success", "success"},
      {"when", "when"},
      {"which", "which"},
      {"which_accuracy", "which"},
      {"how", "how"},
      {"needless_call_rate", "needless_calls"},
      {"missed_call_rate", "missed_calls"},
      {"unused_call_rate", "unused_calls"},
      {"tool_calls", "calls"},
      {"response_length", "tokens"},
      {"num_turns", "turns"},
      {"thought_tokens", "thought_tokens"},
      {"thoughtful_turns", "thoughtful_turns"},
      {"closed_thoughts", "closed_thoughts"},
  };
  for (const auto& [name, figure] : kFigures) {
    if (const std::optional<double> value = ValueOf(shown, figure)) (*values)[name] = *value;
  }
  AddShare("faults", faults, trajectories, values);
  AddShare("execution_failure_rate", calls - ran, calls, values);  // whoever is to blame
  AddRewards(records, values);
  AddHollowReward(records, values);
  // An action is a call, an answer or what could not be read.
  const int64_t actions = calls + faults + trajectories;
  const int64_t broken = counts.dropped + leaves - trajectories;
  AddShare("truncated_rate", truncated, leaves, values);
  AddShare("fault_rate", broken, leaves + counts.dropped, values);
  AddShare("valid_action_rate", actions - faults, actions, values);
  if (counts.unread_calls > 0) {  // runs without them verify as they did before it was counted
    AddShare("unread_call_rate", counts.unread_calls, counts.turns, values);
  }
  values->insert({{"trajectories", static_cast<double>(counts.leaves)},
                  {"sampled_tokens", static_cast<double>(counts.sampled_tokens)},
                  {"shared_tokens", counts.SharedShare()}});
}

double MeanLag(const std::vector<ScoredTree>& records, int64_t step) {
  int64_t lag = 0, tokens = 0;
  for (const ScoredTree& record : records) {
    for (const Node& node : record.tree.nodes) {
      if (node.author != Author::kPolicy) continue;
      const auto drawn = static_cast<int64_t>(node.tokens.size());
      lag += drawn * (step - node.policy_version);
      tokens += drawn;
    }
  }
  return Share(lag, tokens);
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

double LeftOutShare(std::span<const Credit> credits) {
  int64_t left_out = 0, all = 0;
  for (const Credit& credit : credits) {
    std::set<int32_t> leaves;
    std::set<std::string> empty;  // channels of call rewards where nobody called
    for (const Note& note : credit.notes) {
      if (note.kind == NoteKind::kNothingToRead) empty.insert(note.channel);
    }
    for (const Note& note : credit.notes) {
      if (note.kind == NoteKind::kUnscored && !empty.contains(note.channel)) {
        leaves.insert(note.leaf);
      }
    }
    left_out += static_cast<int64_t>(leaves.size());
    all += static_cast<int64_t>(credit.advantages.size());
  }
  return Share(left_out, all);
}

}  // namespace hone
