// What kernels mean: forward against double precision, backward against finite differences.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "engine/device/device_draws.h"
#include "engine/device/device_problems.h"
#include "engine/device/device_trial.h"

namespace hone {
namespace {

class DeviceMeaning : public DeviceTest {};
HONE_FOR_EVERY_DEVICE(DeviceMeaning);

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST_P(DeviceMeaning, AProductIsTheInnerProduct) {
  using Form = DeviceProduct::Form;
  for (const Form form : {Form::kForward, Form::kInput, Form::kWeight}) {
    for (const Element input : kElements) {
      const ProductProblem p =
          ProductProblem{form, 5, 24, 40, input, Element::kF32, true, 0.5f}.Fill(Rng(1));
      DeviceTrial trial(api_);
      const std::vector<float> out = p.Run(&trial)[0].values;
      for (int64_t r = 0; r < p.m; ++r) {
        for (int64_t c = 0; c < p.n; ++c) {
          double sum = 0;
          for (int64_t i = 0; i < p.k; ++i) {
            sum += static_cast<double>(p.a[p.AAt(r, i)]) * p.b[p.BAt(c, i)];
          }
          EXPECT_NEAR(out[r * p.n + c], 0.5 * sum + p.addends[r * p.OutRow() + c], 1e-5);
        }
      }
    }
  }
}

TEST_P(DeviceMeaning, QueriesAndKeysAreNormedAndTurnedAndValuesAreNot) {
  QkvProblem p{7, 4, 2, 16, Element::kF32, true, true};
  p.Fill(Rng(2));
  DeviceTrial trial(api_);
  const std::vector<float> qkv = p.Run(&trial)[0].values;
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t h = 0; h < p.Vectors(); ++h) {
      const bool query = h < p.heads, value = h >= p.heads + p.kv_heads;
      const std::vector<float>& biases = query ? p.q_bias : value ? p.v_bias : p.k_bias;
      const int64_t head = query ? h : value ? h - p.heads - p.kv_heads : h - p.heads;
      std::vector<double> x;
      double squares = 0;
      for (int64_t d = 0; d < p.dim; ++d) {
        x.push_back(static_cast<double>(p.raw[r * p.Wide() + h * p.dim + d]) +
                    biases[head * p.dim + d]);
        squares += x.back() * x.back();
      }
      const double scale = 1 / std::sqrt(squares / p.dim + 1e-5);
      for (int64_t d = 0; d < p.dim && !value; ++d)
        x[d] *= scale * (query ? p.q_norm : p.k_norm)[d];
      const int64_t half = p.dim / 2;
      for (int64_t d = 0; d < p.dim; ++d) {
        const int64_t at = p.places[r].position * half + d % half;
        // The pair (first, second) of a plane turns by one angle.
        const double turned = d < half ? x[d] * p.cosines[at] - x[d + half] * p.sines[at]
                                       : x[d] * p.cosines[at] + x[d - half] * p.sines[at];
        EXPECT_NEAR(qkv[r * p.Wide() + h * p.dim + d], value ? x[d] : turned, 2e-5);
      }
    }
  }
}

TEST_P(DeviceMeaning, AttentionIsTheWeightedMeanOfTheValuesOfAPath) {
  const AttentionProblem p = AttentionProblem{4, 2, 32, Element::kF32, Forest()}.Fill(Rng(3));
  DeviceTrial trial(api_);
  const Outputs outputs = p.Run(&trial, p.Tiles());
  const double scale = 1 / std::sqrt(static_cast<double>(p.dim));
  for (size_t n = 0; n < p.nodes.size(); ++n) {
    for (int64_t t = 0; t < p.nodes[n].count; ++t) {
      for (int64_t h = 0; h < p.heads; ++h) {
        const int64_t row = p.nodes[n].row + t, kv_head = h / p.group();
        const float* q = p.qkv.data() + row * p.Wide() + h * p.dim;
        double sum = 0;
        std::vector<double> out(p.dim);
        for (int64_t at = 0; at <= p.nodes[n].position + t; ++at) {
          const float* key =
              p.qkv.data() + p.PathRow(n, at) * p.Wide() + (p.heads + kv_head) * p.dim;
          double score = 0;
          for (int64_t d = 0; d < p.dim; ++d) score += static_cast<double>(q[d]) * key[d];
          const double weight = std::exp(score * scale);
          sum += weight;
          for (int64_t d = 0; d < p.dim; ++d) out[d] += weight * key[p.kv_heads * p.dim + d];
        }
        ASSERT_NEAR(outputs[1].values[row * p.heads + h], std::log(sum), 1e-5);
        for (int64_t d = 0; d < p.dim; ++d) {
          ASSERT_NEAR(outputs[0].values[(row * p.heads + h) * p.dim + d], out[d] / sum, 1e-5);
        }
      }
    }
  }
}

