// Compiled for AVX-512 and AMX-BF16; called only where the processor has both and the kernel lets
// us use the tiles.

#include <sys/syscall.h>
#include <unistd.h>

#include "engine/kernels/cpu/avx512_tiles.inc"
#include "engine/kernels/cpu/row_kernels.inc"

namespace hone {
namespace {

constexpr int kTileRows = 16;
constexpr int64_t kLeftRows = 288, kLeftK = 512;  // of the left operand at a time: 288 KiB

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};

// Tiles are per thread, and all eight are 16 rows of 64 bytes.
void ConfigureTiles() {
  static thread_local bool done = false;
  if (done) return;
  TileConfig config;
  for (int t = 0; t < 8; ++t) {
    config.bytes[t] = 64;
    config.rows[t] = kTileRows;
  }
  _tile_loadconfig(&config);
  done = true;
}

// The left operand as tiles of bfloat16: [row / 16][k / 32][16][32], zeros behind its end. The
// values are bfloat16 already, so taking the upper halves is exact.
void PackLeft(const Product& p, int64_t row, int64_t rows, int64_t from, int64_t count,
              uint16_t* tiles) {
  const int64_t blocks = (count + kBf16Block - 1) / kBf16Block;
  for (int64_t r = 0; r < (rows + kTileRows - 1) / kTileRows * kTileRows; ++r) {
    for (int64_t block = 0; block < blocks; ++block) {
      uint16_t* to =
          tiles + ((r / kTileRows * blocks + block) * kTileRows + r % kTileRows) * kBf16Block;
      auto* out = reinterpret_cast<__m512i*>(to);
      const int64_t k = block * kBf16Block, wide = count - k;
      if (r >= rows) {
        _mm512_store_si512(out, _mm512_setzero_si512());
        continue;
      }
      const float* a = p.a + (row + r) * p.a_row + from + k;
      const auto low_mask = static_cast<__mmask16>(wide >= 16 ? 0xFFFF : (1u << wide) - 1);
      const auto high_mask = static_cast<__mmask16>(wide >= 32  ? 0xFFFF
                                                    : wide > 16 ? (1u << (wide - 16)) - 1
                                                                : 0);
      const __m512i low = _mm512_srli_epi32(_mm512_maskz_loadu_epi32(low_mask, a), 16);
      const __m512i high = _mm512_srli_epi32(_mm512_maskz_loadu_epi32(high_mask, a + 16), 16);
      _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(low));
      _mm256_store_si256(reinterpret_cast<__m256i*>(to + 16), _mm512_cvtepi32_epi16(high));
    }
  }
}

struct alignas(64) Scratch {
  uint16_t left[kLeftRows * kLeftK];
  float out[2 * kTileRows * 2 * kLanes];
};

// Brings a tile's 16 rows into the first-level cache: loading tiles from the second level stalls.
void Prefetch(const void* tile, int64_t row_bytes) {
  for (int r = 0; r < kTileRows; ++r) {
    _mm_prefetch(static_cast<const char*>(tile) + r * row_bytes, _MM_HINT_T0);
  }
}

// What the next tiles will read, brought nearer meanwhile. Null: nothing.
struct Ahead {
  const uint16_t* left = nullptr;  // into the first level
  const uint32_t* b = nullptr;     // into the first level
  // Into the second level, as it may come from memory: a share of the panels after these, and the
  // rows of the product that these tiles add to, two cache lines of each.
  const uint32_t* later_b = nullptr;
  int64_t later_from = 0, later_to = 0;  // blocks
  const float* out = nullptr;
  int64_t out_rows = 0;
};

void PrefetchLater(const Ahead& ahead, int64_t block, int64_t blocks, const Product& p) {
  if (ahead.later_b != nullptr && block >= ahead.later_from && block < ahead.later_to) {
    const uint32_t* later = ahead.later_b + block * (kBf16Block / 2) * p.b_row;
    for (int r = 0; r < kBf16Block / 2; ++r) {
      _mm_prefetch(reinterpret_cast<const char*>(later + r * p.b_row), _MM_HINT_T1);
      _mm_prefetch(reinterpret_cast<const char*>(later + p.b_panel + r * p.b_row), _MM_HINT_T1);
    }
  }
  if (ahead.out == nullptr) return;
  const int64_t end = (block + 1) * ahead.out_rows / blocks;
  for (int64_t r = block * ahead.out_rows / blocks; r < end; ++r) {
    const float* row = ahead.out + r * p.out_row;
    _mm_prefetch(reinterpret_cast<const char*>(row), _MM_HINT_T1);
    _mm_prefetch(reinterpret_cast<const char*>(row + kLanes), _MM_HINT_T1);
  }
}

