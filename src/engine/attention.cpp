#include "engine/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exact_math.h"

namespace hone {
namespace {

// Rows of a tile: one per position and query head.
struct Tile {
  int64_t rows, wide;  // wide: head_dim in whole panels
  Floats q, scores, more, out, top, sum, shrink;
  std::vector<int32_t> visible;

  void Shape(int64_t new_rows, int64_t head_dim) {
    rows = new_rows;
    wide = RoundUp(head_dim, kLanes);
    Room(&q, rows * head_dim);
    Room(&scores, rows * kKeyBlock);
    Room(&more, rows * wide);
    Room(&out, rows * wide);
    Room(&top, rows);
    Room(&sum, rows);
    Room(&shrink, rows);
    visible.resize(static_cast<size_t>(rows));
  }
};

// How many keys of the block at `block` each row of a tile sees; a position sees itself.
void SetVisible(int64_t position, int64_t count, int64_t group, int64_t block, int32_t* visible) {
  for (int64_t t = 0; t < count; ++t) {
    const int64_t seen = std::clamp<int64_t>(position + t + 1 - block, 0, kKeyBlock);
    for (int64_t h = 0; h < group; ++h) visible[t * group + h] = static_cast<int32_t>(seen);
  }
}

void Gather(const float* from, int64_t row, int64_t count, int64_t group_width, float* to) {
  for (int64_t t = 0; t < count; ++t)
    std::copy_n(from + t * row, group_width, to + t * group_width);
}

void Run(const Kernels& kernels, Precision precision, Product product, const float* a,
         int64_t a_row, int64_t rows, float* out, int64_t out_row) {
  product.a = a;
  product.a_row = a_row;
  product.rows = rows;
  product.out = out;
  product.out_row = out_row;
  (precision == Precision::kBf16 ? kernels.product_bf16 : kernels.product_f32)(product);
}

}  // namespace

int64_t AttentionTile(int64_t group) { return std::max<int64_t>(1, 64 / group); }

void Attend(const AttentionHead& head, const AttentionQueries& queries, const Kernels& kernels) {
  static thread_local Tile tile;
  const int64_t dim = head.head_dim, group = head.group, count = queries.count;
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  const bool round = head.precision == Precision::kBf16;
  tile.Shape(count * group, dim);
  Gather(queries.q, queries.q_row, count, group * dim, tile.q.data());
  std::fill_n(tile.top.begin(), tile.rows, -std::numeric_limits<float>::infinity());
  std::fill_n(tile.sum.begin(), tile.rows, 0.0f);
  std::fill_n(tile.out.begin(), tile.rows * tile.wide, 0.0f);
  const int64_t last = queries.position + count - 1;
  for (int64_t block = 0; block <= last; block += kKeyBlock) {
    // Rows before the block see nothing of it, and are left out: they come first.
    const int64_t skip = std::max<int64_t>(0, block - queries.position) * group;
    const int64_t rows = tile.rows - skip;
    float* scores = tile.scores.data();
    const PageId page = queries.table[static_cast<size_t>(block / kKeyBlock)];
    Run(kernels, head.precision, head.pages->Keys(page, head.layer, head.kv_head),
        tile.q.data() + skip * dim, dim, rows, scores, kKeyBlock);
    SetVisible(queries.position, count, group, block, tile.visible.data());
    kernels.softmax_block(scores, rows, tile.visible.data() + skip, scale, round,
                          tile.top.data() + skip, tile.sum.data() + skip, tile.shrink.data());
    Run(kernels, head.precision, head.pages->Values(page, head.layer, head.kv_head), scores,
        kKeyBlock, rows, tile.more.data(), tile.wide);
    kernels.rescale_add(tile.more.data(), tile.wide, tile.shrink.data(), rows, dim,
                        tile.out.data() + skip * tile.wide, tile.wide);
  }
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t h = 0; h < group; ++h) {
      const int64_t r = t * group + h;
      const float inverse = 1.0f / tile.sum[static_cast<size_t>(r)];
      float* out = queries.out + t * queries.out_row + h * dim;
      for (int64_t d = 0; d < dim; ++d) {
        out[d] = tile.out[static_cast<size_t>(r * tile.wide + d)] * inverse;
      }
      queries.lse[t * queries.lse_row + h] =
          tile.top[static_cast<size_t>(r)] +
          static_cast<float>(NaturalLog(tile.sum[static_cast<size_t>(r)]));
    }
  }
}

