#include "engine/attention.h"

#include <gtest/gtest.h>

#include <cmath>
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

KvHead HeadOf(const Problem& p, int64_t length = kLength) {
  KvHead head(kDim);
  for (int64_t i = 0; i < length; ++i) head.Append(p.k.data() + i * kDim, p.v.data() + i * kDim);
  return head;
}

struct Output {
  std::vector<float> out, lse;
};

Output AttendAll(const Problem& p, const KvHead& head) {
  Output o{std::vector<float>(p.q.size()), std::vector<float>(kLength * kQueries)};
  for (int64_t i = 0; i < kLength; ++i) {
    Attend(head, p.q.data() + i * kQueries * kDim, kQueries, kDim, i, false, BestKernels(),
           o.out.data() + i * kQueries * kDim, o.lse.data() + i * kQueries);
  }
  return o;
}

TEST(Attention, IsTheSoftmaxWeightedMeanOfTheVisibleValues) {
  const Problem p = RandomProblem(1);
  const Output o = AttendAll(p, HeadOf(p));
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

// Traps b and c: keys behind the position, written or not, change no bit.
TEST(Attention, LaterKeysDoNotMatter) {
  const Problem p = RandomProblem(2);
  const Output whole = AttendAll(p, HeadOf(p));
  for (const int64_t position : {0, 15, 16, 31, 32, 40}) {
    std::vector<float> out(kQueries * kDim), lse(kQueries);
    Attend(HeadOf(p, position + 1), p.q.data() + position * kQueries * kDim, kQueries, kDim,
           position, false, BestKernels(), out.data(), lse.data());
    for (int64_t i = 0; i < kQueries * kDim; ++i)
      EXPECT_EQ(out[i], whole.out[position * kQueries * kDim + i]);
  }
}

TEST(Attention, GradientEqualsFiniteDifferences) {
  Problem p = RandomProblem(3);
  Rng rng(4);
  std::vector<float> dout(p.q.size());
  for (float& value : dout) value = static_cast<float>(rng.NextNormal());
  auto f = [&] {
    const Output o = AttendAll(p, HeadOf(p));
    double sum = 0;
    for (size_t i = 0; i < dout.size(); ++i) sum += static_cast<double>(o.out[i]) * dout[i];
    return sum;
  };
  const KvHead head = HeadOf(p);
  const Output o = AttendAll(p, head);
  std::vector<float> dq(p.q.size()), dk(p.k.size()), dv(p.v.size());
  AttendBackward({.head = &head,
                  .length = kLength,
                  .queries = kQueries,
                  .head_dim = kDim,
                  .q = p.q.data(),
                  .out = o.out.data(),
                  .dout = dout.data(),
                  .stride = kQueries * kDim,
                  .lse = o.lse.data(),
                  .lse_stride = kQueries,
                  .dq = dq.data(),
                  .dk = dk.data(),
                  .dv = dv.data(),
                  .kv_stride = kDim});
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