TEST_P(DeviceMeaning, ScoresAreOfTheSoftmaxOverWhatMayFollow) {
  const ScoreProblem p = ScoreProblem{20, 301}.Fill(Rng(4));
  DeviceTrial trial(api_);
  const Outputs outputs = p.Run(&trial);
  for (int64_t r = 0; r < p.rows; ++r) {
    const PredictionRule& rule = p.rules[r];
    const auto kept = p.kept.begin() + rule.kept_first;
    double sum = 0, entropy = 0;
    std::vector<double> z;
    for (int32_t v = 0; v < p.vocab; ++v) {
      const bool may =
          (rule.forbidden == 0 || v % 7 != 1) &&
          (rule.kept_count == 0 || std::binary_search(kept, kept + rule.kept_count, v));
      const double logit = static_cast<double>(p.logits[r * p.vocab + v]);
      if (may) z.push_back(logit * rule.inverse_temperature);
    }
    for (const double one : z) sum += std::exp(one);
    for (const double one : z) entropy -= std::exp(one) / sum * (one - std::log(sum));
    const double logit = static_cast<double>(p.logits[r * p.vocab + rule.token]);
    EXPECT_NEAR(outputs[0].values[r], logit * rule.inverse_temperature - std::log(sum), 1e-5);
    EXPECT_NEAR(outputs[1].values[r], entropy, 1e-5);
    EXPECT_NEAR(outputs[2].values[r], std::log(sum), 1e-5);
  }
}

TEST_P(DeviceMeaning, DrawsFollowTheirRules) {
  for (const int64_t vocab : {40, 1001, 40003}) {
    for (const bool plain : {false, true}) {
      const int64_t rows = vocab > 1001 ? 28 : 140;
      const DrawProblem p = DrawProblem{rows, vocab, plain}.Fill(Rng(5));
      DeviceTrial trial(api_);
      const std::vector<DrawnTokens> drawn = p.Run(&trial);
      for (int64_t r = 0; r < rows; ++r) {
        SCOPED_TRACE("vocab " + std::to_string(vocab) + " row " + std::to_string(r));
        if (p.rules[r].skip == 0) DrawCheck(p, r).Check(drawn[r]);
      }
    }
  }
}

TEST_P(DeviceMeaning, RowsAreReadAddedAndSummed) {
  constexpr int64_t kRows = 130, kWidth = 7, kApart = 11;
  DeviceTrial t(api_);
  const std::vector<float> table = RandomFloats(Rng(24), kRows * kApart), bias = Slice(table, 5, 7);
  const std::vector<int32_t> tokens = {4, 0, 4}, place = {2, 0}, first = {0, 3, 4},
                             list = {1, 1, 7, 9};
  const float* from = t.Put(table);
  const int32_t *read = t.Put(tokens), *to_row = t.Put(place), *begin = t.Put(first),
                *rows = t.Put(list);
  float *embedded = t.Poisoned<float>(3 * kWidth), *added = t.Put(std::vector<float>(21, 1.0f));
  constexpr int64_t kSlices = SlicesOf(kRows);
  float *partial = t.Poisoned<float>(kSlices * kWidth), *total = t.Put(bias);
  t.api().embed(t.context(), {3, kWidth, read, Element::kF32, from, embedded});
  t.api().add_bias(t.context(), t.Put(bias), 3, kWidth, embedded);
  t.api().add_rows(t.context(), {2, kWidth, from, to_row, begin, rows, added});
  t.api().sum_rows(t.context(), {kRows, kWidth, kApart, Element::kF32, from, partial});
  t.api().add_partials(t.context(), {partial, kSlices, kWidth, total});
  const std::vector<float> x = t.Get(embedded, 21), y = t.Get(added, 21),
                           p = t.Get(partial, kSlices * kWidth), sum = t.Get(total, 7);
  for (int64_t c = 0; c < kWidth; ++c) {
    auto at = [&](int64_t row) { return table[row * kWidth + c]; };
    for (int64_t r = 0; r < 3; ++r) EXPECT_EQ(x[r * kWidth + c], at(tokens[r]) + bias[c]);
    EXPECT_NEAR(y[2 * kWidth + c], 1 + 2 * at(1) + at(7), 1e-6);
    EXPECT_NEAR(y[c], 1 + at(9), 1e-6);
    EXPECT_EQ(y[kWidth + c], 1);
    double slice[kSlices] = {}, all = bias[c];
    for (int64_t r = 0; r < kRows; ++r) slice[r / kSliceRows] += table[r * kApart + c];
    for (int64_t i = 0; i < kSlices; ++i) {
      EXPECT_NEAR(p[i * kWidth + c], slice[i], 1e-5);
      all += slice[i];
    }
    EXPECT_NEAR(sum[c], all, 1e-5);
  }
}