void AttendBackward(const AttentionHead& head, const AttentionQueries& queries,
                    const AttentionGradient& g, const Kernels& kernels) {
  struct Scratch {
    Floats q, dout, dq, lse, inner, scores, dp;
    Floats keys, values, key_panels, value_columns, block_dk, block_dv;
    std::vector<int32_t> visible;
  };
  static thread_local Scratch s;
  const int64_t dim = head.head_dim, group = head.group, count = queries.count;
  const int64_t rows = count * group, wide = RoundUp(dim, kLanes), panels = wide / kLanes;
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  // Rows of whole panels, so that q and dout can be right operands as they lie.
  float* q = ZeroRoom(&s.q, rows * wide);
  float* dout = ZeroRoom(&s.dout, rows * wide);
  float* dq = ZeroRoom(&s.dq, rows * wide);
  float* lse = Room(&s.lse, rows);
  float* inner = Room(&s.inner, rows);
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t h = 0; h < group; ++h) {
      const int64_t r = t * group + h;
      std::copy_n(queries.q + t * queries.q_row + h * dim, dim, q + r * wide);
      std::copy_n(g.dout + t * g.dout_row + h * dim, dim, dout + r * wide);
      lse[r] = queries.lse[t * queries.lse_row + h];
      inner[r] = kernels.dot(g.dout + t * g.dout_row + h * dim,
                             queries.out + t * queries.out_row + h * dim, dim);
    }
  }
  float* keys = Room(&s.keys, kKeyBlock * dim);
  float* values = Room(&s.values, kKeyBlock * dim);
  float* key_panels = ZeroRoom(&s.key_panels, kKeyBlock * wide);   // over keys, by dim
  float* value_columns = Room(&s.value_columns, kKeyBlock * dim);  // over dim, by keys
  float* block_dk = Room(&s.block_dk, kKeyBlock * wide);
  float* block_dv = Room(&s.block_dv, kKeyBlock * wide);
  s.visible.resize(static_cast<size_t>(rows));
  constexpr int64_t kAtOnce = 128;  // query rows
  float* scores = Room(&s.scores, kAtOnce * kKeyBlock);
  float* dp = Room(&s.dp, kAtOnce * kKeyBlock);

  const int64_t last = queries.position + count - 1;
  for (int64_t block = 0; block <= last; block += kKeyBlock) {
    const PageId page = queries.table[static_cast<size_t>(block / kKeyBlock)];
    head.pages->Read(page, head.layer, head.kv_head, keys, values);
    for (int64_t j = 0; j < kKeyBlock; ++j) {
      for (int64_t d = 0; d < dim; ++d) {
        key_panels[(d / kLanes * kKeyBlock + j) * kLanes + d % kLanes] = keys[j * dim + d];
        value_columns[(j / kLanes * dim + d) * kLanes + j % kLanes] = values[j * dim + d];
      }
    }
    std::fill_n(block_dk, kKeyBlock * wide, 0.0f);
    std::fill_n(block_dv, kKeyBlock * wide, 0.0f);
    SetVisible(queries.position, count, group, block, s.visible.data());
    const int64_t first = std::max<int64_t>(0, block - queries.position) * group;
    for (int64_t at = first; at < rows; at += kAtOnce) {
      const int64_t some = std::min(kAtOnce, rows - at);
      Run(kernels, head.precision, head.pages->Keys(page, head.layer, head.kv_head), q + at * wide,
          wide, some, scores, kKeyBlock);
      Product product;  // dp = dout values^T
      product.b = value_columns;
      product.b_panel = dim * kLanes;
      product.k = dim;
      product.columns = kKeyBlock;
      Run(kernels, Precision::kF32, product, dout + at * wide, wide, some, dp, kKeyBlock);
      kernels.softmax_block_backward(scores, dp, some, s.visible.data() + at, scale, lse + at,
                                     inner + at);
      product = {};  // dq += ds keys
      product.b = key_panels;
      product.b_panel = kKeyBlock * kLanes;
      product.k = kKeyBlock;
      product.columns = wide;
      product.accumulate = true;
      Run(kernels, Precision::kF32, product, dp, kKeyBlock, some, dq + at * wide, wide);
      // dk += ds^T q, dv += p^T dout: the left operands lie by columns, the right ones by rows.
      for (const auto& [weights, right, sums] :
           {std::tuple(dp, q, block_dk), std::tuple(scores, dout, block_dv)}) {
        product = {};
        product.a_step = kKeyBlock;
        product.b = right + at * wide;
        product.b_row = wide;
        product.b_panel = kLanes;
        product.k = some;
        product.columns = panels * kLanes;
        product.accumulate = true;
        Run(kernels, Precision::kF32, product, weights, 1, kKeyBlock, sums, wide);
      }
    }
    const int64_t present = std::min<int64_t>(kKeyBlock, last + 1 - block);
    for (int64_t j = 0; j < present; ++j) {
      const int64_t to = g.row_of[static_cast<size_t>(block + j)] * g.dkv_row;
      kernels.add(block_dk + j * wide, dim, g.dk + to);
      kernels.add(block_dv + j * wide, dim, g.dv + to);
    }
  }
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t h = 0; h < group; ++h) {
      std::copy_n(dq + (t * group + h) * wide, dim, g.dq + t * g.dq_row + h * dim);
    }
  }
}

}  // namespace hone
