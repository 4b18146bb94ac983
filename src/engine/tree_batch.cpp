#include "engine/tree_batch.h"

#include <algorithm>

#include "base/check.h"

namespace hone {
namespace {

using LeafPaths = std::vector<std::vector<NodeId>>;  // of each leaf, from the root on

// What a loss sees of a path: the log-probs of its nodes one after the other, and zeros to fill in.
PathTerms TermsOn(const std::vector<NodeId>& nodes, const TreeLogprobs& logprobs) {
  PathTerms path;
  auto append = [](const std::vector<float>& from, std::vector<float>* to) {
    to->insert(to->end(), from.begin(), from.end());
  };
  for (const NodeId node : nodes) {
    const NodeLogprobs& of_node = logprobs[static_cast<size_t>(node)];
    append(of_node.logprobs, &path.logprobs);
    append(of_node.entropies, &path.entropies);
    append(of_node.values, &path.values);
  }
  path.dlogprobs.assign(path.logprobs.size(), 0.0f);
  path.dentropies.assign(path.logprobs.size(), 0.0f);
  path.dvalues.assign(path.values.size(), 0.0f);
  return path;
}

// The derivatives of the nodes' tokens: over the paths through each, in the order of the leaves.
TreeLogprobs SumOverPaths(const Tree& tree, const TreeLogprobs& logprobs, const LeafPaths& paths,
                          const TreeTerms& terms, SharedTokens shared) {
  TreeLogprobs sums(tree.nodes.size());
  std::vector<int> through(tree.nodes.size(), 0);
  auto add = [](const std::vector<float>& from, size_t at, std::vector<float>* to) {
    for (size_t i = 0; i < to->size(); ++i) (*to)[i] += from[at + i];
  };
  for (size_t n = 0; n < tree.nodes.size(); ++n) {
    const size_t size = tree.nodes[n].tokens.size();
    sums[n].logprobs.assign(size, 0.0f);
    sums[n].entropies.assign(size, 0.0f);
    sums[n].values.assign(logprobs[n].values.size(), 0.0f);
  }
  for (size_t l = 0; l < paths.size(); ++l) {
    const PathTerms& path = terms.paths[l];
    CHECK(path.dlogprobs.size() == path.logprobs.size() &&
              path.dentropies.size() == path.logprobs.size() &&
              path.dvalues.size() == path.values.size(),
          "a loss must not change the length of a path");
    size_t at = 0;
    for (const NodeId id : paths[l]) {
      const auto node = static_cast<size_t>(id);
      add(path.dlogprobs, at, &sums[node].logprobs);
      add(path.dentropies, at, &sums[node].entropies);
      add(path.dvalues, at, &sums[node].values);
      at += tree.nodes[node].tokens.size();
      ++through[node];
    }
  }
  for (size_t n = 0; n < tree.nodes.size() && shared == SharedTokens::kAverage; ++n) {
    if (through[n] < 2) continue;
    for (std::vector<float>* part : {&sums[n].logprobs, &sums[n].entropies, &sums[n].values}) {
      for (float& value : *part) value /= static_cast<float>(through[n]);
    }
  }
  return sums;
}

}  // namespace

Tree ChainOf(std::vector<TokenId> tokens, const Sampling& sampling, std::vector<Support> supports) {
  Tree tree;
  Node node;
  node.author = Author::kPolicy;
  node.tokens = std::move(tokens);
  node.sampling = sampling;
  node.supports = std::move(supports);
  tree.nodes.push_back(std::move(node));
  tree.leaves.push_back({.node = 0});
  return tree;
}

TreeBatch::TreeBatch(std::span<const Tree> all, PagePool* in) : trees(all), pages(in) {
  for (size_t t = 0; t < all.size(); ++t) {
    const Tree& tree = all[t];
    const size_t base = sequences.size();
    first_chunk.push_back(base);
    logprobs.emplace_back(tree.nodes.size());
    for (size_t n = 0; n < tree.nodes.size(); ++n) {
      const Node& node = tree.nodes[n];
      const bool root = node.parent == kNoNode;
      const size_t above = root ? sequences.size() : base + static_cast<size_t>(node.parent);
      parent.push_back(above);
      Chunk chunk;
      if (root) {
        sequences.emplace_back(pages);
      } else {
        sequences.push_back(*sequences[above].ForkLater(&chunk.copy));
      }
      chunk.position = sequences.back().length();
      chunk.tokens = node.tokens;
      CHECK(sequences.back().Extend(static_cast<int64_t>(node.tokens.size())));
      first_row.push_back(total_rows);
      int64_t last = root ? -1 : last_row[above];
      for (size_t i = 0; i < node.tokens.size(); ++i) {
        if (last >= 0) predictions.push_back({last, t, static_cast<NodeId>(n), i});
        last = total_rows++;
      }
      last_row.push_back(last);
      NodeLogprobs& of_node = logprobs.back()[n];
      of_node.logprobs.assign(node.tokens.size(), 0.0f);
      of_node.entropies.assign(node.tokens.size(), 0.0f);
      chunks.push_back(chunk);
    }
  }
  first_chunk.push_back(sequences.size());
  for (size_t i = 0; i < chunks.size(); ++i) chunks[i].table = sequences[i].table();
}

std::vector<int64_t> TreeBatch::PathRows(size_t chunk) const {
  std::vector<size_t> path = {chunk};
  while (parent[path.back()] != path.back()) path.push_back(parent[path.back()]);
  std::vector<int64_t> rows;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    for (size_t i = 0; i < chunks[*at].tokens.size(); ++i) {
      rows.push_back(first_row[*at] + static_cast<int64_t>(i));
    }
  }
  return rows;
}

