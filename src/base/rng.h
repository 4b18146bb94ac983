#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hone {

// One block of Philox4x32-10 (Salmon et al., 2011), as Random123 defines it: a pure function of a
// 128-bit counter and a 64-bit key.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// A counter-based stream of random numbers.
//
// A stream is named by a seed and a path of labels and indices, and its n-th draw is a pure
// function of that name and n:
//
//   Rng run(seed);
//   Rng token = run.Split("task").Split(17).Split("sample").Split(3).Split("token").Split(120);
//   double u = token.NextDouble();
//
// So a draw never depends on which thread asked, what was drawn elsewhere, or in what order.
// Values are cheap to copy; a copy continues independently. Not synchronised.
class Rng {
 public:
  explicit Rng(uint64_t seed);

  // The sub-stream of this stream's name, independent of how much was drawn from it. A label and an
  // index never name the same sub-stream.
  Rng Split(std::string_view label) const;
  Rng Split(uint64_t index) const;

  uint32_t NextU32();
  uint64_t NextU64();
  // Uniform in [0, 1) with 53 random bits.
  double NextDouble();
  // Uniform in [0, bound), without bias. bound > 0.
  uint64_t Below(uint64_t bound);
  // Standard normal, the same bits everywhere.
  double NextNormal();

 private:
  Rng Child(uint64_t name, uint32_t kind) const;

  std::array<uint32_t, 2> key_;   // the stream's name, first half
  std::array<uint32_t, 2> lane_;  // the stream's name, second half: the high words of the counter
  uint64_t block_ = 0;            // the low words of the counter
  std::array<uint32_t, 4> buffer_{};
  int used_ = 4;  // words of buffer_ already handed out
};

// 0 .. count - 1 in a random order.
std::vector<size_t> Shuffled(size_t count, Rng rng);

}  // namespace hone
