#include "learn/sft.h"

#include "base/check.h"
#include "learn/batches.h"
#include "learn/training_group.h"

namespace hone {
namespace {

// Whether the policy wrote each position of a path. The first token of a root has no prediction;
// it is passed over by whoever reads this.
std::vector<bool> PolicyPositions(const Tree& tree, const Leaf& leaf) {
  std::vector<bool> policy;
  for (const NodeId id : PathTo(tree, leaf.node)) {
    const Node& node = tree.nodes[static_cast<size_t>(id)];
    policy.insert(policy.end(), node.tokens.size(), node.author == Author::kPolicy);
  }
  return policy;
}

std::vector<Tree> Pick(std::span<const Tree> trees, const std::vector<size_t>& indices) {
  std::vector<Tree> picked;
  for (const size_t index : indices) picked.push_back(trees[index]);
  return picked;
}

// One token's part of the loss, which `weight` tokens share.
void AddToken(const SftOptions& options, bool policy, double logprob, double weight,
              SftMetrics* metrics) {
  metrics->loss -= (policy ? 1 : options.other_weight) * logprob / weight;
  // The sums are kept as running means, so that the metrics are right after every call.
  double& mean = policy ? metrics->policy_loss : metrics->other_loss;
  int64_t& count = policy ? metrics->policy_tokens : metrics->other_tokens;
  ++count;
  mean += (-logprob - mean) / static_cast<double>(count);
}

}  // namespace

Tree ForImitation(const Tree& tree) {
  Tree plain;
  plain.seed = tree.seed;
  for (const Node& node : tree.nodes) {
    Node& bare = plain.nodes.emplace_back();
    bare.parent = node.parent;
    bare.author = node.author;
    bare.tokens = node.tokens;
  }
  for (const Leaf& leaf : tree.leaves) {
    for (const NodeId end : SegmentEnds(tree, leaf.node)) plain.leaves.push_back({.node = end});
  }
  return plain;
}

double TokenWeight(const SftOptions& options, std::span<const Tree> trees) {
  double weight = 0;
  for (const Tree& tree : trees) {
    for (const Leaf& leaf : tree.leaves) {
      const std::vector<bool> policy = PolicyPositions(tree, leaf);
      for (size_t t = 1; t < policy.size(); ++t) weight += policy[t] ? 1 : options.other_weight;
    }
  }
  return weight;
}

Loss SftLoss(const SftOptions& options, std::span<const Tree> trees, double weight,
             SftMetrics* metrics) {
  return [=](std::span<TreeTerms> terms) {
    CHECK(terms.size() == trees.size(), "other trees than those of the loss");
    if (weight <= 0) return;  // nothing to be learned
    for (size_t i = 0; i < trees.size(); ++i) {
      for (size_t l = 0; l < trees[i].leaves.size(); ++l) {
        PathTerms& path = terms[i].paths[l];
        const std::vector<bool> policy = PolicyPositions(trees[i], trees[i].leaves[l]);
        for (size_t t = 1; t < policy.size(); ++t) {
          const double share = (policy[t] ? 1 : options.other_weight) / weight;
          path.dlogprobs[t] = static_cast<float>(-share);
          AddToken(options, policy[t], path.logprobs[t], weight, metrics);
        }
      }
    }
  };
}

SftMetrics Combine(std::span<const SftMetrics> slices) {
  if (slices.size() == 1) return slices[0];
  SftMetrics all;
  for (const SftMetrics& slice : slices) {
    all.loss += slice.loss;
    all.policy_loss += slice.policy_loss * static_cast<double>(slice.policy_tokens);
    all.other_loss += slice.other_loss * static_cast<double>(slice.other_tokens);
    all.policy_tokens += slice.policy_tokens;
    all.other_tokens += slice.other_tokens;
  }
  if (all.policy_tokens > 0) all.policy_loss /= static_cast<double>(all.policy_tokens);
  if (all.other_tokens > 0) all.other_loss /= static_cast<double>(all.other_tokens);
  return all;
}

SftMetrics AccumulateSft(const SftOptions& options, std::span<const Tree> demonstrations,
                         const SftBatch& batch, Engine* engine) {
  double weight = 0;
  for (const std::vector<size_t>& call : batch) {
    for (const size_t index : call) weight += TokenWeight(options, {&demonstrations[index], 1});
  }
  return AccumulateSft(options, demonstrations, batch, weight, engine);
}

SftMetrics AccumulateSft(const SftOptions& options, std::span<const Tree> demonstrations,
                         const SftBatch& batch, double weight, Engine* engine) {
  SftMetrics metrics;
  for (const std::vector<size_t>& call : batch) {
    const std::vector<Tree> trees = Pick(demonstrations, call);
    engine->Accumulate(trees, SftLoss(options, trees, weight, &metrics));
  }
  return metrics;
}

}  // namespace hone
