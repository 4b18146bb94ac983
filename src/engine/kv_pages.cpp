#include "engine/kv_pages.h"

#include <algorithm>
#include <cstring>

#include "engine/bfloat16.h"

namespace hone {
namespace {

// The pairs of a bf16 panel.
uint32_t* PairsOf(float* panel) { return reinterpret_cast<uint32_t*>(panel); }
const uint32_t* PairsOf(const float* panel) { return reinterpret_cast<const uint32_t*>(panel); }
uint32_t Pair(Bf16 low, Bf16 high) { return low | static_cast<uint32_t>(high) << 16; }
Bf16 Low(uint32_t pair) { return static_cast<Bf16>(pair); }
Bf16 High(uint32_t pair) { return static_cast<Bf16>(pair >> 16); }

}  // namespace

KvPages::KvPages(const ModelConfig& config, Precision precision, int64_t max_pages)
    : PagePool(kKeyBlock, max_pages),
      layers_(config.layers),
      kv_heads_(config.kv_heads),
      head_dim_(config.head_dim),
      precision_(precision) {
  const bool bf16 = precision == Precision::kBf16;
  // Keys: kKeyBlock columns over head_dim. Values: head_dim columns over kKeyBlock.
  key_floats_ = bf16 ? RoundUp(head_dim_, kBf16Block) / 2 * kKeyBlock : head_dim_ * kKeyBlock;
  value_floats_ = RoundUp(head_dim_, kLanes) * (bf16 ? kKeyBlock / 2 : kKeyBlock);
  page_floats_ = layers_ * kv_heads_ * (key_floats_ + value_floats_);
}

void KvPages::Prepare(PageId page) {
  if (memory_.size() <= static_cast<size_t>(page)) memory_.resize(static_cast<size_t>(page) + 1);
  memory_[static_cast<size_t>(page)].assign(static_cast<size_t>(page_floats_), 0.0f);
}

const float* KvPages::At(PageId page, int64_t layer, int64_t kv_head) const {
  return memory_[static_cast<size_t>(page)].data() +
         (layer * kv_heads_ + kv_head) * (key_floats_ + value_floats_);
}

Product KvPages::Keys(PageId page, int64_t layer, int64_t kv_head) const {
  Product product;
  product.b = At(page, layer, kv_head);
  product.b_panel = key_floats_ * kLanes / kKeyBlock;
  product.k = head_dim_;
  product.columns = kKeyBlock;
  return product;
}

Product KvPages::Values(PageId page, int64_t layer, int64_t kv_head) const {
  Product product;
  product.b = At(page, layer, kv_head) + key_floats_;
  product.b_panel = (precision_ == Precision::kBf16 ? kKeyBlock / 2 : kKeyBlock) * kLanes;
  product.k = kKeyBlock;
  product.columns = head_dim_;
  return product;
}

void KvPages::Write(const Place& place, const float* key, const float* value) {
  const int64_t slot = place.slot;
  float* keys = At(place.page, place.layer, place.kv_head);
  float* values = keys + key_floats_;
  float* key_panel = keys + slot / kLanes * (key_floats_ * kLanes / kKeyBlock);
  const int64_t lane = slot % kLanes;
  if (precision_ == Precision::kF32) {
    for (int64_t d = 0; d < head_dim_; ++d) {
      key_panel[d * kLanes + lane] = key[d];
      values[(d / kLanes * kKeyBlock + slot) * kLanes + d % kLanes] = value[d];
    }
    return;
  }
  const int64_t pair_rows = head_dim_ / 2;
  uint32_t* key_pairs = PairsOf(key_panel) + lane;
  for (int64_t d = 0; d < pair_rows; ++d) {
    key_pairs[d * kLanes] = Pair(Bf16OfFloat(key[2 * d]), Bf16OfFloat(key[2 * d + 1]));
  }
  if (head_dim_ % 2 != 0) key_pairs[pair_rows * kLanes] = Bf16OfFloat(key[head_dim_ - 1]);
  const bool late = slot % 2 != 0;  // the high half of its pair
  for (int64_t first = 0; first < head_dim_; first += kLanes) {
    uint32_t* pairs = PairsOf(values) + (first * (kKeyBlock / 2) + slot / 2 * kLanes);
    const int64_t wide = std::min<int64_t>(kLanes, head_dim_ - first);
    for (int64_t i = 0; i < wide; ++i) {
      const Bf16 half = Bf16OfFloat(value[first + i]);
      pairs[i] = late ? Pair(Low(pairs[i]), half) : Pair(half, High(pairs[i]));
    }
  }
}

void KvPages::Read(PageId page, int64_t layer, int64_t kv_head, float* keys, float* values) const {
  const float* from = At(page, layer, kv_head);
  const float* from_values = from + key_floats_;
  const int64_t key_panel_floats = key_floats_ * kLanes / kKeyBlock;
  if (precision_ == Precision::kF32) {
    for (int64_t slot = 0; slot < kKeyBlock; ++slot) {
      const float* key_panel = from + slot / kLanes * key_panel_floats;
      for (int64_t d = 0; d < head_dim_; ++d) {
        keys[slot * head_dim_ + d] = key_panel[d * kLanes + slot % kLanes];
        values[slot * head_dim_ + d] =
            from_values[(d / kLanes * kKeyBlock + slot) * kLanes + d % kLanes];
      }
    }
    return;
  }
  for (int64_t slot = 0; slot < kKeyBlock; ++slot) {
    const uint32_t* pairs = PairsOf(from + slot / kLanes * key_panel_floats) + slot % kLanes;
    float* key = keys + slot * head_dim_;
    for (int64_t d = 0; d < head_dim_ / 2; ++d) {
      key[2 * d] = FloatOfBf16(Low(pairs[d * kLanes]));
      key[2 * d + 1] = FloatOfBf16(High(pairs[d * kLanes]));
    }
    if (head_dim_ % 2 != 0) key[head_dim_ - 1] = FloatOfBf16(Low(pairs[head_dim_ / 2 * kLanes]));
  }
  for (int64_t first = 0; first < head_dim_; first += kLanes) {
    const int64_t wide = std::min<int64_t>(kLanes, head_dim_ - first);
    for (int64_t slot = 0; slot < kKeyBlock; slot += 2) {
      const uint32_t* pairs = PairsOf(from_values) + first * (kKeyBlock / 2) + slot / 2 * kLanes;
      float* value = values + slot * head_dim_ + first;
      for (int64_t i = 0; i < wide; ++i) {
        value[i] = FloatOfBf16(Low(pairs[i]));
        value[head_dim_ + i] = FloatOfBf16(High(pairs[i]));
      }
    }
  }
}

void KvPages::CopyHead(PageId from, PageId to, int64_t layer, int64_t kv_head) {
  std::copy_n(At(from, layer, kv_head), key_floats_ + value_floats_, At(to, layer, kv_head));
}

void KvPages::CopyPage(PageId from, PageId to) {
  std::copy_n(At(from, 0, 0), page_floats_, At(to, 0, 0));
}

void KvPages::ClearFrom(PageId page, int64_t slot) {
  const bool bf16 = precision_ == Precision::kBf16;
  const int64_t key_panel = key_floats_ * kLanes / kKeyBlock;
  const int64_t value_rows = bf16 ? kKeyBlock / 2 : kKeyBlock;
  for (int64_t part = 0; part < layers_ * kv_heads_; ++part) {
    float* keys = At(page, part / kv_heads_, part % kv_heads_);
    for (int64_t panel = 0; panel < kKeyBlock / kLanes; ++panel) {  // lanes are positions
      const int64_t lane = std::clamp<int64_t>(slot - panel * kLanes, 0, kLanes);
      for (float* row = keys + panel * key_panel; row < keys + (panel + 1) * key_panel;
           row += kLanes) {
        std::fill(row + lane, row + kLanes, 0.0f);
      }
    }
    float* values = keys + key_floats_;
    for (float* panel = values; panel < values + value_floats_; panel += value_rows * kLanes) {
      if (bf16 && slot % 2 == 1) {  // rows are pairs of positions
        uint32_t* pairs = PairsOf(panel) + slot / 2 * kLanes;
        for (int64_t lane = 0; lane < kLanes; ++lane) pairs[lane] = Pair(Low(pairs[lane]), 0);
      }
      std::fill(panel + (bf16 ? (slot + 1) / 2 : slot) * kLanes, panel + value_rows * kLanes, 0.0f);
    }
  }
}

}  // namespace hone
