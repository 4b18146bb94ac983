#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kv_pages.h"

namespace hone {

// Causal grouped-query attention over paged keys, for one layer and one key/value head: the
// `group` query heads that share it.
//
// Keys are seen in the order of the path, in blocks of kKeyBlock that are aligned to the absolute
// position, with a running maximum; nothing of size length² is kept. What a query gets depends on
// the keys up to its own position alone: not on what else is computed, nor on later keys.
struct AttentionHead {
  const KvPages* pages;
  int64_t layer, kv_head;
  int64_t group, head_dim;
  Precision precision;
  float scale;         // of scores
  int64_t window = 0;  // a position sees so many, itself included; 0: all before it
  float cap = 0;       // scaled scores become cap * tanh(score / cap); 0: they stay
  // A score per query head that takes its share and belongs to no key; null: none.
  const float* sinks = nullptr;
};

// Queries of consecutive positions of one sequence; rows of q, out and lse are q_row, out_row and
// lse_row apart, the heads of a row head_dim apart. lse is the logarithm of the sum of
// exponentials, sinks included, which backward needs.
struct AttentionQueries {
  std::span<const PageId> table;  // of the sequence
  int64_t position = 0;           // of the first
  int64_t count = 0;
  const float* q = nullptr;
  int64_t q_row = 0;
  float* out = nullptr;
  int64_t out_row = 0;
  float* lse = nullptr;
  int64_t lse_row = 0;
};
void Attend(const AttentionHead& head, const AttentionQueries& queries, const Kernels& kernels);

// How many positions Attend takes best at a time.
int64_t AttentionPositions(int64_t group);

// The gradient of Attend for the same queries: dq is set; dk and dv of the position p of the
// sequence are added to row row_of[p] of dk and dv. `queries.out` and `queries.lse` are what Attend
// gave. Sums run in a fixed order. The gradient of a sink is that of its share of each query, which
// is exp(sink - lse), times minus the inner product of dout and out.
struct AttentionGradient {
  const float* dout = nullptr;
  int64_t dout_row = 0;
  float* dq = nullptr;
  int64_t dq_row = 0;
  std::span<const int64_t> row_of;
  float *dk = nullptr, *dv = nullptr;
  int64_t dkv_row = 0;
};
void AttendBackward(const AttentionHead& head, const AttentionQueries& queries,
                    const AttentionGradient& gradient, const Kernels& kernels);

}  // namespace hone
