#include "engine/encoder/encoder_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/buffer.h"

namespace hone {
namespace {

// Rows of queries at a time: enough to fill the kernels' products, few enough to stay in the cache.
constexpr int64_t kTileQueries = 64;

// The keys and values of a head as right operands, block by block, with zeros behind the last.
struct HeadOperands {
  int64_t blocks = 0, dim = 0, wide = 0;  // wide: dim in whole panels
  Floats keys;                            // [block][panel][dim][kLanes]
  Floats values;                          // [block][kKeyBlock][wide]

  void Fill(const FullAttention& head, const Kernels& kernels) {
    dim = head.head_dim;
    wide = RoundUp(dim, kLanes);
    blocks = RoundUp(head.tokens, kKeyBlock) / kKeyBlock;
    ZeroRoom(&keys, blocks * kKeyBlock * dim);
    ZeroRoom(&values, blocks * kKeyBlock * wide);
    for (int64_t at = 0; at < head.tokens; at += kLanes) {
      const int64_t some = std::min<int64_t>(kLanes, head.tokens - at);
      kernels.transpose({head.keys + at * head.row, head.row, some, dim}, keys.data() + at * dim,
                        kLanes);
    }
    for (int64_t t = 0; t < head.tokens; ++t) {
      std::copy_n(head.values + t * head.row, dim, values.data() + t * wide);
    }
  }

  Product Scores(int64_t block) const {
    Product product;
    product.b = keys.data() + block * kKeyBlock * dim;
    product.b_panel = dim * kLanes;
    product.k = dim;
    product.columns = kKeyBlock;
    product.out_row = kKeyBlock;
    return product;
  }

  Product Sums(int64_t block) const {
    Product product;
    product.a_row = kKeyBlock;
    product.b = values.data() + block * kKeyBlock * wide;
    product.b_row = wide;
    product.b_panel = kLanes;
    product.k = kKeyBlock;
    product.columns = wide;
    product.out_row = wide;
    return product;
  }
};

// The outputs of some queries while blocks of keys go by.
struct QueryTile {
  Floats scores, more, sums, top, sum, shrink;
  std::vector<SeenKeys> seen;

  void Begin(int64_t rows, int64_t wide) {
    Room(&scores, rows * kKeyBlock);
    Room(&more, rows * wide);
    ZeroRoom(&sums, rows * wide);
    std::fill_n(Room(&top, rows), rows, -std::numeric_limits<float>::infinity());
    ZeroRoom(&sum, rows);
    Room(&shrink, rows);
  }
};

}  // namespace

void AttendToAll(const FullAttention& head, const Kernels& kernels) {
  static thread_local HeadOperands operands;
  static thread_local QueryTile tile;
  operands.Fill(head, kernels);
  const int64_t dim = head.head_dim, wide = operands.wide;
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  for (int64_t first = 0; first < head.tokens; first += kTileQueries) {
    const int64_t rows = std::min(kTileQueries, head.tokens - first);
    tile.Begin(rows, wide);
    for (int64_t block = 0; block < operands.blocks; ++block) {
      Product scores = operands.Scores(block);
      scores.a = head.queries + first * head.row;
      scores.a_row = head.row;
      scores.rows = rows;
      scores.out = tile.scores.data();
      kernels.product_f32(scores);
      const int64_t end = std::min<int64_t>(kKeyBlock, head.tokens - block * kKeyBlock);
      tile.seen.assign(static_cast<size_t>(rows), {0, static_cast<int32_t>(end)});
      kernels.softmax_block(tile.scores.data(), rows, tile.seen.data(), scale, false,
                            tile.top.data(), tile.sum.data(), tile.shrink.data());
      Product more = operands.Sums(block);
      more.a = tile.scores.data();
      more.rows = rows;
      more.out = tile.more.data();
      kernels.product_f32(more);
      kernels.rescale_add(tile.more.data(), wide, tile.shrink.data(), rows, dim, tile.sums.data(),
                          wide);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const float inverse = 1.0f / tile.sum[static_cast<size_t>(r)];
      for (int64_t d = 0; d < dim; ++d) {
        head.out[(first + r) * head.out_row + d] =
            tile.sums[static_cast<size_t>(r * wide + d)] * inverse;
      }
    }
  }
}

}  // namespace hone
