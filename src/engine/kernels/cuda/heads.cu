// From the projection's output to queries, keys and values in their pages, and back: biases, norms
// of heads, rotation. A warp works on a head at a time; its sums have one order.

#include "engine/kernels/cuda/early.cuh"
#include "engine/kernels/cuda/rows.cuh"

namespace hone::cuda {
namespace {

constexpr int kWarpsPerBlock = 8;

// One head of one row: a warp. A number of its first half and one of its second turn together. A
// lane has two such pairs that lie side by side, from pair 2 lane on, and the same from 64 pairs
// further on: N times two, 2 for heads of up to 256 numbers.
template <int N>
struct HeadPairs {
  Pack<float, 2> first[N], second[N];
};
constexpr int kHeadsAtOnce = 4;  // of a row, whose numbers are loaded together

// Calls f with how many times two pairs a lane has, as a type.
template <typename F>
void WithPairs(int head_dim, F f) {
  if (head_dim <= 128) {
    f(std::integral_constant<int, 1>());
  } else {
    f(std::integral_constant<int, 2>());
  }
}

struct HeadOf {
  int64_t row;
  int head;  // queries, then keys, then values
  int half;
  bool is_query, is_value;
  const float* bias;  // of this head; null: none
  const float* norm;  // null: none
};

__device__ __forceinline__ HeadOf FindHead(const DeviceQkv& q, int64_t row, int head) {
  HeadOf of;
  of.row = row;
  of.head = head;
  of.half = q.head_dim / 2;
  of.is_query = head < q.heads;
  of.is_value = head >= q.heads + q.kv_heads;
  const float* biases = of.is_query ? q.q_bias : of.is_value ? q.v_bias : q.k_bias;
  const int in_kind = of.is_query ? head : head - q.heads - (of.is_value ? q.kv_heads : 0);
  of.bias = biases == nullptr ? nullptr : biases + in_kind * q.head_dim;
  of.norm = of.is_value ? nullptr : of.is_query ? q.q_norm : q.k_norm;
  return of;
}

// Calls body(j, pair): the j-th two pairs of this lane are the head's from the pair-th on.
template <int N, typename Body>
__device__ __forceinline__ void ForTwoPairs(int half, Body body) {
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const int pair = static_cast<int>(threadIdx.x % 32) * 2 + 64 * j;
    if (pair < half) body(j, pair);
  }
}
// Calls body(j, c, pair) for each of them: value[c] of the j-th.
template <int N, typename Body>
__device__ __forceinline__ void ForPairs(int half, Body body) {
  ForTwoPairs<N>(half, [&](int j, int pair) {
    body(j, 0, pair);
    body(j, 1, pair + 1);
  });
}

// What the heads of a row turn by.
template <int N>
struct Angles {
  Pack<float, 2> cosine[N], sine[N];
};
template <int N>
__device__ __forceinline__ Angles<N> AnglesOf(const DeviceQkv& q, int position) {
  Angles<N> angles = {};
  const int half = q.head_dim / 2;
  const int64_t at = int64_t{position} * half;
  ForTwoPairs<N>(half, [&](int j, int pair) {
    angles.cosine[j] = Load<2>(q.cosines + at + pair);
    angles.sine[j] = Load<2>(q.sines + at + pair);
  });
  return angles;
}

// The bias of a head, where it has one.
template <int N>
__device__ __forceinline__ void LoadBias(const HeadOf& of, HeadPairs<N>* bias) {
  if (of.bias == nullptr) return;
  ForTwoPairs<N>(of.half, [&](int j, int pair) {
    bias->first[j] = Load<2>(of.bias + pair);
    bias->second[j] = Load<2>(of.bias + of.half + pair);
  });
}

// The projection's output with its bias, which was loaded before.
template <int N>
__device__ __forceinline__ void LoadRaw(const DeviceQkv& q, const HeadOf& of,
                                        const HeadPairs<N>& bias, HeadPairs<N>* x) {
  const int64_t width = int64_t{q.heads + 2 * q.kv_heads} * q.head_dim;
  const float* from = q.raw + of.row * width + of.head * q.head_dim;
  ForTwoPairs<N>(of.half, [&](int j, int pair) {
    x->first[j] = Load<2>(from + pair);
    x->second[j] = Load<2>(from + of.half + pair);
  });
  if (of.bias == nullptr) return;
  ForPairs<N>(of.half, [&](int j, int c, int) {
    x->first[j].value[c] += bias.first[j].value[c];
    x->second[j].value[c] += bias.second[j].value[c];
  });
}

// The projection's output with its bias.
template <int N>
__device__ __forceinline__ void LoadBiased(const DeviceQkv& q, const HeadOf& of, HeadPairs<N>* x) {
  HeadPairs<N> bias;
  LoadBias(of, &bias);
  LoadRaw(q, of, bias, x);
}

template <typename T, int N>
__device__ __forceinline__ void StoreHead(const HeadOf& of, const HeadPairs<N>& x, T* to) {
  ForTwoPairs<N>(of.half, [&](int j, int pair) {
    Pack<T, 2> first, second;
    for (int c = 0; c < 2; ++c) {
      first.value[c] = FromFloat<T>(x.first[j].value[c]);
      second.value[c] = FromFloat<T>(x.second[j].value[c]);
    }
    Store(first, to + pair);
    Store(second, to + of.half + pair);
  });
}

template <typename T, int N>
__device__ __forceinline__ void FinishHead(const DeviceQkv& q, const HeadOf& of,
                                           const RowPlace& place, const Angles<N>& angles,
                                           HeadPairs<N> x) {
  if (of.norm != nullptr) {
    float squares = 0;
    ForPairs<N>(of.half, [&](int j, int c, int) {
      squares = fmaf(x.first[j].value[c], x.first[j].value[c], squares);
      squares = fmaf(x.second[j].value[c], x.second[j].value[c], squares);
    });
    squares = WarpSum(squares);
    const float scale = 1.0f / sqrtf(squares / static_cast<float>(q.head_dim) + q.norm_eps);
    ForPairs<N>(of.half, [&](int j, int c, int pair) {
      x.first[j].value[c] = of.norm[pair] * (x.first[j].value[c] * scale);
      x.second[j].value[c] = of.norm[of.half + pair] * (x.second[j].value[c] * scale);
    });
    if (q.head_scale != nullptr && threadIdx.x % 32 == 0) {
      q.head_scale[of.row * (q.heads + q.kv_heads) + of.head] = scale;
    }
  }
  if (!of.is_value) {
    ForPairs<N>(of.half, [&](int j, int c, int) {
      const float cosine = angles.cosine[j].value[c], sine = angles.sine[j].value[c];
      const float first = x.first[j].value[c], second = x.second[j].value[c];
      x.first[j].value[c] = first * cosine - second * sine;
      x.second[j].value[c] = second * cosine + first * sine;
    });
  }
  auto write = [&](T* to) { StoreHead(of, x, to); };
  const int64_t at = of.row * (q.heads + 2 * q.kv_heads) + of.head;
  write(static_cast<T*>(q.qkv) + at * q.head_dim);
  if (of.is_query || place.slot < 0) return;
  const int kv_head = of.head - q.heads - (of.is_value ? q.kv_heads : 0);
  const int64_t page = place.slot / kDevicePage, slot = place.slot % kDevicePage;
  write(static_cast<T*>(q.pages.base) + page * q.pages.PageElements() +
        (int64_t{q.layer} * q.kv_heads + kv_head) * q.pages.HeadElements() +
        (of.is_value ? kDevicePage * q.head_dim : 0) + slot * q.head_dim);
}

// A warp works on some heads of a row, all of which turn by the same angles. What no kernel of the
// pass writes is asked for before the kernel before has ended.
template <typename T, int N>
__global__ void QkvHeads(DeviceQkv q, int heads_of_warp) {
  LetNextKernelStart();
  const int64_t row = int64_t{blockIdx.x} * kWarpsPerBlock + threadIdx.x / 32;
  if (row >= q.rows) return WaitForKernelBefore();
  const int begin = blockIdx.y * heads_of_warp;
  const int end = min(begin + heads_of_warp, q.heads + 2 * q.kv_heads);
  const RowPlace place = q.places[row];
  const Angles<N> angles = AnglesOf<N>(q, place.position);
  for (int first = begin; first < end; first += kHeadsAtOnce) {
    HeadPairs<N> x[kHeadsAtOnce], bias[kHeadsAtOnce];
#pragma unroll
    for (int i = 0; i < kHeadsAtOnce; ++i) {
      if (first + i < end) LoadBias(FindHead(q, row, first + i), &bias[i]);
    }
    if (first == begin) WaitForKernelBefore();
#pragma unroll
    for (int i = 0; i < kHeadsAtOnce; ++i) {
      if (first + i < end) LoadRaw(q, FindHead(q, row, first + i), bias[i], &x[i]);
    }
#pragma unroll
    for (int i = 0; i < kHeadsAtOnce; ++i) {
      if (first + i < end) FinishHead<T>(q, FindHead(q, row, first + i), place, angles, x[i]);
    }
  }
}

// Keys and values of rows to further slots; a block per copy.
template <typename T>
__global__ void CopyKeys(DeviceQkv q) {
  const int64_t row = q.copied_row[blockIdx.x];
  const int64_t page = q.copied_slot[blockIdx.x] / kDevicePage;
  const int64_t slot = q.copied_slot[blockIdx.x] % kDevicePage;
  const int64_t dim = q.head_dim, kv_size = q.kv_heads * dim;
  const T* from = static_cast<const T*>(q.qkv) + (row * (q.heads + 2 * q.kv_heads) + q.heads) * dim;
  T* to = static_cast<T*>(q.pages.base) + page * q.pages.PageElements() +
          int64_t{q.layer} * q.kv_heads * q.pages.HeadElements() + slot * dim;
  for (int64_t i = threadIdx.x; i < 2 * kv_size; i += blockDim.x) {
    const int64_t value = i / kv_size, head = i % kv_size / dim, d = i % dim;
    to[head * q.pages.HeadElements() + value * kDevicePage * dim + d] = from[i];
  }
}

// The gradient before the rotation.
template <int N>
__device__ __forceinline__ void LoadTurnedBack(const DeviceQkvBackward& b, const HeadOf& of,
                                               const Angles<N>& angles, HeadPairs<N>* d) {
  const DeviceQkv& q = b.forward;
  const int64_t width = int64_t{q.heads + 2 * q.kv_heads} * q.head_dim;
  const float* from = b.dqkv + of.row * width + of.head * q.head_dim;
  ForTwoPairs<N>(of.half, [&](int j, int pair) {
    d->first[j] = Load<2>(from + pair);
    d->second[j] = Load<2>(from + of.half + pair);
  });
  ForPairs<N>(of.half, [&](int j, int c, int) {
    const float first = d->first[j].value[c], second = d->second[j].value[c];
    const float cosine = of.is_value ? 1.0f : angles.cosine[j].value[c];
    const float sine = of.is_value ? 0.0f : angles.sine[j].value[c];
    d->first[j].value[c] = first * cosine + second * sine;
    d->second[j].value[c] = second * cosine - first * sine;
  });
}

template <typename T, int N>
__device__ __forceinline__ void FinishHeadBackward(const DeviceQkvBackward& b, const HeadOf& of,
                                                   HeadPairs<N> d) {
  const DeviceQkv& q = b.forward;
  if (of.norm != nullptr) {
    HeadPairs<N> x;
    LoadBiased(q, of, &x);
    const float scale = q.head_scale[of.row * (q.heads + q.kv_heads) + of.head];
    float inner = 0;
    ForPairs<N>(of.half, [&](int j, int c, int pair) {
      inner = fmaf(d.first[j].value[c] * of.norm[pair], x.first[j].value[c], inner);
      inner = fmaf(d.second[j].value[c] * of.norm[of.half + pair], x.second[j].value[c], inner);
    });
    const float common = WarpSum(inner) * scale * scale * scale / static_cast<float>(q.head_dim);
    auto through = [&](float slope, float weight, float number) {
      return slope * weight * scale - number * common;
    };
    ForPairs<N>(of.half, [&](int j, int c, int pair) {
      d.first[j].value[c] = through(d.first[j].value[c], of.norm[pair], x.first[j].value[c]);
      d.second[j].value[c] =
          through(d.second[j].value[c], of.norm[of.half + pair], x.second[j].value[c]);
    });
  }
  const int64_t at = of.row * (q.heads + 2 * q.kv_heads) + of.head;
  StoreHead(of, d, static_cast<T*>(b.draw) + at * q.head_dim);
}

template <typename T, int N>
__global__ void QkvHeadsBackward(DeviceQkvBackward b, int heads_of_warp) {
  const DeviceQkv& q = b.forward;
  const int64_t row = int64_t{blockIdx.x} * kWarpsPerBlock + threadIdx.x / 32;
  if (row >= q.rows) return;
  const int begin = blockIdx.y * heads_of_warp;
  const int end = min(begin + heads_of_warp, q.heads + 2 * q.kv_heads);
  const Angles<N> angles = AnglesOf<N>(q, q.places[row].position);
  for (int first = begin; first < end; first += kHeadsAtOnce) {
    HeadPairs<N> d[kHeadsAtOnce];
#pragma unroll
    for (int i = 0; i < kHeadsAtOnce; ++i) {
      if (first + i < end) LoadTurnedBack(b, FindHead(q, row, first + i), angles, &d[i]);
    }
#pragma unroll
    for (int i = 0; i < kHeadsAtOnce; ++i) {
      if (first + i < end) FinishHeadBackward<T>(b, FindHead(q, row, first + i), d[i]);
    }
  }
}

// How the heads of so many rows are dealt out: warps of all of a row's, or, where rows are few, of
// some of them.
int HeadsOfWarp(const DeviceQkv& q) {
  constexpr int64_t kManyRows = 2048;
  return q.rows >= kManyRows ? q.heads + 2 * q.kv_heads : q.rows > 128 ? 2 : 1;
}
dim3 HeadGrid(const DeviceQkv& q) {
  const int heads = q.heads + 2 * q.kv_heads, of_warp = HeadsOfWarp(q);
  return dim3(BlocksFor(q.rows, kWarpsPerBlock), (heads + of_warp - 1) / of_warp);
}

// The gradients of the norms of heads: a warp per slice of rows, over rows and heads in order.
template <int N>
__global__ void HeadNormPartials(DeviceQkvBackward b, int first_head, int heads, float* partial) {
  const DeviceQkv& q = b.forward;
  const int64_t slice = blockIdx.x;
  const int64_t begin = slice * kSliceRows;
  const int64_t end = min(begin + kSliceRows, q.rows);
  HeadPairs<N> sum = {};
  for (int64_t row = begin; row < end; ++row) {
    const Angles<N> angles = AnglesOf<N>(q, q.places[row].position);
    for (int head = first_head; head < first_head + heads; ++head) {
      const HeadOf of = FindHead(q, row, head);
      HeadPairs<N> d, x;
      LoadTurnedBack(b, of, angles, &d);
      LoadBiased(q, of, &x);
      const float scale = q.head_scale[row * (q.heads + q.kv_heads) + head];
      ForPairs<N>(of.half, [&](int j, int c, int) {
        sum.first[j].value[c] += d.first[j].value[c] * (x.first[j].value[c] * scale);
        sum.second[j].value[c] += d.second[j].value[c] * (x.second[j].value[c] * scale);
      });
    }
  }
  const HeadOf of = FindHead(q, begin, first_head);
  StoreHead(of, sum, partial + slice * q.head_dim);
}

}  // namespace

