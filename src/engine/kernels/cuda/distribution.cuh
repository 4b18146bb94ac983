#pragma once

// The distribution over the next token that one row of logits gives: softmax of z = logit /
// temperature over the whole vocabulary or over a list of tokens. Score and Draw call these
// functions with the same threads, so that what they tell of a token are the same bits. Products
// and sums must not be contracted in one place and not in the other: this is compiled with
// -fmad=false.
//
// One block of kRowThreads has a row, and reads it once. Each warp has one contiguous segment of
// it; the sums of the segments stay in shared memory, where a draw finds the segment it is in.

#include <cfloat>
#include <climits>
#include <cstdint>

#include "engine/kernels/cuda/numbers.cuh"

namespace hone::cuda {

inline constexpr float kMaskedLogit = -1e30f;  // its probability is exactly 0
inline constexpr int kRowThreads = 1024, kRowWarps = kRowThreads / 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

// e^x for x <= 0: exactly 1 at 0 and exactly 0 below -87.4; its relative error is some 2^-24 |x|,
// no more than the rounding of x itself.
__device__ __forceinline__ float FastExp(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}

// As Distribution::LogProb: never above 0; not-a-number stays one.
__device__ __forceinline__ float LogProbOf(float logit, float inverse_temperature, float log_sum) {
  const float log_probability = logit * inverse_temperature - log_sum;
  return log_probability > 0 ? 0 : log_probability;
}

// Logits of one row: those of the tokens list[0] to list[count - 1], or, without a list, of all.
struct RowItems {
  const float* logits;  // not the read-only kind of load: the same block has masked some of them
  const int32_t* list;
  int32_t count;

  __device__ __forceinline__ int32_t Id(int32_t i) const { return list ? list[i] : i; }
  __device__ __forceinline__ float Logit(int32_t i) const { return logits[Id(i)]; }
};

// How four items are read. It changes no bits.
enum class RowRead { kQuads, kSingles, kList };

// z of items 4 quad to 4 quad + 3; those beyond the end get -FLT_MAX, which weighs nothing.
template <RowRead kRead>
__device__ __forceinline__ void ReadQuad(const RowItems& row, int32_t quad, float inverse,
                                         float* z) {
  if constexpr (kRead == RowRead::kQuads) {
    const float4 x = reinterpret_cast<const float4*>(row.logits)[quad];
    z[0] = x.x * inverse;
    z[1] = x.y * inverse;
    z[2] = x.z * inverse;
    z[3] = x.w * inverse;
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int32_t i = 4 * quad + j;
      if (i >= row.count) {
        z[j] = -FLT_MAX;
      } else if constexpr (kRead == RowRead::kList) {
        z[j] = row.logits[row.list[i]] * inverse;
      } else {
        z[j] = row.logits[i] * inverse;
      }
    }
  }
}

// Whether rows of a matrix can be read by kQuads.
inline bool InQuads(const float* logits, int64_t vocab) {
  return vocab % 4 == 0 && reinterpret_cast<uintptr_t>(logits) % 16 == 0;
}

// The quads that one warp has. Segments begin at multiples of 128 bytes of the row.
struct RowSegment {
  int32_t first, last;
};
__device__ __forceinline__ RowSegment SegmentOf(int32_t count, int warp) {
  const int32_t quads = (count + 3) / 4;
  const int32_t each = ((quads + kRowWarps - 1) / kRowWarps + 7) / 8 * 8;
  return {min(warp * each, quads), min((warp + 1) * each, quads)};
}

// Of some items: the largest z, and the sums of e^{z - top} and of e^{z - top} (top - z). All terms
// are at least 0, so nothing cancels. Without items: sums of 0 under the lowest top.
struct RowSums {
  float top, sum, excess;
};

// The same sums under a higher top. The factor comes first: where it is 0, so is all the rest.
__device__ __forceinline__ RowSums UnderTop(const RowSums& sums, float top) {
  const float factor = FastExp(sums.top - top), sum = sums.sum * factor;
  return {top, sum, sums.excess * factor + sum * (top - sums.top)};
}

__device__ __forceinline__ RowSums Joined(const RowSums& a, const RowSums& b) {
  const float top = fmaxf(a.top, b.top);
  const RowSums x = UnderTop(a, top), y = UnderTop(b, top);
  return {top, x.sum + y.sum, x.excess + y.excess};
}

