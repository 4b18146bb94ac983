// Compiled for AVX-512 with its bfloat16 dot product; called only where the processor has both.
//
// VDPBF16PS adds two products to a sum, one after the other, the pair's high half first, each with
// one rounding: two steps of a chain of fused multiply-adds. Our chains run over the even and over
// the odd k, so a pair holds k and k + 2, the earlier one in the high half: half the instructions,
// the same bits. (The pairs of memory hold k and k + 1, which is another sum.)

#include "engine/kernels/cpu/avx512_tiles.inc"
#include "engine/kernels/cpu/row_kernels.inc"

namespace hone {
namespace {

constexpr int64_t kLeftRows = 288, kLeftK = 512;  // of the left operand at a time: 288 KiB

__m512 AddPair(__m512 sum, __m512i left, __m512i right) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(left), reinterpret_cast<__m512bh>(right));
}

// The upper halves of `high`, the lower ones of `low`.
__m512i Join(__m512i high, __m512i low) {
  constexpr int kFirstWhereMaskElseSecond = 0xCA;
  return _mm512_ternarylogic_epi32(_mm512_set1_epi32(static_cast<int>(0xFFFF0000)), high, low,
                                   kFirstWhereMaskElseSecond);
}

// 32 values of a row as 16 words, two for each four k: (k, k + 2) and (k + 1, k + 3). They are
// bfloat16 already, so taking the upper halves is exact.
void PackBlock(const float* a, int64_t wide, uint32_t* words) {
  const auto first_mask = static_cast<__mmask16>(wide >= 16 ? 0xFFFF : (1u << wide) - 1);
  const auto second_mask = static_cast<__mmask16>(wide >= 32  ? 0xFFFF
                                                  : wide > 16 ? (1u << (wide - 16)) - 1
                                                              : 0);
  __m512i halves[2] = {_mm512_maskz_loadu_epi32(first_mask, a),
                       _mm512_maskz_loadu_epi32(second_mask, a + 16)};
  for (__m512i& half : halves) {
    const __m512i two_later = _mm512_shuffle_epi32(half, _MM_PERM_DCDC);
    half = Join(half, _mm512_srli_epi32(two_later, 16));
  }
  const __m512i pairs = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29);
  _mm512_storeu_si512(words, _mm512_permutex2var_epi32(halves[0], pairs, halves[1]));
}

// Four k of a panel, from two rows of its memory: the pairs of the even and of the odd chain.
struct PairsOfFour {
  __m512i even, odd;
};
PairsOfFour JoinRows(const uint32_t* row, int64_t row_size) {
  const __m512i now = _mm512_loadu_si512(row), later = _mm512_loadu_si512(row + row_size);
  return {Join(_mm512_slli_epi32(now, 16), later), Join(now, _mm512_srli_epi32(later, 16))};
}

// Here `a` has the words of PackBlock (as floats that nobody computes with), whole blocks of them;
// and `b`, if kJoined, has two rows of pairs for each four k.
template <bool kJoined>
struct OfPairs {
  template <int R, int P>
  struct Tile {
    static void Run(const Product& p, int64_t row, int64_t panel, float* out, int64_t out_row) {
      const uint32_t* b = static_cast<const uint32_t*>(p.b) + panel * p.b_panel;
      const float* a = p.a + row * p.a_row;
      for (int64_t block = 0; block < p.k; block += kBf16Block) {
        __m512 even[R][P], odd[R][P];
        for (int r = 0; r < R; ++r) {
          for (int q = 0; q < P; ++q) even[r][q] = odd[r][q] = _mm512_setzero_ps();
        }
        for (int64_t word = block / 2; word < (block + kBf16Block) / 2; word += 2) {
          PairsOfFour right[P];
          for (int q = 0; q < P; ++q) {
            const uint32_t* from = b + word * p.b_row + q * p.b_panel;
            right[q] =
                kJoined ? PairsOfFour{_mm512_loadu_si512(from), _mm512_loadu_si512(from + p.b_row)}
                        : JoinRows(from, p.b_row);
          }
          for (int r = 0; r < R; ++r) {
            const float* left = a + r * p.a_row + word;
            const __m512i evens = _mm512_castps_si512(_mm512_set1_ps(left[0]));
            for (int q = 0; q < P; ++q) even[r][q] = AddPair(even[r][q], evens, right[q].even);
            const __m512i odds = _mm512_castps_si512(_mm512_set1_ps(left[1]));
            for (int q = 0; q < P; ++q) odd[r][q] = AddPair(odd[r][q], odds, right[q].odd);
          }
        }
        const bool fresh = block == 0 && !p.accumulate;
        for (int r = 0; r < R; ++r) {
          for (int q = 0; q < P; ++q) {
            float* to = out + r * out_row + q * kLanes;
            const __m512 sum = fresh ? _mm512_setzero_ps() : _mm512_loadu_ps(to);
            _mm512_storeu_ps(to, _mm512_add_ps(sum, _mm512_add_ps(even[r][q], odd[r][q])));
          }
        }
      }
    }
  };
};

