// What a row becomes does not depend on the others: the bits of rows alone, among others, in other
// places and in other cuts.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "engine/device/device_draws.h"
#include "engine/device/device_problems.h"
#include "engine/device/device_trial.h"

namespace hone {
namespace {

class DevicePromises : public DeviceTest {};
HONE_FOR_EVERY_DEVICE(DevicePromises);

// The part of each output that belongs to some rows, of `rows` in all.
Outputs PartOf(const Outputs& all, int64_t rows, int64_t first, int64_t count) {
  Outputs part = all;
  for (Output& output : part) {
    const int64_t width = std::ssize(output.values) / rows;
    output.values = Slice(output.values, first * width, count * width);
  }
  return part;
}

// run(first, count) for rows alone and for runs of rows, against all rows at once.
void ExpectRowsByThemselves(int64_t rows, const std::function<Outputs(int64_t, int64_t)>& run) {
  const Outputs all = run(0, rows);
  for (const int64_t count : {int64_t{1}, int64_t{3}, int64_t{8}, int64_t{64}, rows}) {
    for (const int64_t first : {int64_t{0}, int64_t{1}, (rows - count) / 2, rows - count}) {
      if (count > rows || first + count > rows || first < 0) continue;
      SCOPED_TRACE(std::to_string(count) + " rows from " + std::to_string(first));
      ExpectSameBits(PartOf(all, rows, first, count), run(first, count));
    }
  }
}

TEST_P(DevicePromises, RowsOfProducts) {
  struct Shape {
    int64_t n, k;
  };
  for (const Element input : kElements) {
    for (const Element output : kElements) {
      if (input == Element::kF32 && output == Element::kBf16) continue;
      for (const bool addend : {false, true}) {
        for (const auto& [n, k] : {Shape{96, 64}, {201, 136}, {4, 24}}) {
          SCOPED_TRACE(NameOf(input) + " " + NameOf(output) + " " + std::to_string(n));
          const ProductProblem problem =
              ProductProblem{DeviceProduct::Form::kForward, 257, n, k, input, output, addend, 0.7f}
                  .Fill(Rng(1));
          ExpectRowsByThemselves(257, [&](int64_t first, int64_t count) {
            DeviceTrial trial(api_);
            return problem.Run(&trial, first, count);
          });
        }
      }
    }
  }
}

// Long enough for the kernel of few rows; the first is made of two parts (PartsOf).
// A policy and a model that plays its tools are two engines of one process, each with a thread of
// its own. Their products are of shapes whose kernels want different amounts of shared memory.
TEST_P(DevicePromises, ContextsOnTwoThreadsDoNotDisturbEachOther) {
  const auto work = [this](int64_t k) {
    const auto device = Device::Open(api_);
    ASSERT_TRUE(device.ok()) << device.error().message();
    const ProductProblem problem =
        ProductProblem{
            DeviceProduct::Form::kForward, 16, 256, k, Element::kBf16, Element::kF32, false, 1.0f}
            .Fill(Rng(3));
    std::optional<Outputs> first;
    for (int i = 0; i < 40; ++i) {
      DeviceTrial trial(*device, /*record=*/i % 2 == 1);
      const Outputs outputs = problem.Run(&trial, 0, 16);
      if (!first) first = outputs;
      ExpectSameBits(*first, outputs);
      ASSERT_STREQ(api_->error(trial.context()), "");
    }
  };
  std::thread other(work, 1408);
  work(256);
  other.join();
}

TEST_P(DevicePromises, RowsOfLongProducts) {
  struct Shape {
    int64_t n, k;
    Element output;
    bool addend;
  };
  for (const auto& [n, k, output, addend] : {Shape{40, 4224, Element::kF32, true},
                                             {72, 576, Element::kF32, true},
                                             {200, 512, Element::kBf16, false}}) {
    SCOPED_TRACE(k);
    const ProductProblem problem =
        ProductProblem{
            DeviceProduct::Form::kForward, 257, n, k, Element::kBf16, output, addend, 1.0f}
            .Fill(Rng(1));
    ExpectRowsByThemselves(257, [&](int64_t first, int64_t count) {
      DeviceTrial trial(api_);
      return problem.Run(&trial, first, count);
    });
  }
}

TEST_P(DevicePromises, AProductThenSwiGluInOneGo) {
  constexpr int64_t kFfn = 200, kInputs = 512;
  for (const int64_t rows : {1, 5, 64, 100, 300}) {
    SCOPED_TRACE(rows);
    DeviceTrial t(api_);
    const Element element = Element::kBf16;
    DeviceProduct p;
    p.m = rows;
    p.n = p.out_row = 2 * kFfn;
    p.k = p.a_row = p.b_row = kInputs;
    p.a = t.Put(RandomFloats(Rng(1), rows * kInputs, 1, element), element);
    p.b = t.Put(RandomFloats(Rng(2), 2 * kFfn * kInputs, 0.2f, element), element);
    p.out = t.Poisoned(rows * 2 * kFfn, element);
    p.output = element;
    ASSERT_TRUE(t.api().prepare_product(t.context(), {p.n, p.k, element, element, false, rows},
                                        nullptr, 0));
    auto activated = [&](auto run) {
      void* out = t.Poisoned(rows * kFfn, element);
      const DeviceSwiGlu swiglu{rows, kFfn, element, p.out, out};
      t.Run([&](auto& api, auto* context) { run(api, context, swiglu); });
      return t.Get(out, rows * kFfn, element);
    };
    const auto apart = activated([&](auto& api, auto* context, const DeviceSwiGlu& swiglu) {
      api.product(context, p);
      api.swiglu(context, swiglu);
    });
    const auto together = activated([&](auto& api, auto* context, const DeviceSwiGlu& swiglu) {
      api.product_swiglu(context, p, swiglu);
    });
    EXPECT_TRUE(SameBits(apart, together));
  }
}

TEST_P(DevicePromises, RowsOfNormsActivationsAndInnerProducts) {
  constexpr int64_t kRows = 130;
  for (const Element element : kElements) {
    for (const int64_t width : {5, 64, 1030}) {
      SCOPED_TRACE(NameOf(element) + " " + std::to_string(width));
      const std::vector<float> x = RandomFloats(Rng(2), kRows * 2 * width, 1, element),
                               weight = RandomFloats(Rng(3), width);
      ExpectRowsByThemselves(kRows, [&](int64_t first, int64_t count) {
        DeviceTrial t(api_);
        const std::vector<float> rows = Slice(x, first * 2 * width, count * 2 * width);
        const float *as_floats = t.Put(rows), *by = t.Put(weight);
        const void* as_elements = t.Put(rows, element);
        // Norms of rows of half the width, two for each; so are the inner products.
        void* normed = t.Poisoned(2 * count * width, element);
        float *scale = t.Poisoned<float>(2 * count), *values = t.Poisoned<float>(2 * count);
        void* activated = t.Poisoned(count * width, element);
        t.Run([&](auto& api, auto* context) {
          api.rms_norm(context,
                       {2 * count, width, as_floats, nullptr, by, 1e-6f, element, normed, scale});
          api.swiglu(context, {count, width, element, as_elements, activated});
          api.row_dots(context, {2 * count, width, element, as_elements, by, values});
        });
        return Outputs{{"normed", t.Get(normed, 2 * count * width, element)},
                       {"scale", t.Get(scale, 2 * count)},
                       {"activated", t.Get(activated, count * width, element)},
                       {"values", t.Get(values, 2 * count)}};
      });
    }
  }
}

TEST_P(DevicePromises, RowsOfListedNorms) {
  const std::vector<float> x = RandomFloats(Rng(4), 90 * 64), weight = RandomFloats(Rng(5), 64);
  auto run = [&](const std::vector<int32_t>& rows) {
    DeviceTrial t(api_);
    const auto count = std::ssize(rows);
    const float *all = t.Put(x), *by = t.Put(weight);
    const int32_t* list = rows.empty() ? nullptr : t.Put(rows);
    const int64_t outs = list == nullptr ? 90 : count;
    void* out = t.Poisoned(outs * 64, Element::kBf16);
    t.api().rms_norm(t.context(), {outs, 64, all, list, by, 1e-6f, Element::kBf16, out});
    return t.Get(out, outs * 64, Element::kBf16);
  };
  const std::vector<float> all = run({});
  const std::vector<int32_t> list = {89, 3, 3, 40};
  const std::vector<float> some = run(list);
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_TRUE(
        SameBits(Slice(some, static_cast<int64_t>(i) * 64, 64), Slice(all, list[i] * 64, 64)));
  }
}

TEST_P(DevicePromises, RowsOfQueriesKeysAndValues) {
  constexpr int64_t kRows = 70;
  for (const Element element : kElements) {
    for (const bool more : {false, true}) {  // biases and norms
      QkvProblem problem{kRows, 6, 2, 64, element, more, more};
      problem.Fill(Rng(6));
      for (size_t r = 0; r < kRows; ++r) problem.places[r].slot = static_cast<int32_t>(r);
      problem = problem.Rows(0, kRows);  // nothing is copied: a row is a row
      ExpectRowsByThemselves(kRows, [&](int64_t first, int64_t count) {
        DeviceTrial trial(api_);
        return problem.Rows(first, count).Run(&trial);
      });
    }
  }
}

// "Rows" of attention are positions with all their heads.
class AttentionPromise {
 public:
  AttentionPromise(const DeviceApi* api, const AttentionProblem& problem)
      : api_(api), problem_(problem), whole_(Run(problem, problem.Tiles())) {}