void FinishQkv(DeviceContext* context, const DeviceQkv& q) {
  if (q.rows == 0) return;
  WithElement(q.element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    WithPairs(q.head_dim, [&](auto pairs) {
      LaunchEarly(context, {"finish_qkv", HeadGrid(q), dim3(kWarpsPerBlock * 32)},
                  QkvHeads<T, pairs.value>, q, HeadsOfWarp(q));
    });
    if (q.copies > 0) {
      CopyKeys<T><<<BlocksFor(q.copies, 1), kThreadsOfRow, 0, context->stream>>>(q);
    }
  });
  Launched(context, "finish_qkv");
}

void FinishQkvBackward(DeviceContext* context, const DeviceQkvBackward& b) {
  const DeviceQkv& q = b.forward;
  if (q.rows == 0) return;
  const auto slices = static_cast<unsigned>(SlicesOf(q.rows));
  WithPairs(q.head_dim, [&](auto pairs) {
    constexpr int kPairs = decltype(pairs)::value;
    WithElement(q.element, [&](auto* type) {
      using T = TypeOf<decltype(type)>;
      QkvHeadsBackward<T, kPairs>
          <<<HeadGrid(q), kWarpsPerBlock * 32, 0, context->stream>>>(b, HeadsOfWarp(q));
    });
    if (q.q_norm != nullptr && b.q_partial != nullptr) {
      HeadNormPartials<kPairs><<<slices, 32, 0, context->stream>>>(b, 0, q.heads, b.q_partial);
    }
    if (q.k_norm != nullptr && b.k_partial != nullptr) {
      HeadNormPartials<kPairs>
          <<<slices, 32, 0, context->stream>>>(b, q.heads, q.kv_heads, b.k_partial);
    }
  });
  Launched(context, "finish_qkv_backward");
}

}  // namespace hone::cuda
