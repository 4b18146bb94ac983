#include "engine/kernels/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "engine/bfloat16.h"
#include "engine/kernels/asked.h"
#include "engine/kernels/reduce.h"

namespace hone {
namespace {

struct Problem {
  int64_t rows, k, columns, panels;
  std::vector<float> a;         // [rows][k], bfloat16 values
  std::vector<float> b;         // [panels][k][kLanes], bfloat16 values
  std::vector<uint32_t> pairs;  // the same, in pairs
};

int64_t PairRows(int64_t k) { return (k + kBf16Block - 1) / kBf16Block * (kBf16Block / 2); }

Problem RandomProblem(Rng rng, int64_t rows, int64_t k, int64_t columns) {
  Problem p{rows, k, columns, (columns + kLanes - 1) / kLanes, {}, {}, {}};
  for (int64_t i = 0; i < rows * k; ++i) {
    p.a.push_back(RoundToBf16(static_cast<float>(rng.NextNormal())));
  }
  for (int64_t i = 0; i < p.panels * k * kLanes; ++i) {
    p.b.push_back(RoundToBf16(static_cast<float>(rng.NextNormal())));
  }
  p.pairs.assign(static_cast<size_t>(p.panels * PairRows(k) * kLanes), 0);
  for (int64_t panel = 0; panel < p.panels; ++panel) {
    for (int64_t i = 0; i < k; ++i) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto bits = static_cast<uint32_t>(Bf16OfFloat(p.b[(panel * k + i) * kLanes + lane]));
        p.pairs[(panel * PairRows(k) + i / 2) * kLanes + lane] |= bits << (i % 2 == 0 ? 0 : 16);
      }
    }
  }
  return p;
}

std::vector<float> Compute(const Kernels& kernels, const Problem& p, bool bf16, bool accumulate,
                           int64_t from = 0, int64_t count = -1) {
  const FloatMode mode;
  if (count < 0) count = p.rows;
  std::vector<float> out(static_cast<size_t>(count * p.columns), 0.5f);
  Product product;
  product.a = p.a.data() + from * p.k;
  product.a_row = p.k;
  product.rows = count;
  product.b = bf16 ? static_cast<const void*>(p.pairs.data()) : p.b.data();
  product.b_panel = (bf16 ? PairRows(p.k) : p.k) * kLanes;
  product.k = p.k;
  product.columns = p.columns;
  product.out = out.data();
  product.out_row = p.columns;
  product.accumulate = accumulate;
  (bf16 ? kernels.product_bf16 : kernels.product_f32)(product);
  return out;
}

bool SameBits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

// "One definition": every instruction set gives the bits of the plain loop.
TEST(Product, EveryInstructionSetGivesTheSameBits) {
  Rng rng(1);
  for (const Kernels* kernels : AvailableKernels()) {
    for (const int64_t k : {0, 1, 2, 31, 32, 33, 64, 100, 513, 1100}) {
      for (const int64_t rows : {1, 3, 8, 13, 37}) {
        for (const int64_t columns : {1, 16, 17, 40, 129}) {
          const Problem problem =
              RandomProblem(rng.Split(static_cast<uint64_t>((k * 100 + rows) * 1000 + columns)),
                            rows, k, columns);
          for (const bool bf16 : {false, true}) {
            for (const bool accumulate : {false, true}) {
              EXPECT_TRUE(SameBits(Compute(*kernels, problem, bf16, accumulate),
                                   Compute(*PlainKernels(), problem, bf16, accumulate)))
                  << kernels->name << " k " << k << " rows " << rows << " columns " << columns
                  << " bf16 " << bf16;
            }
          }
        }
      }
    }
  }
}

// Trap a: a row alone equals that row among others.
TEST(Product, ARowDoesNotDependOnItsCompany) {
  const Problem p = RandomProblem(Rng(2), 37, 200, 70);
  for (const Kernels* kernels : AvailableKernels()) {
    for (const bool bf16 : {false, true}) {
      const std::vector<float> all = Compute(*kernels, p, bf16, true);
      for (int64_t r = 0; r < p.rows; ++r) {
        const std::vector<float> alone = Compute(*kernels, p, bf16, true, r, 1);
        EXPECT_EQ(std::memcmp(alone.data(), all.data() + r * p.columns,
                              sizeof(float) * static_cast<size_t>(p.columns)),
                  0);
      }
    }
  }
}

