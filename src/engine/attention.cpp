#include "engine/attention.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/exact_math.h"
#include "engine/kernels/reduce.h"

namespace hone {
namespace {

// What Attend holds for its queries. Rows of a tile: one per position and query head. The heads of
// a group share their keys, so they are rows of one product instead of products of their own.
struct Tile {
  int64_t rows, wide;  // wide: head_dim in whole panels
  Floats q, scores, more, out, top, sum, shrink;
  std::vector<SeenKeys> seen;

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
    seen.resize(static_cast<size_t>(rows));
  }
  void Finish(int64_t r, const float* sink, int64_t head_dim, float* to, float* lse) const;
};

// What a row gave. Divided once at the end: a division per block would round once per block.
void Tile::Finish(int64_t r, const float* sink, int64_t head_dim, float* to, float* lse) const {
  const auto at = static_cast<size_t>(r);
  float largest = top[at], all = sum[at], rest = 1;
  if (sink != nullptr) {  // as one more block, of which nothing is added
    largest = std::max(largest, *sink);
    rest = ExpF32(top[at] - largest);
    all = all * rest + ExpF32(*sink - largest);
  }
  const float inverse = rest / all;
  for (int64_t d = 0; d < head_dim; ++d) to[d] = out[static_cast<size_t>(r * wide + d)] * inverse;
  *lse = largest + static_cast<float>(NaturalLog(all));
}

// What each row of a tile sees of the keys of the block at `block`; a position sees itself.
void SetSeen(const AttentionHead& head, const AttentionQueries& queries, int64_t block,
             SeenKeys* seen) {
  auto within = [&](int64_t key) {
    return static_cast<int32_t>(std::clamp<int64_t>(key - block, 0, kKeyBlock));
  };
  for (int64_t t = 0; t < queries.count; ++t) {
    const int64_t end = queries.position + t + 1;
    const SeenKeys keys{head.window > 0 ? within(end - head.window) : 0, within(end)};
    std::fill_n(seen + t * head.group, head.group, keys);
  }
}

// The first block of which the first query sees something; the later ones see nothing before it.
int64_t FirstBlock(const AttentionHead& head, const AttentionQueries& queries) {
  if (head.window == 0) return 0;
  return std::max<int64_t>(0, queries.position + 1 - head.window) / kKeyBlock * kKeyBlock;
}

// Scores of a block as the softmax is to see them, and by what it is to scale them.
float CapScores(const AttentionHead& head, int64_t rows, const Kernels& kernels, float* scores) {
  if (head.cap == 0) return head.scale;
  for (int64_t i = 0; i < rows * kKeyBlock; ++i) scores[i] *= head.scale;
  kernels.soft_cap(head.cap, rows * kKeyBlock, scores);
  return 1;
}

void Gather(const float* from, int64_t row, int64_t count, int64_t group_width, float* to) {
  for (int64_t t = 0; t < count; ++t)
    std::copy_n(from + t * row, group_width, to + t * group_width);
}

// What a right operand is multiplied with, and where the product goes.
struct LeftRows {
  const float* a;
  int64_t a_row, rows;
  float* out;
  int64_t out_row;
};

void Run(const Kernels& kernels, Precision precision, Product right, const LeftRows& left) {
  right.a = left.a;
  right.a_row = left.a_row;
  right.rows = left.rows;
  right.out = left.out;
  right.out_row = left.out_row;
  (precision == Precision::kBf16 ? kernels.product_bf16 : kernels.product_f32)(right);
}

// Query rows whose weights of a block the gradient holds at once: they stay in the cache between
// the five products that read them.
constexpr int64_t kBackwardRows = 128;

// What the gradient of attention holds: the rows of the queries, one per position and query head,
// and one block of keys. Rows have whole panels (`wide`), so that q and dout can be right operands
// as they lie; what lies beyond `dim` is zero and adds nothing.
struct BackwardTile {
  int64_t rows, dim, wide;
  Floats q, dout, dq, lse, inner;                          // per row
  std::vector<SeenKeys> seen;                              // per row: keys of the block it sees
  Floats scores, capped, dp;                               // of kBackwardRows rows
  Floats keys, values, key_panels, value_columns, dk, dv;  // of the block