TEST_P(DeviceMeaning, AnOrthogonalStepHasSingularValuesNearOne) {
  constexpr int64_t kRows = 16, kColumns = 48, kSize = kRows * kColumns;
  DeviceTrial t(api_);
  const std::vector<float> given = RandomFloats(Rng(25), kSize);
  float *step = t.Put(given), *value = t.Put(std::vector<float>(kSize));
  void* room = t.Poisoned<uint8_t>(t.api().orthogonal_room(kRows, kColumns));
  const float* scale = t.Put(std::vector<float>{1});
  t.api().orthogonal_step(t.context(), {kRows, kColumns, scale, step, room, 1, 1, value});
  const std::vector<float> x = t.Get(value, kSize);
  EXPECT_LT(Dot(x, given), 0) << "against it";
  // The Gram matrix is that of the identity, within what five steps leave of it.
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kRows; ++j) {
      const double inner = Dot(Slice(x, i * kColumns, kColumns), Slice(x, j * kColumns, kColumns));
      EXPECT_NEAR(inner, i == j ? 1 : 0, 0.45) << i << " " << j;
    }
  }
}

TEST_P(DeviceMeaning, AStepDoesToWeightsWhatItSays) {
  DeviceTrial t(api_);
  double *squares = t.Put(std::vector<double>{7}), *norm = t.Poisoned<double>(1);
  float* scale = t.Poisoned<float>(1);
  t.api().add_squares(t.context(), t.Put(std::vector<float>{1, -2, 2}), 3, squares);
  for (const double most : {0.0, 5.0}) {  // nothing to shorten
    t.api().norm_scale(t.context(), squares, most, norm, scale);
    EXPECT_EQ(t.Get(scale, 1)[0], 1);
  }
  t.api().norm_scale(t.context(), squares, 2, norm, scale);
  EXPECT_EQ(t.Get(norm, 1)[0], 4);
  EXPECT_NEAR(t.Get(scale, 1)[0], 0.5, 1e-6);

  DeviceAdamW a{.n = 1, .beta1 = 0.9f, .rest1 = 0.1f, .beta2 = 0.95f, .rest2 = 0.05f};
  a.step_size = 0.01f, a.second_scale = 2, a.eps = 0.001f, a.decay = 0.5f;
  a.scale = scale, a.gradient = t.Put(std::vector<float>{6}),
  a.value = t.Put(std::vector<float>{8});
  a.first = t.Put(std::vector<float>{1}), a.second = t.Put(std::vector<float>{4});
  t.api().adamw(t.context(), a);  // with a gradient of 3
  EXPECT_NEAR(t.Get(a.first, 1)[0], 0.9 + 0.3, 1e-5);
  EXPECT_NEAR(t.Get(a.second, 1)[0], 3.8 + 0.45, 1e-5);
  EXPECT_NEAR(t.Get(a.value, 1)[0], 4 - 0.01 * 1.2 / (std::sqrt(4.25) * 2 + 0.001), 1e-5);

  float *moment = t.Put(std::vector<float>{2}), *step = t.Poisoned<float>(1);
  t.api().momentum(t.context(), {1, scale, 0.75f, t.Put(std::vector<float>{6}), moment, step});
  EXPECT_NEAR(t.Get(moment, 1)[0], 1.5 + 3, 1e-5);
  EXPECT_NEAR(t.Get(step, 1)[0], 3 + 0.75 * 4.5, 1e-5);

  float* mixed = t.Put(std::vector<float>{1});
  t.api().mix(t.context(), {1, 0.25, t.Put(std::vector<float>{5}), mixed});
  EXPECT_EQ(t.Get(mixed, 1)[0], 2);
}

