#include "lab/decision_process.h"

#include "record/reward_terms.h"

#include <cmath>
#include <functional>

namespace hone::lab {
namespace {

constexpr double kRight = 1, kWrong = -0.5, kNeedless = -0.25;

// A policy with no symmetries that could hide a bias: logits drift with the state.
std::vector<double> PolicyOf(int state) {
  const double logits[kChoices] = {1.1 - 0.06 * state, -0.3 + 0.05 * state, -0.4 + 0.04 * state};
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  std::vector<double> probabilities;
  for (const double logit : logits) probabilities.push_back(std::exp(logit) / sum);
  return probabilities;
}

// Lists every path below a state. `next` gives the state after a call (-1: the episode ends) and
// what the call earns; `solved` whether an answer there is right.
struct Rules {
  std::function<int(int state, Choice choice, double* reward)> next;
  std::function<bool(int state)> solved;
};

void Enumerate(const Rules& rules, int state, Path path, DecisionProcess* process) {
  for (int c = 0; c < kChoices; ++c) {
    const auto choice = static_cast<Choice>(c);
    Path longer = path;
    longer.probability *= process->policy[state][c];
    Decision decision{state, choice, 0};
    const int after = choice == Choice::kAnswer ? -1 : rules.next(state, choice, &decision.reward);
    longer.decisions.push_back(decision);
    if (after >= 0) {
      Enumerate(rules, after, std::move(longer), process);
      continue;
    }
    longer.outcome = choice == Choice::kAnswer && rules.solved(state) ? 1 : 0;
    process->paths.push_back(std::move(longer));
  }
}

DecisionProcess Enumerated(std::string name, int states, const Rules& rules) {
  DecisionProcess process;
  process.name = std::move(name);
  for (int s = 0; s < states; ++s) process.policy.push_back(PolicyOf(s));
  Enumerate(rules, 0, {{}, 0, 1}, &process);
  return process;
}

}  // namespace

DecisionProcess Chain(int length) {
  const Rules rules = {
      [length](int state, Choice choice, double* reward) {
        const bool right = choice == Choice::kRightCall && state < length;
        *reward = right ? kRight : choice == Choice::kWrongCall ? kWrong : kNeedless;
        return right ? state + 1 : -1;
      },
      [length](int state) { return state == length; }};
  return Enumerated("chain of " + std::to_string(length), length + 1, rules);
}

DecisionProcess Recoverable(int length) {
  // state = turns * (length + 1) + right calls
  const int width = length + 1;
  const Rules rules = {
      [=](int state, Choice choice, double* reward) {
        const int turns = state / width, rights = state % width;
        const bool right = choice == Choice::kRightCall && rights < length;
        *reward = right ? kRight : choice == Choice::kWrongCall ? kWrong : kNeedless;
        if (turns + 1 > length + 1) return -1;  // the limit
        return (turns + 1) * width + rights + (right ? 1 : 0);
      },
      [=](int state) { return state % width == length; }};
  return Enumerated("recoverable, " + std::to_string(length), (length + 2) * width, rules);
}

double RewardOf(const Path& path, const Selection& selection) {
  double reward = selection.Has(kOutcomeTerm) ? path.outcome : 0;
  if (selection.Has(kCallTerm)) {
    for (const Decision& decision : path.decisions) reward += decision.reward;
  }
  return reward;
}

void AddScoreFunction(const DecisionProcess& process, const Decision& decision, double factor,
                      std::vector<double>* out) {
  double* at = out->data() + decision.state * kChoices;
  for (int c = 0; c < kChoices; ++c) at[c] -= factor * process.policy[decision.state][c];
  at[static_cast<int>(decision.choice)] += factor;
}

std::vector<double> TrueGradient(const DecisionProcess& process, const Selection& selection) {
  std::vector<double> gradient(process.parameters(), 0);
  for (const Path& path : process.paths) {
    const double factor = path.probability * RewardOf(path, selection);
    for (const Decision& decision : path.decisions) {
      AddScoreFunction(process, decision, factor, &gradient);
    }
  }
  return gradient;
}

std::vector<double> StateValues(const DecisionProcess& process, const Selection& selection) {
  std::vector<double> sums(process.policy.size(), 0), weights(process.policy.size(), 0);
  for (const Path& path : process.paths) {
    double to_go = RewardOf(path, selection);
    for (const Decision& decision : path.decisions) {
      sums[decision.state] += path.probability * to_go;
      weights[decision.state] += path.probability;
      if (selection.Has(kCallTerm)) to_go -= decision.reward;
    }
  }
  for (size_t s = 0; s < sums.size(); ++s) {
    if (weights[s] > 0) sums[s] /= weights[s];
  }
  return sums;
}

Sampled RecordOf(const DecisionProcess& process, const std::vector<int>& group,
                 const std::vector<double>& state_values) {
  Sampled sampled;
  Tree& tree = sampled.record.tree;
  tree.task.id = process.name;
  Node prompt;
  prompt.tokens = {0};
  tree.nodes.push_back(std::move(prompt));
  sampled.values.emplace_back();
  for (const int index : group) {
    const Path& path = process.paths[index];
    Score score{static_cast<int32_t>(tree.leaves.size()),
                {{kOutcomeTerm, path.outcome, 1, kNoNode, {}}}};
    NodeId last = 0;
    for (const Decision& decision : path.decisions) {
      const std::vector<double>& policy = process.policy[decision.state];
      Node node;
      node.parent = last;
      node.author = Author::kPolicy;
      node.tokens = {static_cast<TokenId>(decision.choice)};
      node.logprobs = {static_cast<float>(std::log(policy[static_cast<int>(decision.choice)]))};
      double entropy = 0;
      for (const double p : policy) entropy -= p * std::log(p);
      node.entropies = {static_cast<float>(entropy)};
      last = static_cast<NodeId>(tree.nodes.size());
      const bool calls = decision.choice != Choice::kAnswer;
      if (calls) {
        node.calls.push_back({"tool", Json::Object(), {0, 1}});
        score.terms.push_back({kCallTerm, decision.reward, 1, last, Span{0, 1}});
      }
      tree.nodes.push_back(std::move(node));
      sampled.values.push_back({static_cast<float>(state_values[decision.state])});
      if (!calls) continue;
      Node result;
      result.parent = last;
      result.author = Author::kTool;
      result.tokens = {static_cast<TokenId>(100 + decision.state * kChoices +
                                            static_cast<int>(decision.choice))};
      result.results.emplace_back();
      last = static_cast<NodeId>(tree.nodes.size());
      tree.nodes.push_back(std::move(result));
      sampled.values.emplace_back();
    }
    tree.leaves.push_back({last, Ending::kAnswered, Blame::kNone, Json()});
    sampled.record.scores.push_back(std::move(score));
  }
  return sampled;
}

}  // namespace hone::lab
