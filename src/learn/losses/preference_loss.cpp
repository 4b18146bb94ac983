#include "learn/losses/preference_loss.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "learn/batches.h"

namespace hone {
namespace {

// log(1 + exp(-x)), which is -log sigmoid(x), without overflow.
double Softplus(double x) {
  return x >= 0 ? std::log1p(std::exp(-x)) : -x + std::log1p(std::exp(x));
}

double Sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// Calls `token` with each token of the policy on the path to a leaf, by its position there. The
// first token of a root has no prediction.
template <typename Function>
void ForPolicyTokens(const Tree& tree, const Leaf& leaf, Function token) {
  size_t position = 0;
  for (const NodeId id : PathTo(tree, leaf.node)) {
    const Node& node = tree.nodes[static_cast<size_t>(id)];
    for (size_t t = 0; t < node.tokens.size(); ++t, ++position) {
      if (position > 0 && node.author == Author::kPolicy) token(id, t, position);
    }
  }
}

double SumOf(const Tree& tree, const TreeLogprobs& logprobs) {
  double sum = 0;
  for (const Leaf& leaf : tree.leaves) {
    ForPolicyTokens(tree, leaf, [&](NodeId id, size_t t, size_t) {
      sum += logprobs[static_cast<size_t>(id)].logprobs[t];
    });
  }
  return sum;
}

double SumOf(const Tree& tree, const TreeTerms& terms) {
  double sum = 0;
  for (size_t l = 0; l < tree.leaves.size(); ++l) {
    ForPolicyTokens(tree, tree.leaves[l],
                    [&](NodeId, size_t, size_t at) { sum += terms.paths[l].logprobs[at]; });
  }
  return sum;
}

// Returns how many tokens there are.
int64_t SetDerivative(const Tree& tree, double derivative, TreeTerms* terms) {
  int64_t tokens = 0;
  for (size_t l = 0; l < tree.leaves.size(); ++l) {
    ForPolicyTokens(tree, tree.leaves[l], [&](NodeId, size_t, size_t at) {
      terms->paths[l].dlogprobs[at] = static_cast<float>(derivative);
      ++tokens;
    });
  }
  return tokens;
}

void AddToMean(double value, int64_t count, double* mean) {
  *mean += (value - *mean) / static_cast<double>(count);
}

}  // namespace

PreferenceTerm PreferenceTermOf(const PreferenceOptions& options, const PairLogprobs& policy,
                                const PairLogprobs& reference) {
  PreferenceTerm term;
  term.chosen_reward = options.beta * (policy.chosen - reference.chosen);
  term.rejected_reward = options.beta * (policy.rejected - reference.rejected);
  const double h = term.Margin(), wrong = options.label_smoothing, right = 1 - wrong;
  term.loss = right * Softplus(h) + wrong * Softplus(-h);
  term.derivative = options.beta * (wrong * Sigmoid(h) - right * Sigmoid(-h));
  return term;
}

void PreferenceMetrics::Add(const PreferenceTerm& term) {
  ++pairs;
  AddToMean(term.loss, pairs, &loss);
  AddToMean(term.Margin() > 0 ? 1 : 0, pairs, &accuracy);
  AddToMean(term.Margin(), pairs, &margin);
  AddToMean(term.chosen_reward, pairs, &chosen_reward);
  AddToMean(term.rejected_reward, pairs, &rejected_reward);
}

std::vector<Tree> TreesOf(std::span<const PreferencePair> pairs) {
  std::vector<Tree> trees;
  for (const PreferencePair& pair : pairs) {
    trees.push_back(pair.chosen);
    trees.push_back(pair.rejected);
  }
  return trees;
}

std::vector<PairLogprobs> PairLogprobsOf(std::span<const PreferencePair> pairs,
                                         std::span<const TreeLogprobs> logprobs) {
  CHECK(logprobs.size() == 2 * pairs.size(), "what is said of other trees");
  std::vector<PairLogprobs> sums;
  for (size_t i = 0; i < pairs.size(); ++i) {
    sums.push_back(
        {SumOf(pairs[i].chosen, logprobs[2 * i]), SumOf(pairs[i].rejected, logprobs[2 * i + 1])});
  }
  return sums;
}

PreferenceMetrics AccumulatePreferences(const PreferenceOptions& options,
                                        std::span<const PreferencePair> pairs,
                                        std::span<const PairLogprobs> reference, Engine* engine) {
  CHECK(pairs.size() == reference.size(), "a reference for each pair");
  PreferenceMetrics metrics;
  std::vector<int64_t> tokens;
  for (const PreferencePair& pair : pairs) {
    tokens.push_back(CountTokens(pair.chosen) + CountTokens(pair.rejected));
  }
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const std::vector<size_t>& call : PackByTokens(order, tokens, options.call_tokens)) {
    std::vector<Tree> trees;
    for (const size_t i : call) {
      trees.push_back(pairs[i].chosen);
      trees.push_back(pairs[i].rejected);
    }
    engine->Accumulate(trees, [&](std::span<TreeTerms> terms) {
      for (size_t i = 0; i < call.size(); ++i) {
        const Tree &chosen = trees[2 * i], &rejected = trees[2 * i + 1];
        TreeTerms &first = terms[2 * i], &second = terms[2 * i + 1];
        const PairLogprobs policy = {SumOf(chosen, first), SumOf(rejected, second)};
        const PreferenceTerm term = PreferenceTermOf(options, policy, reference[call[i]]);
        const double each = term.derivative / static_cast<double>(pairs.size());
        metrics.tokens += SetDerivative(chosen, each, &first);
        metrics.tokens += SetDerivative(rejected, -each, &second);
        metrics.Add(term);
      }
    });
  }
  return metrics;
}

}  // namespace hone