void TreeBatch::AskLoss(const Loss& loss, SharedTokens shared) {
  std::vector<TreeTerms> terms(trees.size());
  std::vector<LeafPaths> paths(trees.size());
  for (size_t t = 0; t < trees.size(); ++t) {
    CHECK(!trees[t].leaves.empty(), "a tree without leaves has no paths to train on");
    for (const Leaf& leaf : trees[t].leaves) {
      paths[t].push_back(PathTo(trees[t], leaf.node));
      terms[t].paths.push_back(TermsOn(paths[t].back(), logprobs[t]));
    }
  }
  loss(terms);

  std::vector<TreeLogprobs> sums;
  dvalues.assign(static_cast<size_t>(total_rows), 0.0f);
  for (size_t t = 0; t < trees.size(); ++t) {
    sums.push_back(SumOverPaths(trees[t], logprobs[t], paths[t], terms[t], shared));
    for (size_t n = 0; n < trees[t].nodes.size(); ++n) {
      const int64_t row = first_row[first_chunk[t] + n];
      std::copy(sums[t][n].values.begin(), sums[t][n].values.end(), dvalues.begin() + row);
    }
  }
  for (Prediction& p : predictions) {
    const NodeLogprobs& sum = sums[p.tree][static_cast<size_t>(p.node)];
    p.dlogprob = sum.logprobs[p.token];
    p.dentropy = sum.entropies[p.token];
    CHECK(NodeOf(p).sampling.temperature > 0 || (p.dlogprob == 0 && p.dentropy == 0),
          "a turn that was drawn at temperature 0 cannot be trained on");
  }
}

std::span<const TokenId> KeptOf(const Node& node, size_t token, int64_t vocab) {
  if (node.supports.empty()) return {};
  CHECK(node.supports.size() == node.tokens.size(), "a support per token");
  const std::vector<TokenId>& kept = node.supports[token].kept;
  CHECK(kept.empty() || (kept.front() >= 0 && kept.back() < vocab),
        "a support outside the model's vocabulary");
  return kept;
}

float TemperatureOf(const Node& node) {
  return node.sampling.temperature > 0 ? node.sampling.temperature : 1.0f;
}

}  // namespace hone