  Outputs Run(const AttentionProblem& problem, const std::vector<AttentionTile>& tiles) const {
    DeviceTrial trial(api_);
    return problem.Run(&trial, tiles);
  }
  void ExpectWhole(const std::vector<AttentionTile>& tiles) const {
    ExpectSameBits(whole_, Run(problem_, tiles));
  }
  void ExpectWhole(const AttentionProblem& problem) const {
    ExpectSameBits(whole_, Run(problem, problem.Tiles()));
  }
  // One tile by itself, with nothing else in the launch.
  void ExpectAlone(const AttentionTile& tile) const {
    ExpectSameBits(PartOf(whole_, problem_.rows, tile.row, tile.count),
                   PartOf(Run(problem_, {tile}), problem_.rows, tile.row, tile.count));
  }

 private:
  const DeviceApi* api_;
  const AttentionProblem& problem_;
  Outputs whole_;
};

TEST_P(DevicePromises, PositionsOfAttention) {
  struct Shape {
    int32_t heads, kv_heads, dim;
  };
  for (const Element element : kElements) {
    for (const auto& [heads, kv_heads, dim] : {Shape{4, 2, 64}, {7, 1, 128}, {2, 2, 32}}) {
      SCOPED_TRACE(NameOf(element) + " " + std::to_string(dim));
      const AttentionProblem problem =
          AttentionProblem{heads, kv_heads, dim, element, Forest()}.Fill(Rng(7));
      const AttentionPromise promise(api_, problem);
      // One position at a time, as drawing does it; other cuts; the other way round.
      for (const int64_t cut : {1, 2, 5, 9}) promise.ExpectWhole(problem.Tiles(cut));
      std::vector<AttentionTile> reversed = problem.Tiles();
      std::reverse(reversed.begin(), reversed.end());
      promise.ExpectWhole(reversed);
      const std::vector<AttentionTile> ones = problem.Tiles(1), fives = problem.Tiles(5);
      for (size_t i = 0; i < ones.size(); i += 17) {
        if (ones[i].count > 0) promise.ExpectAlone(ones[i]);
      }
      for (size_t i = 0; i < fives.size(); i += 7) {
        if (fives[i].count > 0) promise.ExpectAlone(fives[i]);
      }
    }
  }
}

TEST_P(DevicePromises, AttentionDoesNotDependOnPagesNorOnWhatComesLater) {
  for (const Element element : kElements) {
    const AttentionProblem problem = AttentionProblem{4, 2, 64, element, Forest()}.Fill(Rng(8));
    const AttentionPromise promise(api_, problem);
    AttentionProblem other = problem;
    other.unwritten = -50;
    promise.ExpectWhole(other);
    AttentionProblem moved{4, 2, 64, element, Forest()};
    moved.Fill(Rng(9));  // other pages
    moved.qkv = problem.qkv;
    ASSERT_NE(moved.tables, problem.tables);
    promise.ExpectWhole(moved);
    // A path by itself has the bits that it has among its branches: nodes 0 and 1.
    AttentionProblem path{4, 2, 64, element, {{-1, 70}, {0, 58}}};
    path.Fill(Rng(10));
    path.qkv = Slice(problem.qkv, 0, path.rows * path.Wide());
    ExpectSameBits(PartOf(promise.Run(problem, problem.Tiles()), problem.rows, 0, path.rows),
                   promise.Run(path, path.Tiles()));
    // So has one that was computed as a single node.
    AttentionProblem single{4, 2, 64, element, {{-1, 128}}};
    single.Fill(Rng(11));
    single.qkv = path.qkv;
    ExpectSameBits(promise.Run(path, path.Tiles()), promise.Run(single, single.Tiles()));
  }
}

TEST_P(DevicePromises, RowsOfScores) {
  for (const int64_t vocab : {40, 1001, 40004}) {
    SCOPED_TRACE(vocab);
    const int64_t rows = vocab > 1001 ? 9 : 70;
    const ScoreProblem problem = ScoreProblem{rows, vocab}.Fill(Rng(12));
    ExpectRowsByThemselves(rows, [&](int64_t first, int64_t count) {
      DeviceTrial trial(api_);
      return problem.Rows(first, count).Run(&trial);
    });
  }
}

void ExpectSameDraw(const DrawnTokens& one, const DrawnTokens& other) {
  EXPECT_EQ(one.row.token, other.row.token);
  EXPECT_TRUE(SameBits({one.row.logprob, one.row.entropy}, {other.row.logprob, other.row.entropy}));
  EXPECT_EQ(one.row.kept, other.row.kept);
  EXPECT_EQ(one.kept, other.kept);
  EXPECT_EQ(one.likely, other.likely);
  EXPECT_TRUE(SameBits(one.likely_logprob, other.likely_logprob));
}

TEST_P(DevicePromises, RowsOfDraws) {
  for (const int64_t vocab : {40, 1001, 40004}) {
    for (const bool plain : {false, true}) {
      const int64_t rows = vocab > 1001 ? 14 : 56;
      const DrawProblem problem = DrawProblem{rows, vocab, plain}.Fill(Rng(13));
      DeviceTrial trial(api_);
      const std::vector<DrawnTokens> all = problem.Run(&trial);
      for (int64_t r = 0; r < rows; ++r) {
        SCOPED_TRACE("vocab " + std::to_string(vocab) + " row " + std::to_string(r));
        DeviceTrial other(api_);
        ExpectSameDraw(all[r], problem.Rows(r, 1).Run(&other)[0]);
      }
      if (!plain) continue;
      // The quick way for rules without cuts is only quicker.
      DrawProblem slow = problem;
      slow.plain = false;
      DeviceTrial other(api_);
      const std::vector<DrawnTokens> slowly = slow.Run(&other);
      for (int64_t r = 0; r < rows; ++r) ExpectSameDraw(all[r], slowly[r]);
    }
  }
}

// The promise between sampling and training: a token that was drawn is scored with the same bits.
TEST_P(DevicePromises, WhatIsDrawnIsScoredWithTheSameBits) {
  for (const int64_t vocab : {40, 1001, 40004}) {
    const int64_t rows = vocab > 1001 ? 14 : 56;
    const DrawProblem draws = DrawProblem{rows, vocab}.Fill(Rng(14));
    DeviceTrial trial(api_), other(api_);
    const std::vector<DrawnTokens> drawn = draws.Run(&trial);
    ScoreProblem scores{rows, vocab, draws.logits, draws.forbidden};
    for (int64_t r = 0; r < rows; ++r) {
      const DrawRule& rule = draws.rules[r];
      PredictionRule scored{};
      scored.token = rule.skip != 0 ? 0 : drawn[r].row.token;
      scored.inverse_temperature = rule.temperature == 0 ? 1.0f : 1.0f / rule.temperature;
      scored.forbidden = rule.forbidden;
      scored.kept_first = static_cast<int32_t>(scores.kept.size());
      scored.kept_count = static_cast<int32_t>(drawn[r].kept.size());
      scores.kept.insert(scores.kept.end(), drawn[r].kept.begin(), drawn[r].kept.end());
      scores.rules.push_back(scored);
    }
    const Outputs scored = scores.Run(&other);
    for (int64_t r = 0; r < rows; ++r) {
      if (draws.rules[r].skip != 0) continue;
      EXPECT_EQ(scored[0].values[r], drawn[r].row.logprob) << "vocab " << vocab << " row " << r;
      EXPECT_EQ(scored[1].values[r], drawn[r].row.entropy) << "vocab " << vocab << " row " << r;
    }
  }
}

}  // namespace
}  // namespace hone