// 32 rows and two panels: four accumulators, two tiles of each operand. `two_rows`, `two_panels`
// say whether the second ones are there.
void QuadTile(const Product& p, const uint16_t* left, int64_t left_tile_row, const uint32_t* b,
              int64_t blocks, bool two_rows, bool two_panels, bool load, const Ahead& ahead,
              float* out, int64_t out_row) {
  const int64_t b_row = p.b_row, b_panel = p.b_panel;
  const auto stride = static_cast<long>(out_row) * 4, b_stride = static_cast<long>(b_row) * 4;
  if (load) {
    _tile_loadd(0, out, stride);
    if (two_panels) _tile_loadd(1, out + kLanes, stride);
    if (two_rows) _tile_loadd(2, out + kTileRows * out_row, stride);
    if (two_rows && two_panels) _tile_loadd(3, out + kTileRows * out_row + kLanes, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t block = 0; block < blocks; ++block) {
    const uint16_t* a = left + block * kTileRows * kBf16Block;
    const uint32_t* pairs = b + block * (kBf16Block / 2) * b_row;
    PrefetchLater(ahead, block, blocks, p);
    if (ahead.left != nullptr) {
      const uint16_t* next = ahead.left + block * kTileRows * kBf16Block;
      Prefetch(next, 64);
      Prefetch(next + left_tile_row, 64);
    }
    if (ahead.b != nullptr) {
      const uint32_t* next = ahead.b + block * (kBf16Block / 2) * b_row;
      Prefetch(next, b_stride);
      Prefetch(next + b_panel, b_stride);
    }
    _tile_loadd(4, a, 64);
    _tile_loadd(6, pairs, b_stride);
    _tile_dpbf16ps(0, 4, 6);
    if (two_panels) {
      _tile_loadd(7, pairs + b_panel, b_stride);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (two_rows) {
      _tile_loadd(5, a + left_tile_row, 64);
      _tile_dpbf16ps(2, 5, 6);
      if (two_panels) _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, out, stride);
  if (two_panels) _tile_stored(1, out + kLanes, stride);
  if (two_rows) _tile_stored(2, out + kTileRows * out_row, stride);
  if (two_rows && two_panels) _tile_stored(3, out + kTileRows * out_row + kLanes, stride);
}

// Where QuadTile is: at row r of the packed rows, which are so many from `row` on, and at a panel.
struct Place {
  int64_t row, rows, r, panel, blocks;
};

// What comes next: the following rows, or at the last ones the first again with the following
// panels, if there are two more.
Ahead AheadOf(const Product& p, const Place& at, const uint32_t* b, const uint16_t* packed) {
  constexpr int64_t kRows = 2 * kTileRows;
  const int64_t panels = (p.columns + kLanes - 1) / kLanes;
  const bool last = at.rows - at.r <= kRows, more_panels = at.panel + 3 < panels;
  Ahead ahead;
  ahead.left = packed + (last ? 0 : (at.r + kRows) * at.blocks * kBf16Block);
  if (more_panels) {
    const int64_t quad = at.r / kRows, quads = (at.rows + kRows - 1) / kRows;
    ahead.later_b = b + 2 * p.b_panel;
    ahead.later_from = quad * at.blocks / quads;
    ahead.later_to = (quad + 1) * at.blocks / quads;
    if (last) ahead.b = ahead.later_b;
  }
  if (!last) {
    ahead.out = p.out + (at.row + at.r + kRows) * p.out_row + at.panel * kLanes;
    ahead.out_rows = at.rows - at.r - kRows;
  } else if (more_panels) {
    ahead.out = p.out + at.row * p.out_row + (at.panel + 2) * kLanes;
    ahead.out_rows = at.rows;
  }
  if (ahead.out_rows > kRows) ahead.out_rows = kRows;
  return ahead;
}

void AmxBf16(const Product& p) {
  // A few rows leave most of a tile empty; where there is little work besides, tiles do not pay.
  if (p.rows < 4 || p.k == 0 || (p.rows < kTileRows && p.columns <= 4 * kLanes)) {
    return ProductBf16(p);
  }
  static thread_local Scratch scratch;
  ConfigureTiles();
  const int64_t panels = (p.columns + kLanes - 1) / kLanes;
  for (int64_t from = 0; from < p.k; from += kLeftK) {
    const int64_t count = p.k - from < kLeftK ? p.k - from : kLeftK;
    const int64_t blocks = (count + kBf16Block - 1) / kBf16Block;
    const bool load = p.accumulate || from > 0;
    for (int64_t row = 0; row < p.rows; row += kLeftRows) {
      const int64_t rows = p.rows - row < kLeftRows ? p.rows - row : kLeftRows;
      PackLeft(p, row, rows, from, count, scratch.left);
      for (int64_t panel = 0; panel < panels; panel += 2) {
        const bool two_panels = panel + 1 < panels;
        const uint32_t* b =
            static_cast<const uint32_t*>(p.b) + panel * p.b_panel + from / 2 * p.b_row;
        const int64_t wide_here = p.columns - panel * kLanes;
        const bool whole_columns = wide_here >= 2 * kLanes || wide_here == kLanes;
        for (int64_t r = 0; r < rows; r += 2 * kTileRows) {
          const bool two_rows = rows - r > kTileRows;
          const uint16_t* left = scratch.left + r * blocks * kBf16Block;
          const int64_t left_tile_row = kTileRows * blocks * kBf16Block;
          float* out = p.out + (row + r) * p.out_row + panel * kLanes;
          const int64_t tall = rows - r;
          const Ahead ahead = AheadOf(p, {row, rows, r, panel, blocks}, b, scratch.left);
          if (whole_columns && (tall >= 2 * kTileRows || tall == kTileRows)) {
            QuadTile(p, left, left_tile_row, b, blocks, two_rows, two_panels, load, ahead, out,
                     p.out_row);
            continue;
          }
          const int64_t high = tall < 2 * kTileRows ? tall : 2 * kTileRows;
          const int64_t wide = wide_here < 2 * kLanes ? wide_here : 2 * kLanes;
          for (int64_t i = 0; load && i < high; ++i) {
            for (int64_t c = 0; c < wide; ++c) {
              scratch.out[i * 2 * kLanes + c] = out[i * p.out_row + c];
            }
          }
          QuadTile(p, left, left_tile_row, b, blocks, two_rows, two_panels, load, ahead,
                   scratch.out, 2 * kLanes);
          for (int64_t i = 0; i < high; ++i) {
            for (int64_t c = 0; c < wide; ++c) {
              out[i * p.out_row + c] = scratch.out[i * 2 * kLanes + c];
            }
          }
        }
      }
    }
  }
}

double Peak(int64_t rounds) {
  constexpr int kTiles = 16, kTileHalves = kTileRows * kBf16Block;
  static thread_local struct alignas(64) {
    uint16_t tiles[kTiles * kTileHalves];
    float out[kTileRows * kLanes];
  } memory;
  uint32_t state = 1;
  for (uint16_t& value : memory.tiles) {  // numbers between 1 and 2
    state = state * 1664525u + 1013904223u;
    value = static_cast<uint16_t>(0x3F80u | (state >> 25));
  }
  ConfigureTiles();
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t i = 0; i < rounds; ++i) {
    const uint16_t* at = memory.tiles + (i % (kTiles / 4)) * 4 * kTileHalves;
    _tile_loadd(4, at, 64);
    _tile_loadd(5, at + kTileHalves, 64);
    _tile_loadd(6, at + 2 * kTileHalves, 64);
    _tile_loadd(7, at + 3 * kTileHalves, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, memory.out, 64);
  return 4.0 * 2 * kTileRows * kLanes * kBf16Block * static_cast<double>(rounds);
}

constexpr Kernels kKernels = RowKernelsWith("amx", &ProductF32, &AmxBf16, &Peak);

// The kernel saves tiles only for processes that asked.
bool AskForTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool HasAmx() {
  unsigned a = 7, b = 0, c = 0, d = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  const bool bf16 = (d >> 22 & 1) != 0, tile = (d >> 24 & 1) != 0;
  return bf16 && tile && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && AskForTiles();
}

}  // namespace

const Kernels* AmxKernels() {
  static const bool has = HasAmx();
  return has ? &kKernels : nullptr;
}

}  // namespace hone
