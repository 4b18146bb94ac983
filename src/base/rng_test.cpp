#include "base/rng.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace hone {
namespace {

using Block = std::array<uint32_t, 4>;

// Known-answer vectors of Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, MatchesTheVectorsOfRandom123) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, AStreamDependsOnItsPathAndNothingElse) {
  Rng run(7);
  Rng before = run.Split("task").Split(3);
  for (int i = 0; i < 100; ++i) run.NextU32();
  Rng after = run.Split("task").Split(3);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(before.NextU64(), after.NextU64());
}

TEST(Rng, LabelsIndicesOrderAndSeedsNameDifferentStreams) {
  std::set<uint64_t> first_draws;
  int streams = 0;
  auto add = [&](Rng rng) {
    first_draws.insert(rng.NextU64());
    ++streams;
  };
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng run(seed);
    add(run);
    add(run.Split("a").Split("b"));
    add(run.Split("b").Split("a"));
    add(run.Split("ab"));
    for (uint64_t i = 0; i < 50; ++i) {
      add(run.Split(i));
      add(run.Split(std::to_string(i)));
      add(run.Split("task").Split(i));
    }
  }
  EXPECT_EQ(first_draws.size(), static_cast<size_t>(streams));
}

// The streams are part of what a run is: this test fails when a change would silently alter every
// run ever recorded. The numbers are those of tests/golden/rng.py, an independent implementation.
TEST(Rng, TheStreamsAreFrozen) {
  Rng rng = Rng(2026).Split("run").Split("task").Split(17).Split("token").Split(120);
  const std::vector<uint64_t> draws = {rng.NextU64(), rng.NextU64(), rng.NextU64()};
  EXPECT_EQ(draws, (std::vector<uint64_t>{7177557670365817584u, 17420757686826271461u,
                                          15004075718917851682u}));
}

TEST(Rng, UniformDrawsFillTheUnitInterval) {
  Rng rng(1);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.NextDouble();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Rng, BelowIsUnbiased) {
  Rng rng(2);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts[rng.Below(7)];
  for (int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(Rng, NormalDrawsHaveMeanZeroAndVarianceOne) {
  Rng rng(3);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = rng.NextNormal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 100000, 0.0, 0.02);
  EXPECT_NEAR(squares / 100000, 1.0, 0.02);
  Rng frozen(4);
  EXPECT_DOUBLE_EQ(frozen.NextNormal(), 0.8898447937990288);  // tests/golden/rng.py
}

}  // namespace
}  // namespace hone
