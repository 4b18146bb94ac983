#include "engine/kernels/panel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/rng.h"
#include "engine/bfloat16.h"

namespace hone {
namespace {

struct Problem {
  int64_t rows, k;
  std::vector<float> a;         // [rows][k], bfloat16 values
  std::vector<float> b;         // [k][kLanes], bfloat16 values
  std::vector<uint32_t> pairs;  // the same, in pairs
};

Problem RandomProblem(Rng rng, int64_t rows, int64_t k) {
  Problem problem{rows, k, {}, {}, {}};
  for (int64_t i = 0; i < rows * k; ++i) {
    problem.a.push_back(RoundToBf16(static_cast<float>(rng.NextNormal())));
  }
  for (int64_t i = 0; i < k * kLanes; ++i) {
    problem.b.push_back(RoundToBf16(static_cast<float>(rng.NextNormal())));
  }
  problem.pairs.assign(static_cast<size_t>((k + 1) / 2 * kLanes), 0);
  for (int64_t i = 0; i < k; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto bits = static_cast<uint32_t>(Bf16OfFloat(problem.b[i * kLanes + lane]));
      problem.pairs[i / 2 * kLanes + lane] |= bits << (i % 2 == 0 ? 0 : 16);
    }
  }
  return problem;
}

std::vector<float> Compute(const PanelKernels& kernels, const Problem& p, bool bf16,
                           int64_t from = 0, int64_t count = -1) {
  const FloatMode mode;
  if (count < 0) count = p.rows;
  std::vector<float> out(static_cast<size_t>(count * kLanes), 0.5f);
  PanelArguments arguments{
      p.a.data() + from * p.k, p.k, 1, count, p.b.data(), kLanes, p.k, out.data(), kLanes, true};
  if (bf16) arguments.b = p.pairs.data();
  (bf16 ? kernels.bf16 : kernels.f32)(arguments);
  return out;
}

bool SameBits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

// Trap "one definition": every instruction set gives the bits of the plain loop.
TEST(Panel, EveryInstructionSetGivesTheSameBits) {
  Rng rng(1);
  for (const PanelKernels* kernels : {Avx2Kernels(), Avx512Kernels()}) {
    if (kernels == nullptr) continue;  // this processor does not have it
    for (const int64_t k : {1, 2, 31, 32, 33, 64, 100, 513}) {
      for (const int64_t rows : {1, 3, 8, 13}) {
        const Problem problem =
            RandomProblem(rng.Split(static_cast<uint64_t>(k * 100 + rows)), rows, k);
        for (const bool bf16 : {false, true}) {
          EXPECT_TRUE(
              SameBits(Compute(*kernels, problem, bf16), Compute(*PlainKernels(), problem, bf16)))
              << kernels->name << " k " << k << " rows " << rows << " bf16 " << bf16;
        }
      }
    }
  }
}

// Trap a: a row alone equals that row among others.
TEST(Panel, ARowDoesNotDependOnItsCompany) {
  const Problem problem = RandomProblem(Rng(2), 13, 200);
  for (const bool bf16 : {false, true}) {
    const std::vector<float> all = Compute(BestKernels(), problem, bf16);
    for (int64_t r = 0; r < problem.rows; ++r) {
      const std::vector<float> alone = Compute(BestKernels(), problem, bf16, r, 1);
      EXPECT_EQ(std::memcmp(alone.data(), all.data() + r * kLanes, sizeof(float) * kLanes), 0);
    }
  }
}

TEST(Panel, IsTheInnerProduct) {
  const Problem problem = RandomProblem(Rng(3), 4, 300);
  for (const bool bf16 : {false, true}) {
    const std::vector<float> out = Compute(BestKernels(), problem, bf16);
    for (int64_t r = 0; r < 4; ++r) {
      for (int lane = 0; lane < kLanes; ++lane) {
        double sum = 0.5;
        for (int64_t k = 0; k < 300; ++k) {
          sum += static_cast<double>(problem.a[r * 300 + k]) * problem.b[k * kLanes + lane];
        }
        EXPECT_NEAR(out[r * kLanes + lane], sum, 1e-4);
      }
    }
  }
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

}  // namespace
}  // namespace hone