// Two panels at a time, joined once for all rows.
void RunJoined(const Product& p) {
  static thread_local struct alignas(64) { uint32_t words[2 * kLeftK / 2 * kLanes]; } right;
  for (int64_t column = 0; column < p.columns; column += 2 * kLanes) {
    Product part = p;
    part.columns = p.columns - column < 2 * kLanes ? p.columns - column : 2 * kLanes;
    const int64_t panels = (part.columns + kLanes - 1) / kLanes;
    const uint32_t* b = static_cast<const uint32_t*>(p.b) + column / kLanes * p.b_panel;
    uint32_t* to = right.words;
    for (int64_t word = 0; word < (p.k + kBf16Block - 1) / kBf16Block * (kBf16Block / 2);
         word += 2) {
      for (int64_t q = 0; q < panels; ++q, to += kLanes) {
        const PairsOfFour pairs = JoinRows(b + q * p.b_panel + word * p.b_row, p.b_row);
        _mm512_store_si512(to, pairs.even);
        _mm512_store_si512(to + panels * kLanes, pairs.odd);
      }
      to += panels * kLanes;
    }
    part.b = right.words;
    part.b_row = panels * kLanes;
    part.b_panel = kLanes;
    part.out = p.out + column;
    RunProduct<6, 2, 0, 0, OfPairs<true>::Tile>(part);
  }
}

void ProductPairs(const Product& p) {
  constexpr int64_t kRowsThatPay = 24;  // for joining panels beforehand
  if (p.k == 0) return ProductBf16(p);
  static thread_local struct alignas(64) { uint32_t words[kLeftRows * kLeftK / 2]; } left;
  for (int64_t from = 0; from < p.k; from += kLeftK) {
    const int64_t count = p.k - from < kLeftK ? p.k - from : kLeftK;
    const int64_t row_words = (count + kBf16Block - 1) / kBf16Block * (kBf16Block / 2);
    for (int64_t row = 0; row < p.rows; row += kLeftRows) {
      Product part = p;
      part.rows = p.rows - row < kLeftRows ? p.rows - row : kLeftRows;
      for (int64_t r = 0; r < part.rows; ++r) {
        for (int64_t k = 0; k < count; k += kBf16Block) {
          PackBlock(p.a + (row + r) * p.a_row + from + k, count - k,
                    left.words + r * row_words + k / 2);
        }
      }
      part.a = reinterpret_cast<const float*>(left.words);
      part.a_row = row_words;
      part.b = static_cast<const uint32_t*>(p.b) + from / 2 * p.b_row;
      part.k = count;
      part.out = p.out + row * p.out_row;
      part.accumulate = p.accumulate || from > 0;
      if (part.rows >= kRowsThatPay) {
        RunJoined(part);
      } else {
        RunProduct<6, 2, 3, 4, OfPairs<false>::Tile>(part);
      }
    }
  }
}

double Peak(int64_t rounds) {
  constexpr int kChains = 24;
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(0.25f);
  const __m512i left = _mm512_set1_epi32(0x3F003E80), right = _mm512_set1_epi32(0x3E803F00);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (int c = 0; c < kChains; ++c) sums[c] = AddPair(sums[c], left, right);
  }
  __m512 total = sums[0];
  for (int c = 1; c < kChains; ++c) total = _mm512_add_ps(total, sums[c]);
  volatile float keep = total[0];
  (void)keep;
  return 2.0 * 2 * 16 * kChains * static_cast<double>(rounds);
}

constexpr Kernels kKernels = RowKernelsWith("avx512_bf16", &ProductF32, &ProductPairs, &Peak);

// Whether a pair is two steps of a chain on this processor, as the manuals say; asked with numbers
// of which most give other bits in every other order.
bool PairsAreChains() {
  const FloatMode mode;
  uint32_t state = 1;
  auto draw = [&state] {  // of either sign, from 1/16 to 16
    state = state * 1664525u + 1013904223u;
    return (state & 0x80000000u) | ((123u + (state >> 20) % 8u) << 23) | (state & 0x007F0000u);
  };
  for (int i = 0; i < 256; ++i) {
    const uint32_t a = draw(), b = draw(), c = draw(), d = draw(), start = draw() | draw() >> 16;
    auto all = [](uint32_t bits) { return _mm512_set1_epi32(static_cast<int>(bits)); };
    auto floats = [&](uint32_t bits) { return _mm512_castsi512_ps(all(bits)); };
    const __m512 chain =
        _mm512_fmadd_ps(floats(b), floats(d), _mm512_fmadd_ps(floats(a), floats(c), floats(start)));
    const __m512 pair = AddPair(floats(start), all(a | b >> 16), all(c | d >> 16));
    if (_mm512_cmpneq_epi32_mask(_mm512_castps_si512(chain), _mm512_castps_si512(pair)) != 0) {
      return false;
    }
  }
  return true;
}

bool HasDotProduct() {
  unsigned a = 7, b = 0, c = 1, d = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return __builtin_cpu_supports("avx512f") && (a >> 5 & 1) != 0;
}

}  // namespace

const Kernels* Avx512Bf16Kernels() {
  static const bool has = HasDotProduct() && PairsAreChains();
  return has ? &kKernels : nullptr;
}

}  // namespace hone