TEST(Product, IsTheInnerProduct) {
  const Problem p = RandomProblem(Rng(3), 4, 300, 20);
  for (const bool bf16 : {false, true}) {
    const std::vector<float> out = Compute(BestKernels(), p, bf16, true);
    for (int64_t r = 0; r < 4; ++r) {
      for (int64_t c = 0; c < p.columns; ++c) {
        double sum = 0.5;
        for (int64_t k = 0; k < p.k; ++k) {
          sum += static_cast<double>(p.a[r * p.k + k]) *
                 p.b[(c / kLanes * p.k + k) * kLanes + c % kLanes];
        }
        EXPECT_NEAR(out[r * p.columns + c], sum, 1e-4);
      }
    }
  }
}

std::vector<float> Random(uint64_t seed, size_t count, double scale = 1) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(scale * rng.NextNormal());
  return values;
}

// Everything a table's row kernels compute on some inputs, one result after the other.
std::vector<float> AllRowKernels(const Kernels& k, size_t n) {
  const FloatMode mode;
  const auto size = static_cast<int64_t>(n);
  std::vector<float> out;
  auto keep = [&](const std::vector<float>& values) {
    out.insert(out.end(), values.begin(), values.end());
  };
  const auto x = Random(1, n), y = Random(2, n), z = Random(3, n), w = Random(4, n);
  std::vector<float> r = x, s = y, t = z;
  r[0] = std::numeric_limits<float>::quiet_NaN();
  k.round_bf16(r.data(), size);
  keep(r);
  const auto matrix = Random(10, n * 20);  // 16 columns of rows of 20
  std::vector<uint32_t> pairs(static_cast<size_t>(PairRows(size) * kLanes));
  k.pack_panel_bf16(matrix.data(), 20, size, pairs.data());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const size_t row = i / kLanes * 2, column = i % kLanes;
    auto half = [&](size_t at) {
      return at < n ? static_cast<uint32_t>(Bf16OfFloat(matrix[at * 20 + column])) : 0u;
    };
    EXPECT_EQ(pairs[i], half(row) | half(row + 1) << 16);
  }
  // The same panel from columns whose k lie side by side; the last of them are missing.
  constexpr int64_t kPresent = 13;
  std::vector<float> columns(n * 20);
  k.transpose({matrix.data(), 20, size, 20}, columns.data(), size);
  for (size_t i = 0; i < columns.size(); ++i) EXPECT_EQ(columns[i], matrix[i % n * 20 + i / n]);
  std::vector<uint32_t> of_columns(pairs.size(), 7);
  k.pack_columns_bf16(columns.data(), size, kPresent, size, of_columns.data());
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(of_columns[i], i % kLanes < kPresent ? pairs[i] : 0u);
  }
  k.add(x.data(), size, s.data());
  k.add_scaled(w.data(), 0.3f, size, s.data());
  keep(s);
  out.push_back(k.dot(x.data(), y.data(), size));
  out.push_back(k.rms_norm(x.data(), w.data(), size, 1e-6f, r.data()));
  keep(r);
  k.rms_norm_backward(x.data(), w.data(), 0.7f, y.data(), size, s.data(), t.data());
  keep(s), keep(t);
  k.swiglu(x.data(), y.data(), size, r.data());
  k.swiglu_backward(x.data(), y.data(), z.data(), size, {s.data(), t.data()});
  keep(r), keep(s), keep(t);
  k.geglu(x.data(), y.data(), size, r.data());
  k.geglu_backward(x.data(), y.data(), z.data(), size, {s.data(), t.data()});
  keep(r), keep(s), keep(t);
  k.clamped_glu(x.data(), y.data(), size, r.data());
  k.clamped_glu_backward(x.data(), y.data(), z.data(), size, {s.data(), t.data()});
  keep(r), keep(s), keep(t);
  r = x, s = z;
  k.soft_cap(1.5f, size, r.data());
  k.soft_cap_backward(r.data(), 1.5f, size, s.data());
  keep(r), keep(s);
  k.gelu(x.data(), size, r.data());
  keep(r);
  if (n % 2 == 0) {
    r = x;
    k.rotate(y.data(), z.data(), -1.0f, size / 2, r.data());
    keep(r);
  }
  const auto logits = Random(5, n, 20);
  out.push_back(k.largest(logits.data(), size, 1.3f));
  out.push_back(k.exp_sum(logits.data(), size, 1.3f, 9.0f));
  out.push_back(k.entropy(logits.data(), size, 1.3f, 10.0f));
  k.probabilities(logits.data(), size, 1.3f, 10.0f, r.data());
  k.distribution_backward(logits.data(), size, 1.3f, 10.0f, 0.4f, 0.5f, 0.6f, s.data());
  keep(r), keep(s);
  std::vector<float> value = x, first = y, second = z;
  for (float& v : second) v = std::abs(v);
  k.adamw({0.5f, 0.9f, 0.1f, 0.99f, 0.01f, 1e-2f, 1.5f, 1e-8f, 0.999f}, w.data(), size,
          value.data(), first.data(), second.data());
  keep(value), keep(first), keep(second);
  const std::vector<SeenKeys> seen = {{0, 1}, {0, 31}, {5, 32}, {9, 16}, {32, 32}};
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> scores = Random(6, 5 * kKeyBlock, 3),
                     top = {-infinity, -infinity, 1, 2, -infinity}, sum = {0, 0, 2, 3, 0},
                     shrink(5), more = Random(7, 5 * n), sums = Random(8, 5 * n);
  k.softmax_block(scores.data(), 5, seen.data(), 0.3f, n % 2 == 0, top.data(), sum.data(),
                  shrink.data());
  keep(scores), keep(top), keep(sum), keep(shrink);
  k.rescale_add(more.data(), size, shrink.data(), 5, size, sums.data(), size);
  keep(sums);
  std::vector<float> dp = Random(9, 5 * kKeyBlock);
  scores = Random(6, 5 * kKeyBlock, 3);
  const std::vector<float> lse = {1, 2, 3, 4, 5}, inner = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f};
  k.softmax_block_backward(scores.data(), dp.data(), 5, seen.data(), 0.3f, lse.data(),
                           inner.data());
  keep(scores), keep(dp);
  return out;
}