  void Begin(const AttentionHead& head, const AttentionQueries& queries, const AttentionGradient& g,
             const Kernels& kernels);
  void BeginBlock(const AttentionHead& head, PageId page);
  void AddRows(const AttentionHead& head, PageId page, int64_t at, int64_t some,
               const Kernels& kernels);
  void AddToKeys(int64_t at, int64_t some, const Kernels& kernels);
};

void BackwardTile::Begin(const AttentionHead& head, const AttentionQueries& queries,
                         const AttentionGradient& g, const Kernels& kernels) {
  rows = queries.count * head.group;
  dim = head.head_dim;
  wide = RoundUp(dim, kLanes);
  ZeroRoom(&q, rows * wide);
  ZeroRoom(&dout, rows * wide);
  ZeroRoom(&dq, rows * wide);
  Room(&lse, rows);
  Room(&inner, rows);
  for (int64_t t = 0; t < queries.count; ++t) {
    for (int64_t h = 0; h < head.group; ++h) {
      const int64_t r = t * head.group + h;
      const float* row_dout = g.dout + t * g.dout_row + h * dim;
      std::copy_n(queries.q + t * queries.q_row + h * dim, dim, q.data() + r * wide);
      std::copy_n(row_dout, dim, dout.data() + r * wide);
      lse[static_cast<size_t>(r)] = queries.lse[t * queries.lse_row + h];
      // The weights of a row sum to one, so its gradient loses their mean, which is dout out: no
      // second pass over the keys is needed for it.
      inner[static_cast<size_t>(r)] =
          kernels.dot(row_dout, queries.out + t * queries.out_row + h * dim, dim);
    }
  }
  seen.resize(static_cast<size_t>(rows));
  Room(&scores, kBackwardRows * kKeyBlock);
  Room(&dp, kBackwardRows * kKeyBlock);
  Room(&keys, kKeyBlock * dim);
  Room(&values, kKeyBlock * dim);
  ZeroRoom(&key_panels, kKeyBlock * wide);  // a block writes only what lies below `dim`
  Room(&value_columns, kKeyBlock * dim);
  Room(&dk, kKeyBlock * wide);
  Room(&dv, kKeyBlock * wide);
}

// The block's keys and values as right operands. The pages hold both the way that forward wants
// them; the gradient multiplies with either the other way round.
void BackwardTile::BeginBlock(const AttentionHead& head, PageId page) {
  head.pages->Read(page, head.layer, head.kv_head, keys.data(), values.data());
  for (int64_t j = 0; j < kKeyBlock; ++j) {
    for (int64_t d = 0; d < dim; ++d) {
      key_panels[static_cast<size_t>((d / kLanes * kKeyBlock + j) * kLanes + d % kLanes)] =
          keys[static_cast<size_t>(j * dim + d)];  // over keys, by dim
      value_columns[static_cast<size_t>((j / kLanes * dim + d) * kLanes + j % kLanes)] =
          values[static_cast<size_t>(j * dim + d)];  // over dim, by keys
    }
  }
  std::fill_n(dk.begin(), kKeyBlock * wide, 0.0f);
  std::fill_n(dv.begin(), kKeyBlock * wide, 0.0f);
}

// Some rows, from `at` on: to their dq, and to the block's dk and dv.
void BackwardTile::AddRows(const AttentionHead& head, PageId page, int64_t at, int64_t some,
                           const Kernels& kernels) {
  // The scores are computed again, as forward computed them: to the bit, or the weights would not
  // be those that lse belongs to.
  Run(kernels, head.precision, head.pages->Keys(page, head.layer, head.kv_head),
      {q.data() + at * wide, wide, some, scores.data(), kKeyBlock});
  Product product;  // dp = dout values^T
  product.b = value_columns.data();
  product.b_panel = dim * kLanes;
  product.k = dim;
  product.columns = kKeyBlock;
  Run(kernels, Precision::kF32, product,
      {dout.data() + at * wide, wide, some, dp.data(), kKeyBlock});
  const float scale = CapScores(head, some, kernels, scores.data());
  const int64_t all = some * kKeyBlock;
  if (head.cap > 0) std::copy_n(scores.data(), all, Room(&capped, all));
  // Leaves the weights in scores, and the gradient of the scores, ds, in dp.
  kernels.softmax_block_backward(scores.data(), dp.data(), some, seen.data() + at, scale,
                                 lse.data() + at, inner.data() + at);
  if (head.cap > 0) {
    kernels.soft_cap_backward(capped.data(), head.cap, all, dp.data());
    for (int64_t i = 0; i < all; ++i) dp[static_cast<size_t>(i)] *= head.scale;
  }
  product = {};  // dq += ds keys
  product.b = key_panels.data();
  product.b_panel = kKeyBlock * kLanes;
  product.k = kKeyBlock;
  product.columns = wide;
  product.accumulate = true;
  Run(kernels, Precision::kF32, product, {dp.data(), kKeyBlock, some, dq.data() + at * wide, wide});
  AddToKeys(at, some, kernels);
}

// dk += ds^T q, dv += p^T dout: the left operands lie by columns, the right ones by rows.
void BackwardTile::AddToKeys(int64_t at, int64_t some, const Kernels& kernels) {
  for (const auto& [weights, right, sums] :
       {std::tuple(&dp, &q, &dk), std::tuple(&scores, &dout, &dv)}) {
    Product product;
    product.a_step = kKeyBlock;
    product.b = right->data() + at * wide;
    product.b_row = wide;
    product.b_panel = kLanes;
    product.k = some;
    product.columns = wide;
    product.accumulate = true;
    Run(kernels, Precision::kF32, product, {weights->data(), 1, kKeyBlock, sums->data(), wide});
  }
}

}  // namespace

