#include "base/hashing/sha256_blocks.h"

#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace hone {
namespace {

alignas(16) constexpr std::array<uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void Sha256Block(const uint8_t* block, Sha256State& state) {
  std::array<uint32_t, 64> w;
  for (int i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
           uint32_t{block[4 * i + 2]} << 8 | uint32_t{block[4 * i + 3]};
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += sum[i];
}

#if defined(__x86_64__)

// Four rounds at a time. The instructions want the state's eight words as A B E F and C D G H.
__attribute__((target("sha,sse4.1"))) void Sha256BlocksX86(const uint8_t* data, size_t blocks,
                                                           Sha256State* state) {
  const auto at = [](auto* place) { return reinterpret_cast<__m128i*>(place); };
  const auto from = [](const auto* place) { return reinterpret_cast<const __m128i*>(place); };
  const __m128i bytes = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);  // big-endian
  const __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(from(state->data())), 0xb1);
  const __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(from(state->data() + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
  for (; blocks > 0; --blocks, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (int i = 0; i < 4; ++i) {
      words[i] = _mm_shuffle_epi8(_mm_loadu_si128(from(data + 16 * i)), bytes);
    }
    for (int i = 0; i < 16; ++i) {
      __m128i& here = words[i % 4];
      const __m128i last = words[(i + 3) % 4];
      const __m128i sum = _mm_add_epi32(here, _mm_load_si128(from(kRoundConstants.data() + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      if (i >= 12) continue;  // the words of four rounds later
      const __m128i seven_before = _mm_alignr_epi8(last, words[(i + 2) % 4], 4);
      here = _mm_add_epi32(_mm_sha256msg1_epu32(here, words[(i + 1) % 4]), seven_before);
      here = _mm_sha256msg2_epu32(here, last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(at(state->data()), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(at(state->data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

// __builtin_cpu_supports("sha") is not known to clang 14.
bool HasShaInstructions() {
  constexpr unsigned kLeaf = 7, kShaBit = 1u << 29;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kLeaf, 0, &a, &b, &c, &d) != 0 && (b & kShaBit) != 0;
}

#endif

}  // namespace

void Sha256BlocksPlain(const uint8_t* data, size_t blocks, Sha256State* state) {
  for (size_t i = 0; i < blocks; ++i) Sha256Block(data + 64 * i, *state);
}

Sha256Blocks Sha256BlocksOfProcessor() {
#if defined(__x86_64__)
  if (HasShaInstructions() && __builtin_cpu_supports("sse4.1")) return Sha256BlocksX86;
#endif
  return nullptr;
}

}  // namespace hone