TEST(RowKernels, EveryInstructionSetGivesTheSameBits) {
  for (const size_t n : {1, 2, 7, 16, 30, 33, 64, 100, 1027}) {
    const std::vector<float> reference = AllRowKernels(*PlainKernels(), n);
    for (const Kernels* kernels : AvailableKernels()) {
      EXPECT_TRUE(SameBits(AllRowKernels(*kernels, n), reference)) << kernels->name << " " << n;
    }
  }
}

TEST(RowKernels, SumsAndExponentialsAreThoseOfTheDefinition) {
  const auto x = Random(1, 77), y = Random(2, 77);
  for (const Kernels* kernels : AvailableKernels()) {
    const FloatMode mode;
    EXPECT_EQ(kernels->dot(x.data(), y.data(), 77),
              StridedSum(77, [&](int64_t i) { return x[i] * y[i]; }));
    EXPECT_EQ(kernels->exp_sum(x.data(), 77, 1, 2),
              StridedSum(77, [&](int64_t i) { return ExpF32(x[i] * 1.0f - 2.0f); }));
    std::vector<float> rounded = x;
    kernels->round_bf16(rounded.data(), 77);
    for (size_t i = 0; i < 77; ++i) EXPECT_EQ(rounded[i], RoundToBf16(x[i]));
  }
}

TEST(RowKernels, GeluIsTheNumberTimesTheNormalMassBelowIt) {
  std::vector<float> x, y;
  for (int i = -12000; i <= 12000; ++i) x.push_back(static_cast<float>(i) * 0.00117f);
  y.resize(x.size());
  const FloatMode mode;
  BestKernels().gelu(x.data(), static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = x[i] * 0.5 * std::erfc(-static_cast<double>(x[i]) / std::sqrt(2.0));
    EXPECT_NEAR(y[i], exact, 1.2e-7 * std::max(1.0, std::abs(static_cast<double>(x[i]))));
  }
}

