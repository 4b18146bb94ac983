#include "engine/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace hone {
namespace {

constexpr int64_t kDim = 24, kQueries = 2,
                  kLength = 45;  // across a block of keys, dim no multiple of 16

struct Problem {
  std::vector<float> q, k, v;  // [length][queries * dim], [length][dim], [length][dim]
};

Problem RandomProblem(uint64_t seed) {
  Rng rng(seed);
  auto fill = [&](int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(rng.NextNormal());
    return values;
  };
  return {fill(kLength * kQueries * kDim), fill(kLength * kDim), fill(kLength * kDim)};
}

// The first `length` keys and values in pages.
struct Cache {
  KvPages pages;
  KvSequence sequence;

  explicit Cache(const Problem& p, int64_t length = kLength)
      : pages(Config(), Precision::kF32), sequence(&pages) {
    sequence.Extend(length);
    for (int64_t i = 0; i < length; ++i) {
      pages.Write({sequence.table()[static_cast<size_t>(i / kKeyBlock)], i % kKeyBlock, 0, 0},
                  p.k.data() + i * kDim, p.v.data() + i * kDim);
    }
  }
  static ModelConfig Config() {
    ModelConfig config;
    config.layers = config.kv_heads = 1;
    config.heads = kQueries;
    config.head_dim = kDim;
    return config;
  }
  AttentionHead head() const {
    return {&pages, 0, 0, kQueries, kDim, Precision::kF32, Config().AttentionScale()};
  }
};

struct Output {
  std::vector<float> out, lse;
};

AttentionQueries QueriesOf(const Problem& p, const Cache& cache, int64_t from, int64_t count,
                           Output* o) {
  const int64_t row = kQueries * kDim;
  return {.table = cache.sequence.table(),
          .position = from,
          .count = count,
          .q = p.q.data() + from * row,
          .q_row = row,
          .out = o->out.data() + from * row,
          .out_row = row,
          .lse = o->lse.data() + from * kQueries,
          .lse_row = kQueries};
}

Output AttendAll(const Problem& p, const Cache& cache, int64_t tile = kLength) {
  Output o{std::vector<float>(p.q.size()), std::vector<float>(kLength * kQueries)};
  for (int64_t i = 0; i < kLength; i += tile) {
    Attend(cache.head(), QueriesOf(p, cache, i, std::min(tile, kLength - i), &o), BestKernels());
  }
  return o;
}

TEST(Attention, IsTheSoftmaxWeightedMeanOfTheVisibleValues) {
  const Problem p = RandomProblem(1);
  const Output o = AttendAll(p, Cache(p));
  for (int64_t i = 0; i < kLength; ++i) {
    for (int64_t h = 0; h < kQueries; ++h) {
      std::vector<double> weights;
      double sum = 0;
      for (int64_t j = 0; j <= i; ++j) {
        double score = 0;
        for (int64_t d = 0; d < kDim; ++d)
          score += static_cast<double>(p.q[(i * kQueries + h) * kDim + d]) * p.k[j * kDim + d];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(kDim))));
        sum += weights.back();
      }
      for (int64_t d = 0; d < kDim; ++d) {
        double expected = 0;
        for (int64_t j = 0; j <= i; ++j)
          expected += weights[static_cast<size_t>(j)] / sum * p.v[j * kDim + d];
        EXPECT_NEAR(o.out[(i * kQueries + h) * kDim + d], expected, 1e-5);
      }
      EXPECT_NEAR(o.lse[i * kQueries + h], std::log(sum), 1e-5);
    }
  }
}

// Traps b and c: keys behind the position, written or not, and other queries change no bit.
TEST(Attention, LaterKeysAndOtherQueriesDoNotMatter) {
  const Problem p = RandomProblem(2);
  const Output whole = AttendAll(p, Cache(p));
  for (const int64_t tile : {1, 7, 32}) {
    const Output tiled = AttendAll(p, Cache(p), tile);
    EXPECT_EQ(tiled.out, whole.out);
    EXPECT_EQ(tiled.lse, whole.lse);
  }
  for (const int64_t position : {0, 15, 16, 31, 32, 40}) {
    const Cache cache(p, position + 1);
    Output o{std::vector<float>(p.q.size()), std::vector<float>(kLength * kQueries)};
    Attend(cache.head(), QueriesOf(p, cache, position, 1, &o), BestKernels());
    for (int64_t i = position * kQueries * kDim; i < (position + 1) * kQueries * kDim; ++i)
      EXPECT_EQ(o.out[i], whole.out[i]);
  }
}

TEST(Attention, GradientEqualsFiniteDifferences) {
  Problem p = RandomProblem(3);
  Rng rng(4);
  std::vector<float> dout(p.q.size());
  for (float& value : dout) value = static_cast<float>(rng.NextNormal());
  auto f = [&] {
    const Output o = AttendAll(p, Cache(p));
    double sum = 0;
    for (size_t i = 0; i < dout.size(); ++i) sum += static_cast<double>(o.out[i]) * dout[i];
    return sum;
  };
  const Cache cache(p);
  Output o = AttendAll(p, cache);
  std::vector<float> dq(p.q.size()), dk(p.k.size()), dv(p.v.size());
  std::vector<int64_t> row_of(kLength);
  std::iota(row_of.begin(), row_of.end(), 0);
  const int64_t row = kQueries * kDim;
  for (const auto& [from, count] : {std::pair<int64_t, int64_t>{0, 20}, {20, kLength - 20}}) {
    AttendBackward(cache.head(), QueriesOf(p, cache, from, count, &o),
                   {.dout = dout.data() + from * row,
                    .dout_row = row,
                    .dq = dq.data() + from * row,
                    .dq_row = row,
                    .row_of = row_of,
                    .dk = dk.data(),
                    .dv = dv.data(),
                    .dkv_row = kDim},
                   BestKernels());
  }
  for (const auto& [values, gradient] :
       {std::pair(&p.q, &dq), std::pair(&p.k, &dk), std::pair(&p.v, &dv)}) {
    for (int sample = 0; sample < 25; ++sample) {
      const size_t i = rng.Below(values->size());
      constexpr float kStep = 1e-2f;
      const float at = (*values)[i];
      (*values)[i] = at + kStep;
      const double up = f();
      (*values)[i] = at - kStep;
      const double down = f();
      (*values)[i] = at;
      EXPECT_NEAR((*gradient)[i], (up - down) / (2.0 * kStep), 5e-3);
    }
  }
}

}  // namespace
}  // namespace hone
