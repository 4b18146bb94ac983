#include "engine/kv_pages.h"

#include <gtest/gtest.h>

#include "engine/bfloat16.h"

namespace hone {
namespace {

ModelConfig Config() {
  ModelConfig config;
  config.layers = 2;
  config.heads = config.kv_heads = 2;
  config.head_dim = 24;
  return config;
}

float ValueOf(int64_t position, int64_t layer, int64_t head, int64_t d, bool key) {
  return RoundToBf16(static_cast<float>(position * 100 + layer * 10 + head) +
                     static_cast<float>(d) / 32 + (key ? 0.0f : 0.5f));
}

void WriteAll(KvPages* pages, const KvSequence& sequence, int64_t from) {
  for (int64_t p = from; p < sequence.length(); ++p) {
    for (int64_t layer = 0; layer < 2; ++layer) {
      for (int64_t head = 0; head < 2; ++head) {
        float key[24], value[24];
        for (int64_t d = 0; d < 24; ++d) {
          key[d] = ValueOf(p, layer, head, d, true);
          value[d] = ValueOf(p, layer, head, d, false);
        }
        pages->Write(
            {sequence.table()[static_cast<size_t>(p / kKeyBlock)], p % kKeyBlock, layer, head}, key,
            value);
      }
    }
  }
}

// The first `length` positions are as written, everything behind them is zero.
void ExpectHolds(const KvPages& pages, const KvSequence& sequence, int64_t length) {
  for (size_t page = 0; page < sequence.table().size(); ++page) {
    for (int64_t layer = 0; layer < 2; ++layer) {
      for (int64_t head = 0; head < 2; ++head) {
        float keys[kKeyBlock * 24], values[kKeyBlock * 24];
        pages.Read(sequence.table()[page], layer, head, keys, values);
        for (int64_t slot = 0; slot < kKeyBlock; ++slot) {
          const int64_t position = static_cast<int64_t>(page) * kKeyBlock + slot;
          for (int64_t d = 0; d < 24; ++d) {
            const bool written = position < length;
            ASSERT_EQ(keys[slot * 24 + d], written ? ValueOf(position, layer, head, d, true) : 0);
            ASSERT_EQ(values[slot * 24 + d],
                      written ? ValueOf(position, layer, head, d, false) : 0);
          }
        }
      }
    }
  }
}

TEST(KvPages, HoldWhatWasWrittenAndZerosBehind) {
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    KvPages pages(Config(), precision);
    KvSequence sequence(&pages);
    ASSERT_TRUE(sequence.Extend(45));
    WriteAll(&pages, sequence, 0);
    ExpectHolds(pages, sequence, 45);
    // Forks at every kind of place: whole pages are shared, the rest is copied and cleared.
    for (const int64_t length : {1, 15, 16, 17, 31, 32, 33, 44, 45}) {
      const auto fork = sequence.Fork(length);
      ASSERT_TRUE(fork.has_value());
      ExpectHolds(pages, *fork, length);
      if (length >= 32) {
        EXPECT_EQ(fork->table()[0], sequence.table()[0]);
      }
    }
    EXPECT_EQ(pages.in_use(), 2) << "forks gave their pages back";
  }
}

TEST(KvPages, AreNeverMoreThanAllowed) {
  KvPages pages(Config(), Precision::kBf16, 3);
  KvSequence a(&pages), b(&pages);
  EXPECT_TRUE(a.Extend(64));
  EXPECT_FALSE(b.Extend(33));
  EXPECT_EQ(b.length(), 0);
  EXPECT_EQ(pages.in_use(), 2) << "what was taken for it is given back";
  EXPECT_TRUE(b.Extend(32));
  EXPECT_FALSE(a.Fork(40).has_value());
  a.Clear();
  EXPECT_TRUE(b.Extend(64));
  EXPECT_EQ(pages.in_use(), 3);
}

}  // namespace
}  // namespace hone