// Every lane gets the same bits: joining is symmetric.
__device__ __forceinline__ RowSums WarpJoined(RowSums sums) {
  for (int step = 16; step > 0; step /= 2) {
    sums = Joined(sums, {__shfl_xor_sync(kAllLanes, sums.top, step),
                         __shfl_xor_sync(kAllLanes, sums.sum, step),
                         __shfl_xor_sync(kAllLanes, sums.excess, step)});
  }
  return sums;
}

template <int n>
__device__ __forceinline__ void AddItems(const float (&z)[n], RowSums* sums) {
  float top = sums->top;
#pragma unroll
  for (int i = 0; i < n; ++i) top = fmaxf(top, z[i]);
  if (top > sums->top) *sums = UnderTop(*sums, top);
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const float below = z[i] - top, weight = FastExp(below);
    sums->sum += weight;
    sums->excess = __fmaf_rn(weight, -below, sums->excess);
  }
}

struct RowStatistics {
  float top, log_sum, entropy;
};

// Every thread of the block gets them. `segments` [kRowWarps], in shared memory, holds the sums of
// every warp's segment afterwards.
template <RowRead kRead>
__device__ __forceinline__ RowStatistics StatisticsOf(const RowItems& row, float inverse,
                                                      RowSums* segments) {
  constexpr int kQuadsAtOnce = 3;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const RowSegment segment = SegmentOf(row.count, warp);
  RowSums sums{-FLT_MAX, 0, 0};
  int32_t quad = segment.first + lane;
  for (; quad + 32 * (kQuadsAtOnce - 1) < segment.last; quad += 32 * kQuadsAtOnce) {
    float z[4 * kQuadsAtOnce];
#pragma unroll
    for (int g = 0; g < kQuadsAtOnce; ++g) ReadQuad<kRead>(row, quad + 32 * g, inverse, z + 4 * g);
    AddItems(z, &sums);
  }
#pragma unroll 1
  for (; quad < segment.last; quad += 32) {
    float z[4];
    ReadQuad<kRead>(row, quad, inverse, z);
    AddItems(z, &sums);
  }
  __syncwarp();
  sums = WarpJoined(sums);
  if (lane == 0) segments[warp] = sums;
  __syncthreads();
  sums = WarpJoined(segments[lane]);
  const float log_of_sum = logf(sums.sum);
  return {sums.top, sums.top + log_of_sum, log_of_sum + sums.excess / sums.sum};
}

// The sum of this thread and those before it in the warp.
template <typename T>
__device__ __forceinline__ T WarpRunning(T x) {
  const int lane = threadIdx.x % 32;
  for (int step = 1; step < 32; step *= 2) {
    const T other = __shfl_up_sync(kAllLanes, x, step);
    if (lane >= step) x += other;
  }
  return x;
}

// Sums over the threads before this one, and over the whole block.
template <typename T>
struct Running {
  T before, total;
};
// `room` [kRowWarps] may be used again at once.
template <typename T>
__device__ __forceinline__ Running<T> BlockRunning(T x, T* room) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const T through = WarpRunning(x);
  if (lane == 31) room[warp] = through;
  __syncthreads();
  const T warps = WarpRunning(room[lane]);
  const T before_warp = __shfl_sync(kAllLanes, warps, warp > 0 ? warp - 1 : 0);
  const T before = __shfl_up_sync(kAllLanes, through, 1);
  const T total = __shfl_sync(kAllLanes, warps, 31);
  __syncthreads();
  return {(warp > 0 ? before_warp : T(0)) + (lane > 0 ? before : T(0)), total};
}

// Shared memory of a draw. `segments` are StatisticsOf's.
struct DrawRoom {
  RowSums segments[kRowWarps];
  double sums[kRowWarps];
  int32_t first, last, place;
};

// What makes a logit a weight: e^{logit * inverse - top}.
struct RowScale {
  float inverse, top;
};

// The segment that a draw is in, and how far into its weight.
struct SegmentDraw {
  int segment;
  double share;  // in [0, 1]
};
__device__ __forceinline__ SegmentDraw DrawnSegment(const RowSums* segments, float top, double u) {
  const int lane = threadIdx.x % 32;
  const RowSums mine = segments[lane];
  const double weight = static_cast<double>(mine.sum) * FastExp(mine.top - top);
  const double through = WarpRunning(weight);
  const double target = u * __shfl_sync(kAllLanes, through, 31);
  const unsigned some = __ballot_sync(kAllLanes, weight > 0);
  const unsigned above = __ballot_sync(kAllLanes, weight > 0 && through > target);
  // Rounding may leave a sliver at the end. Segment 0 where there is not-a-number.
  const int segment = above != 0 ? __ffs(above) - 1 : some != 0 ? 31 - __clz(some) : 0;
  const double own = __shfl_sync(kAllLanes, weight, segment);
  const double before = __shfl_sync(kAllLanes, through, segment) - own;
  return {segment, fmin(fmax((target - before) / own, 0.0), 1.0)};
}