// A hundred steps in 8 bits go where those in float32 go.
TEST_P(DeviceMeaning, MomentsInEightBitsAreMomentsNearly) {
  constexpr int64_t kSize = 700;
  auto run = [&](bool codes) {
    DeviceTrial t(api_);
    DeviceAdamW a{.n = kSize, .beta1 = 0.9f, .rest1 = 0.1f, .beta2 = 0.95f, .rest2 = 0.05f};
    a.step_size = 1e-2f, a.second_scale = 1, a.eps = 1e-8f, a.decay = 1;
    a.value = t.Put(std::vector<float>(kSize));
    a.scale = t.Put(std::vector<float>{1});
    if (codes) {
      a.first_code = t.Put(std::vector<uint8_t>(kSize));
      a.second_code = t.Put(std::vector<uint8_t>(kSize));
      a.first_scale = t.Put(std::vector<float>(3));
      a.second_scale_of = t.Put(std::vector<float>(3));
    } else {
      a.first = t.Put(std::vector<float>(kSize)), a.second = t.Put(std::vector<float>(kSize));
    }
    for (uint64_t step = 0; step < 100; ++step) {
      std::vector<float> gradient = RandomFloats(Rng(6).Split(step), kSize);
      // Of several magnitudes, with a drift.
      for (int64_t i = 0; i < kSize; ++i) {
        gradient[i] = (gradient[i] + 0.5f) * std::pow(10.0f, static_cast<float>(-i % 3));
      }
      a.gradient = t.Put(gradient);
      t.api().adamw(t.context(), a);
    }
    return t.Get(a.value, kSize);
  };
  const std::vector<float> exact = run(false), coded = run(true);
  EXPECT_LT(RelativeError(exact, coded), 0.05);
  EXPECT_GT(std::sqrt(Dot(exact, exact) / kSize), 0.1) << "the test has steps";
}

// The slope of f with respect to values[i].
double Slope(std::vector<float>* values, size_t i, const std::function<double()>& f,
             float step = 1e-2f) {
  const float at = (*values)[i];
  (*values)[i] = at + step;
  const double up = f();
  (*values)[i] = at - step;
  const double down = f();
  (*values)[i] = at;
  return (up - down) / (2.0 * step);
}

// Compares some of the gradient's numbers, up to `samples` of them.
void ExpectSlopes(const std::vector<float>& gradient, std::vector<float>* values,
                  const std::function<double()>& f, size_t samples = 40) {
  ASSERT_EQ(gradient.size(), values->size());
  Rng rng(7);
  for (size_t sample = 0; sample < std::min(samples, values->size()); ++sample) {
    const size_t i = samples < values->size() ? rng.Below(values->size()) : sample;
    const double slope = Slope(values, i, f);
    EXPECT_NEAR(gradient[i], slope, 3e-3 * (1 + std::abs(slope))) << i;
  }
}