// Some 64 rows are enough to fill the kernels' products; more would compute more scores of keys
// that the early positions of the tile do not see.
int64_t AttentionPositions(int64_t group) { return std::max<int64_t>(1, 64 / group); }

void Attend(const AttentionHead& head, const AttentionQueries& queries, const Kernels& kernels) {
  static thread_local Tile tile;
  const int64_t dim = head.head_dim, group = head.group, count = queries.count;
  const bool round = head.precision == Precision::kBf16;
  tile.Shape(count * group, dim);
  Gather(queries.q, queries.q_row, count, group * dim, tile.q.data());
  // Every row sees at least itself, so no maximum stays infinite.
  std::fill_n(tile.top.begin(), tile.rows, -std::numeric_limits<float>::infinity());
  std::fill_n(tile.sum.begin(), tile.rows, 0.0f);
  std::fill_n(tile.out.begin(), tile.rows * tile.wide, 0.0f);
  const int64_t last = queries.position + count - 1;
  for (int64_t block = FirstBlock(head, queries); block <= last; block += kKeyBlock) {
    // Rows before the block see nothing of it, and are left out: they come first. Rows whose window
    // begins behind it stay as they are, to the bit.
    const int64_t skip = std::max<int64_t>(0, block - queries.position) * group;
    const int64_t rows = tile.rows - skip;
    float* scores = tile.scores.data();
    const PageId page = queries.table[static_cast<size_t>(block / kKeyBlock)];
    Run(kernels, head.precision, head.pages->Keys(page, head.layer, head.kv_head),
        {tile.q.data() + skip * dim, dim, rows, scores, kKeyBlock});
    SetSeen(head, queries, block, tile.seen.data());
    const float scale = CapScores(head, rows, kernels, scores);
    // The sums so far belong to the largest score so far; where the block has a larger one,
    // `shrink` is what they must be multiplied with, else 1.
    kernels.softmax_block(scores, rows, tile.seen.data() + skip, scale, round,
                          tile.top.data() + skip, tile.sum.data() + skip, tile.shrink.data());
    Run(kernels, head.precision, head.pages->Values(page, head.layer, head.kv_head),
        {scores, kKeyBlock, rows, tile.more.data(), tile.wide});
    kernels.rescale_add(tile.more.data(), tile.wide, tile.shrink.data(), rows, dim,
                        tile.out.data() + skip * tile.wide, tile.wide);
  }
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t h = 0; h < group; ++h) {
      tile.Finish(t * group + h, head.sinks == nullptr ? nullptr : head.sinks + h, dim,
                  queries.out + t * queries.out_row + h * dim,
                  queries.lse + t * queries.lse_row + h);
    }
  }
}

void AttendBackward(const AttentionHead& head, const AttentionQueries& queries,
                    const AttentionGradient& g, const Kernels& kernels) {
  static thread_local BackwardTile tile;
  const int64_t dim = head.head_dim, group = head.group, count = queries.count;
  tile.Begin(head, queries, g, kernels);
  const int64_t last = queries.position + count - 1;
  // Blocks outside, rows inside: a block's dk and dv are summed over all rows before they are added
  // to those of the path, so a key gets one addition per tile, in the order of the tree.
  for (int64_t block = FirstBlock(head, queries); block <= last; block += kKeyBlock) {
    const PageId page = queries.table[static_cast<size_t>(block / kKeyBlock)];
    tile.BeginBlock(head, page);
    SetSeen(head, queries, block, tile.seen.data());
    // Rows before the block see nothing of it, as in forward; nor do those whose window is past it.
    const int64_t first = std::max<int64_t>(0, block - queries.position) * group;
    const int64_t past = block + kKeyBlock - 1 + head.window - queries.position;
    const int64_t end = head.window > 0 ? std::min(count, past) * group : tile.rows;
    for (int64_t at = first; at < end; at += kBackwardRows) {
      tile.AddRows(head, page, at, std::min(kBackwardRows, end - at), kernels);
    }
    const int64_t present = std::min<int64_t>(kKeyBlock, last + 1 - block);
    for (int64_t j = 0; j < present; ++j) {
      const int64_t to = g.row_of[static_cast<size_t>(block + j)] * g.dkv_row;
      kernels.add(tile.dk.data() + j * tile.wide, dim, g.dk + to);
      kernels.add(tile.dv.data() + j * tile.wide, dim, g.dv + to);
    }
  }
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t h = 0; h < group; ++h) {
      std::copy_n(tile.dq.data() + (t * group + h) * tile.wide, dim, g.dq + t * g.dq_row + h * dim);
    }
  }
}

}  // namespace hone