// The first item of the thread's quads at which the sum of weights, begun with `running`, exceeds
// `target`; the last one with any weight where rounding says that none does.
template <RowRead kRead>
__device__ __forceinline__ int32_t FirstAbove(const RowItems& row, RowSegment quads, RowScale scale,
                                              double running, double target) {
  int32_t place = 4 * quads.first;
  for (int32_t quad = quads.first; quad < quads.last; ++quad) {
    float z[4];
    ReadQuad<kRead>(row, quad, scale.inverse, z);
    for (int j = 0; j < 4; ++j) {
      const float weight = FastExp(z[j] - scale.top);
      if (!(weight > 0)) continue;
      running += weight;
      place = 4 * quad + j;
      if (running > target) return place;
    }
  }
  return place;
}

// The first item at which the running probability exceeds u. The sums of segments are those of the
// statistics; only the segment in question is read again, and summed in double by all threads, each
// with some consecutive quads. Not inlined: the registers are those of the statistics' loop.
template <RowRead kRead>
__device__ __noinline__ int32_t DrawnPlace(const RowItems row, const RowScale scale, double u,
                                           DrawRoom* room) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const SegmentDraw draw = DrawnSegment(room->segments, scale.top, u);
  const RowSegment segment = SegmentOf(row.count, draw.segment);
  const int32_t each = (segment.last - segment.first + kRowThreads - 1) / kRowThreads;
  const int32_t begin = segment.first + each * static_cast<int32_t>(threadIdx.x);
  const RowSegment quads{min(begin, segment.last), min(begin + each, segment.last)};
  double weight = 0;
  for (int32_t quad = quads.first; quad < quads.last; ++quad) {
    float z[4];
    ReadQuad<kRead>(row, quad, scale.inverse, z);
    for (int j = 0; j < 4; ++j) weight += FastExp(z[j] - scale.top);
  }
  if (threadIdx.x == 0) {
    room->first = INT_MAX;
    room->last = 0;
    room->place = 0;
  }
  const Running<double> running = BlockRunning(weight, room->sums);
  const double target = draw.share * running.total;
  const unsigned some = __ballot_sync(kAllLanes, weight > 0);
  const unsigned above = __ballot_sync(kAllLanes, weight > 0 && running.before + weight > target);
  if (lane == 0 && some != 0) atomicMax(&room->last, 32 * warp + 31 - __clz(some));
  if (lane == 0 && above != 0) atomicMin(&room->first, 32 * warp + __ffs(above) - 1);
  __syncthreads();
  if (static_cast<int32_t>(threadIdx.x) == (room->first == INT_MAX ? room->last : room->first)) {
    room->place = FirstAbove<kRead>(row, quads, scale, running.before, target);
  }
  __syncthreads();
  return min(room->place, row.count - 1);  // not-a-numbers may lead astray
}

// The first item with the largest logit, `top`.
static __device__ __noinline__ int32_t LikeliestPlace(const RowItems row, float top,
                                                      DrawRoom* room) {
  const unsigned equal = __ballot_sync(kAllLanes, room->segments[threadIdx.x % 32].top == top);
  const RowSegment segment = SegmentOf(row.count, equal != 0 ? __ffs(equal) - 1 : 0);
  if (threadIdx.x == 0) room->first = INT_MAX;
  __syncthreads();
  const int32_t last = min(4 * segment.last, row.count);
  for (int32_t i = 4 * segment.first + static_cast<int32_t>(threadIdx.x); i < last;
       i += kRowThreads) {
    if (row.Logit(i) == top) atomicMin(&room->first, i);
  }
  __syncthreads();
  return room->first == INT_MAX ? 0 : room->first;  // there is none among not-a-numbers
}

// Of one row, by its block: the tokens that no draw may give.
__device__ __forceinline__ void MaskForbidden(const int32_t* forbidden, int64_t count,
                                              float* logits) {
  for (int64_t i = threadIdx.x; i < count; i += kRowThreads) logits[forbidden[i]] = kMaskedLogit;
  __syncthreads();
}

}  // namespace hone::cuda
