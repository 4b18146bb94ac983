#include "base/rng.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/exact_math.h"
#include "base/hash.h"

namespace hone {
namespace {

// Kinds of names, mixed into the key so that Split("3") and Split(3) differ.
constexpr uint32_t kSeedKind = 0x5EED0001;
constexpr uint32_t kLabelKind = 0x1ABE1002;
constexpr uint32_t kIndexKind = 0x1DE80003;

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

}  // namespace

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * counter[0];
    const uint64_t product1 = kMultiplier1 * counter[2];
    counter = {High(product1) ^ counter[1] ^ key[0], Low(product1),
               High(product0) ^ counter[3] ^ key[1], Low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

Rng::Rng(uint64_t seed) {
  const auto name = Philox4x32({Low(seed), High(seed), 0, 0}, {kSeedKind, 0});
  key_ = {name[0], name[1]};
  lane_ = {name[2], name[3]};
}

Rng Rng::Child(uint64_t name, uint32_t kind) const {
  // The child's 128-bit name is one Philox block keyed by the parent, so it depends on all of both.
  const auto words =
      Philox4x32({Low(name), High(name), lane_[0], lane_[1]}, {key_[0] ^ kind, key_[1]});
  Rng child(0);
  child.key_ = {words[0], words[1]};
  child.lane_ = {words[2], words[3]};
  return child;
}

Rng Rng::Split(std::string_view label) const { return Child(Hash64(label), kLabelKind); }
Rng Rng::Split(uint64_t index) const { return Child(index, kIndexKind); }

uint32_t Rng::NextU32() {
  if (used_ == 4) {
    buffer_ = Philox4x32({Low(block_), High(block_), lane_[0], lane_[1]}, key_);
    ++block_;
    used_ = 0;
  }
  return buffer_[used_++];
}

uint64_t Rng::NextU64() {
  const uint64_t low = NextU32();
  return low | (static_cast<uint64_t>(NextU32()) << 32);
}

double Rng::NextDouble() { return static_cast<double>(NextU64() >> 11) * 0x1p-53; }

uint64_t Rng::Below(uint64_t bound) {
  CHECK(bound > 0);
  // Draws above the largest multiple of bound would favour small results; they are drawn again.
  const uint64_t reject_below = (0 - bound) % bound;
  while (true) {
    const uint64_t draw = NextU64();
    if (draw >= reject_below) return draw % bound;
  }
}

double Rng::NextNormal() {
  // Marsaglia's polar method: a point in the unit disc, stretched.
  while (true) {
    const double x = 2 * NextDouble() - 1, y = 2 * NextDouble() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * NaturalLog(square) / square);
  }
}

std::vector<size_t> Shuffled(size_t count, Rng rng) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  return order;
}

}  // namespace hone