TEST_P(DeviceMeaning, NormGradientEqualsFiniteDifferences) {
  constexpr int64_t kRows = 70;
  for (const int64_t width : {12, 256}) {
    SCOPED_TRACE(width);
    const int64_t size = kRows * width;
    std::vector<float> x = RandomFloats(Rng(8), size), weight = RandomFloats(Rng(9), width);
    const std::vector<float> dy = RandomFloats(Rng(10), size), before = RandomFloats(Rng(11), size);
    std::vector<float> dx, dweight;
    auto f = [&] {
      DeviceTrial t(api_);
      DeviceNorm n{.rows = kRows, .width = width, .x = t.Put(x), .weight = t.Put(weight)};
      n.eps = 1e-5f;
      n.element = Element::kF32;
      n.out = t.Poisoned(size, Element::kF32);
      n.scale = t.Poisoned<float>(kRows);
      t.api().rms_norm(t.context(), n);
      DeviceNormBackward b{.rows = kRows, .width = width, .x = n.x, .scale = n.scale};
      b.dy = t.Put(dy);
      b.weight = n.weight;
      b.dx = t.Put(before);
      b.partial = t.Poisoned<float>(SlicesOf(kRows) * width);
      t.api().rms_norm_backward(t.context(), b);
      float* sum = t.Put(std::vector<float>(width));
      t.api().add_partials(t.context(), {b.partial, SlicesOf(kRows), width, sum});
      dx = t.Get(b.dx, size);
      dweight = t.Get(sum, width);
      return Dot(t.Get(n.out, size, Element::kF32), dy);
    };
    f();
    std::vector<float> added = dx;
    for (size_t i = 0; i < added.size(); ++i) added[i] -= before[i];
    const std::vector<float> of_weight = dweight;
    ExpectSlopes(added, &x, f);
    ExpectSlopes(of_weight, &weight, f);
  }
}

TEST_P(DeviceMeaning, SwiGluGradientEqualsFiniteDifferences) {
  constexpr int64_t kRows = 3, kFfn = 9;
  std::vector<float> x = RandomFloats(Rng(12), kRows * 2 * kFfn), gradient;
  const std::vector<float> dy = RandomFloats(Rng(13), kRows * kFfn);
  auto f = [&] {
    DeviceTrial t(api_);
    const void *at = t.Put(x, Element::kF32), *up = t.Put(dy, Element::kF32);
    void* activated = t.Poisoned(kRows * kFfn, Element::kF32);
    void* dgate_up = t.Poisoned(kRows * 2 * kFfn, Element::kF32);
    const DeviceSwiGlu swiglu{kRows, kFfn, Element::kF32, at, activated};
    t.api().swiglu_backward(t.context(), {swiglu, up, dgate_up});
    gradient = t.Get(dgate_up, kRows * 2 * kFfn, Element::kF32);
    t.api().swiglu(t.context(), swiglu);
    return Dot(t.Get(activated, kRows * kFfn, Element::kF32), dy);
  };
  f();
  ExpectSlopes(std::vector<float>(gradient), &x, f, 60);
}

TEST_P(DeviceMeaning, QkvGradientEqualsFiniteDifferences) {
  QkvProblem p{70, 2, 1, 16, Element::kF32, true, true};
  p.Fill(Rng(14));
  const std::vector<float> dqkv = RandomFloats(Rng(15), p.rows * p.Wide());
  auto f = [&] {
    DeviceTrial t(api_);
    return Dot(p.Run(&t)[0].values, dqkv);
  };
  DeviceTrial t(api_);
  const Outputs gradients = p.RunBackward(&t, dqkv);
  auto sum_of = [&](const Output& partial) {
    float *sums = t.Put(partial.values), *to = t.Put(std::vector<float>(p.dim));
    t.api().add_partials(t.context(), {sums, SlicesOf(p.rows), p.dim, to});
    return t.Get(to, p.dim);
  };
  ExpectSlopes(gradients[0].values, &p.raw, f);
  ExpectSlopes(sum_of(gradients[1]), &p.q_norm, f);
  ExpectSlopes(sum_of(gradients[2]), &p.k_norm, f);
  // The gradient of a bias is the sum of that of the rows.
  const void* draw = t.Put(gradients[0].values, Element::kF32);
  float* partial = t.Poisoned<float>(SlicesOf(p.rows) * p.Wide());
  float* dbias = t.Put(std::vector<float>(p.Wide()));
  t.api().sum_rows(t.context(), {p.rows, p.Wide(), p.Wide(), Element::kF32, draw, partial});
  t.api().add_partials(t.context(), {partial, SlicesOf(p.rows), p.Wide(), dbias});
  const std::vector<float> biases = t.Get(dbias, p.Wide());
  const int64_t q_size = p.heads * p.dim, kv_size = p.kv_heads * p.dim;
  ExpectSlopes(Slice(biases, 0, q_size), &p.q_bias, f);
  ExpectSlopes(Slice(biases, q_size, kv_size), &p.k_bias, f);
  ExpectSlopes(Slice(biases, q_size + kv_size, kv_size), &p.v_bias, f);
}

