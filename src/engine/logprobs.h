#pragma once

#include <functional>
#include <span>
#include <vector>

#include "record/tree.h"

namespace hone {

// What a model says of the tokens of one node. The first token of a root has no prediction: 0.
struct NodeLogprobs {
  std::vector<float> logprobs;   // at the node's temperature, over the stored supports
  std::vector<float> entropies;  // of the same distributions, in nats
  std::vector<float> values;     // of the scalar head after each token; empty without one
};
using TreeLogprobs = std::vector<NodeLogprobs>;  // per node
template <typename Wire>
void Fields(Wire& wire, NodeLogprobs& node) {
  wire(node.logprobs, node.entropies, node.values);
}

// A path from a root to a leaf as a loss sees it: one entry per token of the path. The loss fills
// in the derivatives, which are 0 before.
struct PathTerms {
  std::vector<float> logprobs, entropies, values;
  std::vector<float> dlogprobs, dentropies, dvalues;
};
struct TreeTerms {
  std::vector<PathTerms> paths;  // one per leaf of the tree, in their order
};
using Loss = std::function<void(std::span<TreeTerms>)>;

// A tree of one node and one leaf: a sequence.
Tree ChainOf(std::vector<TokenId> tokens, const Sampling& sampling = {},
             std::vector<Support> supports = {});

}  // namespace hone
