#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/logprobs.h"
#include "engine/page_pool.h"
#include "record/tree.h"

namespace hone {

// Some trees as one batch: every node is a chunk, and knows its rows.
struct TreeBatch {
  std::span<const Tree> trees;
  PagePool* pages;
  std::vector<KvSequence> sequences;  // per chunk
  std::vector<Chunk> chunks;
  std::vector<size_t> first_chunk;  // of each tree, and one more
  std::vector<size_t> parent;       // per chunk; itself for a root
  std::vector<int64_t> last_row;    // per chunk: of its path; -1: no token yet
  std::vector<int64_t> first_row;   // per chunk
  std::vector<int64_t> position;    // per row
  int64_t total_rows = 0;

  // A token and the row whose hidden state predicts it.
  struct Prediction {
    int64_t row;
    size_t tree;
    NodeId node;
    size_t token;
    float dlogprob = 0, dentropy = 0;
  };
  std::vector<Prediction> predictions;
  std::vector<float> dvalues;  // per row
  std::vector<TreeLogprobs> logprobs;

  TreeBatch(std::span<const Tree> all, PagePool* in);
  const Node& NodeOf(const Prediction& p) const { return trees[p.tree].nodes[p.node]; }
  // The row of each position of a chunk's path.
  std::vector<int64_t> PathRows(size_t chunk) const;
  // Gives the loss its paths and takes back its derivatives.
  void AskLoss(const Loss& loss, SharedTokens shared);
};

// Turns at temperature 0 are recorded at temperature 1.
float TemperatureOf(const Node& node);
// The tokens that the draw of a node's token was over; empty: all of them. Those of another
// vocabulary abort (Engine::CheckTree tells).
std::span<const TokenId> KeptOf(const Node& node, size_t token, int64_t vocab);

}  // namespace hone