// The derivative of f with respect to values[i], numerically.
double Slope(std::vector<float>* values, size_t i, const std::function<double()>& f) {
  constexpr float kStep = 1e-2f;
  const float at = (*values)[i];
  (*values)[i] = at + kStep;
  const double up = f();
  (*values)[i] = at - kStep;
  const double down = f();
  (*values)[i] = at;
  return (up - down) / (2.0 * kStep);
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST(RowKernels, RmsNormGradientEqualsFiniteDifferences) {
  constexpr size_t kSize = 21;
  const Kernels& k = BestKernels();
  std::vector<float> x = Random(1, kSize), weight = Random(2, kSize), y(kSize), dx(kSize),
                     dweight(kSize);
  const std::vector<float> dy = Random(3, kSize);
  auto f = [&] {
    k.rms_norm(x.data(), weight.data(), kSize, 1e-5f, y.data());
    return Dot(y, dy);
  };
  const float scale = k.rms_norm(x.data(), weight.data(), kSize, 1e-5f, y.data());
  k.rms_norm_backward(x.data(), weight.data(), scale, dy.data(), kSize, dx.data(), dweight.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_NEAR(dx[i], Slope(&x, i, f), 2e-3);
    EXPECT_NEAR(dweight[i], Slope(&weight, i, f), 2e-3);
  }
}

TEST(RowKernels, GradientsOfGatesEqualFiniteDifferences) {
  constexpr size_t kSize = 19;
  const Kernels& k = BestKernels();
  for (const auto& [forward, backward] :
       {std::pair(k.swiglu, k.swiglu_backward), std::pair(k.geglu, k.geglu_backward),
        std::pair(k.clamped_glu, k.clamped_glu_backward)}) {
    std::vector<float> gate = Random(4, kSize), up = Random(5, kSize), y(kSize), dgate(kSize),
                       dup(kSize);
    gate[0] = 9, up[1] = 8, up[2] = -9;  // where gpt-oss clamps
    const std::vector<float> dy = Random(6, kSize);
    auto f = [&] {
      forward(gate.data(), up.data(), kSize, y.data());
      return Dot(y, dy);
    };
    backward(gate.data(), up.data(), dy.data(), kSize, {dgate.data(), dup.data()});
    for (size_t i = 0; i < kSize; ++i) {
      EXPECT_NEAR(dgate[i], Slope(&gate, i, f), 4e-3);
      EXPECT_NEAR(dup[i], Slope(&up, i, f), 4e-3);
    }
  }
}

TEST(RowKernels, ASoftCapIsAHyperbolicTangentAndItsGradientEqualsFiniteDifferences) {
  constexpr size_t kSize = 19;
  const Kernels& k = BestKernels();
  std::vector<float> x = Random(7, kSize), y;
  std::vector<float> d = Random(8, kSize);
  const std::vector<float> dy = d;
  auto f = [&] {
    y = x;
    k.soft_cap(1.5f, kSize, y.data());
    return Dot(y, dy);
  };
  f();
  for (size_t i = 0; i < kSize; ++i) EXPECT_NEAR(y[i], 1.5 * std::tanh(x[i] / 1.5), 1e-6);
  k.soft_cap_backward(y.data(), 1.5f, kSize, d.data());
  for (size_t i = 0; i < kSize; ++i) EXPECT_NEAR(d[i], Slope(&x, i, f), 2e-3);
}

// Trap f: without the float mode, tiny numbers would survive on one path and vanish on another.
TEST(FloatMode, TinyNumbersAreZeroAndTheOldModeComesBack) {
  volatile float tiny = 1e-39f, one = 1;
  EXPECT_NE(tiny * one, 0.0f);
  {
    const FloatMode mode;
    EXPECT_EQ(tiny * one, 0.0f);
  }
  EXPECT_NE(tiny * one, 0.0f);
}

TEST(Kernels, AskingForUnknownOnesIsAnErrorThatNamesThoseThereAre) {
  const char* before = std::getenv("HONE_ISA");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("HONE_ISA", "plain", 1);
  EXPECT_TRUE(CheckAskedKernels().ok());
  ::setenv("HONE_ISA", "bogus", 1);
  const Result<void> bogus = CheckAskedKernels();
  ASSERT_FALSE(bogus.ok());
  EXPECT_NE(bogus.error().message().find("HONE_ISA=bogus: this processor has "), std::string::npos);
  EXPECT_NE(bogus.error().message().find("plain"), std::string::npos);
  ::unsetenv("HONE_ISA");
  EXPECT_TRUE(CheckAskedKernels().ok());
  if (before != nullptr) ::setenv("HONE_ISA", kept.c_str(), 1);
}

}  // namespace
}  // namespace hone