TEST_P(DeviceMeaning, AttentionGradientOnATreeEqualsFiniteDifferences) {
  AttentionProblem p{4, 2, 16, Element::kF32, Forest()};
  p.Fill(Rng(16));
  const std::vector<float> dout = RandomFloats(Rng(17), p.rows * p.heads * p.dim);
  DeviceTrial trial(api_);
  const std::vector<float> gradient = p.RunBackward(&trial, dout)[0].values;
  auto f = [&] {
    DeviceTrial t(api_);
    return Dot(p.Run(&t, p.Tiles())[0].values, dout);
  };
  ExpectSlopes(gradient, &p.qkv, f, 60);
  // The first keys and values have the most queries, of all branches.
  for (const int64_t i : {p.heads * p.dim, (p.heads + p.kv_heads) * p.dim + 3}) {
    const double slope = Slope(&p.qkv, static_cast<size_t>(i), f);
    EXPECT_NEAR(gradient[i], slope, 3e-3 * (1 + std::abs(slope)));
  }
}

TEST_P(DeviceMeaning, ScoreGradientEqualsFiniteDifferences) {
  ScoreProblem p{6, 23};
  p.Fill(Rng(18));
  const std::vector<float> dlogprob = RandomFloats(Rng(19), p.rows),
                           dentropy = RandomFloats(Rng(20), p.rows);
  auto f = [&] {
    DeviceTrial t(api_);
    const Outputs outputs = p.Run(&t);
    return Dot(outputs[0].values, dlogprob) + Dot(outputs[1].values, dentropy);
  };
  DeviceTrial trial(api_), other(api_);
  const std::vector<float> gradient =
      p.RunBackward(&trial, Element::kF32, dlogprob, dentropy)[0].values;
  ExpectSlopes(gradient, &p.logits, f, 200);
  // Of two rows, the later one first.
  const std::vector<float> two = p.RunBackward(&other, Element::kF32, {dlogprob[4], dlogprob[1]},
                                               {dentropy[4], dentropy[1]}, {4, 1})[0]
                                     .values;
  EXPECT_EQ(Slice(two, 0, p.vocab), Slice(gradient, 4 * p.vocab, p.vocab));
  EXPECT_EQ(Slice(two, p.vocab, p.vocab), Slice(gradient, p.vocab, p.vocab));
}

TEST_P(DeviceMeaning, InnerProductGradientEqualsFiniteDifferences) {
  constexpr int64_t kRows = 66, kWidth = 10;
  std::vector<float> hidden = RandomFloats(Rng(21), kRows * kWidth),
                     weight = RandomFloats(Rng(22), kWidth), dhidden, dweight;
  const std::vector<float> dvalues = RandomFloats(Rng(23), kRows);
  auto f = [&] {
    DeviceTrial t(api_);
    const void* at = t.Put(hidden, Element::kF32);
    const float *by = t.Put(weight), *d = t.Put(dvalues);
    float *values = t.Poisoned<float>(kRows), *to = t.Put(std::vector<float>(kRows * kWidth));
    float* partial = t.Poisoned<float>(SlicesOf(kRows) * kWidth);
    float* sum = t.Put(std::vector<float>(kWidth));
    const DeviceDots dots{kRows, kWidth, Element::kF32, at, by, values};
    t.api().row_dots(t.context(), dots);
    t.api().row_dots_backward(t.context(), {dots, d, to, partial});
    t.api().add_partials(t.context(), {partial, SlicesOf(kRows), kWidth, sum});
    dhidden = t.Get(to, kRows * kWidth);
    dweight = t.Get(sum, kWidth);
    return Dot(t.Get(values, kRows), dvalues);
  };
  f();
  ExpectSlopes(std::vector<float>(dhidden), &hidden, f);
  ExpectSlopes(std::vector<float>(dweight), &weight, f);
}

}  // namespace
}  // namespace hone
