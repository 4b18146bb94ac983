// What happens to rows between products: embedding, activations, inner products, biases, and sums
// over rows. Sums have one order, which depends on the width or on the number of the row, never on
// the batch.

#include "engine/kernels/cuda/rows.cuh"

#include "engine/kernels/cuda/context.h"

namespace hone::cuda {
namespace {

template <typename T, int N>
__global__ void EmbedRows(const DeviceEmbedding e) {
  const T* from = static_cast<const T*>(e.embedding) + int64_t{e.tokens[blockIdx.x]} * e.width;
  float* to = e.x + int64_t{blockIdx.x} * e.width;
  for (int64_t i = threadIdx.x * N; i < e.width; i += blockDim.x * N) {
    const Pack<T, N> in = Load<N>(from + i);
    Pack<float, N> out;
    for (int j = 0; j < N; ++j) out.value[j] = ToFloat(in.value[j]);
    Store(out, to + i);
  }
}

__global__ void AddBiasRows(const float* bias, int64_t rows, int64_t n, float* x) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows * n) x[i] += bias[i % n];
}

template <typename T, int N>
__global__ void SwiGluRows(const DeviceSwiGlu s) {
  const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * N;
  if (i >= s.rows * s.ffn) return;
  const T* row = static_cast<const T*>(s.gate_up) + i / s.ffn * 2 * s.ffn;
  const int64_t at = i % s.ffn;
  const Pack<T, N> gate = Load<N>(row + at), up = Load<N>(row + s.ffn + at);
  Pack<T, N> out;
  for (int j = 0; j < N; ++j) out.value[j] = Gated(gate.value[j], up.value[j]);
  Store(out, static_cast<T*>(s.activated) + i);
}

template <typename T, int N>
__global__ void SwiGluRowsBackward(const DeviceSwiGluBackward b) {
  const DeviceSwiGlu& s = b.forward;
  const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * N;
  if (i >= s.rows * s.ffn) return;
  const int64_t row = i / s.ffn * 2 * s.ffn, at = i % s.ffn;
  const T* from = static_cast<const T*>(s.gate_up) + row;
  const Pack<T, N> gate = Load<N>(from + at), up = Load<N>(from + s.ffn + at);
  const Pack<T, N> grown = Load<N>(static_cast<const T*>(b.d) + i);
  Pack<T, N> out, dgate, dup;
  for (int j = 0; j < N; ++j) {
    const float g = ToFloat(gate.value[j]), u = ToFloat(up.value[j]), dy = ToFloat(grown.value[j]);
    const float sigmoid = Sigmoid(g);
    out.value[j] = FromFloat<T>(g * sigmoid * u);
    dup.value[j] = FromFloat<T>(dy * (g * sigmoid));
    dgate.value[j] = FromFloat<T>(dy * u * (sigmoid * (1.0f + g * (1.0f - sigmoid))));
  }
  T* to = static_cast<T*>(b.dgate_up) + row;
  Store(out, static_cast<T*>(s.activated) + i);
  Store(dgate, to + at);
  Store(dup, to + s.ffn + at);
}

template <typename T>
__global__ void DotRows(const DeviceDots d) {
  __shared__ float shared[32];
  const T* from = static_cast<const T*>(d.hidden) + int64_t{blockIdx.x} * d.width;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < d.width; i += blockDim.x) {
    sum = fmaf(ToFloat(from[i]), d.weight[i], sum);
  }
  sum = BlockSum(sum, shared);
  if (threadIdx.x == 0) d.values[blockIdx.x] = sum;
}

__global__ void DotRowsBackward(const DeviceDotsBackward b) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, width = b.forward.width;
  if (i < b.forward.rows * width) {
    b.dhidden[i] += b.dvalues[i / width] * b.forward.weight[i % width];
  }
}

template <typename T>
__global__ void DotWeightPartials(const DeviceDotsBackward b) {
  const T* hidden = static_cast<const T*>(b.forward.hidden);
  const int64_t width = b.forward.width;
  SliceSum(b.forward.rows, width, b.partial, [&](int64_t row, int64_t column) {
    return b.dvalues[row] * ToFloat(hidden[row * width + column]);
  });
}

__global__ void AddListedRows(const DeviceRowList l) {
  const int64_t i = blockIdx.x;
  float* out = l.to + int64_t{l.place[i]} * l.width;
  for (int64_t column = threadIdx.x; column < l.width; column += blockDim.x) {
    float sum = 0;
    for (int j = l.first[i]; j < l.first[i + 1]; ++j) {
      sum += l.from[int64_t{l.list[j]} * l.width + column];
    }
    out[column] += sum;
  }
}

template <typename T>
__global__ void RowSums(const DeviceRowSums s) {
  const T* y = static_cast<const T*>(s.y);
  SliceSum(s.rows, s.n, s.partial,
           [&](int64_t row, int64_t column) { return ToFloat(y[row * s.y_row + column]); });
}

// Eight runs of slices side by side, then these in order.
__global__ void AddPartialRows(const DevicePartials p) {
  constexpr int kRuns = 8;
  __shared__ float runs[kRuns][32];
  const int64_t column = int64_t{blockIdx.x} * 32 + threadIdx.x;
  const int64_t length = (p.count + kRuns - 1) / kRuns;
  const int64_t begin = threadIdx.y * length, end = min(begin + length, p.count);
  float sum = 0;
  const int64_t row = p.row == 0 ? p.n : p.row;
  if (column < p.n) {
#pragma unroll 8
    for (int64_t i = begin; i < end; ++i) sum += p.partial[i * row + column];
  }
  runs[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= p.n) return;
  for (int run = 1; run < kRuns; ++run) sum += runs[run][threadIdx.x];
  p.to[column] = p.add ? p.to[column] + sum : sum;
}

// The same of one slice.
template <int N>
__global__ void AddOneSlice(const float* from, int64_t n, float* to) {
  const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * N;
  if (i >= n) return;
  const Pack<float, N> in = Load<N>(from + i);
  Pack<float, N> out = Load<N>(to + i);
  for (int j = 0; j < N; ++j) out.value[j] += 0.0f + in.value[j];
  Store(out, to + i);
}

template <typename T, int N>
__global__ void ConvertNumbers(const float* from, int64_t n, T* to) {
  const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * N;
  if (i >= n) return;
  const Pack<float, N> in = Load<N>(from + i);
  Pack<T, N> out;
  for (int j = 0; j < N; ++j) out.value[j] = FromFloat<T>(in.value[j]);
  Store(out, to + i);
}

}  // namespace

void Embed(DeviceContext* context, const DeviceEmbedding& e) {
  if (e.rows == 0) return;
  WithElement(e.element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    if (Whole(e.width, 4)) {
      EmbedRows<T, 4><<<BlocksFor(e.rows, 1), kThreadsOfRow, 0, context->stream>>>(e);
    } else {
      EmbedRows<T, 1><<<BlocksFor(e.rows, 1), kThreadsOfRow, 0, context->stream>>>(e);
    }
  });
  Launched(context, "embed");
}

void AddBias(DeviceContext* context, const float* bias, int64_t rows, int64_t n, float* x) {
  if (rows == 0) return;
  AddBiasRows<<<BlocksFor(rows * n, kFlatThreads), kFlatThreads, 0, context->stream>>>(bias, rows,
                                                                                       n, x);
  Launched(context, "add_bias");
}

void SwiGlu(DeviceContext* context, const DeviceSwiGlu& s) {
  if (s.rows == 0) return;
  WithElement(s.element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    constexpr int kMany = 16 / sizeof(T);
    const int64_t n = s.rows * s.ffn;
    if (Whole(s.ffn, kMany)) {
      SwiGluRows<T, kMany>
          <<<BlocksFor(n, kFlatThreads * kMany), kFlatThreads, 0, context->stream>>>(s);
    } else {
      SwiGluRows<T, 1><<<BlocksFor(n, kFlatThreads), kFlatThreads, 0, context->stream>>>(s);
    }
  });
  Launched(context, "swiglu");
}

void SwiGluBackward(DeviceContext* context, const DeviceSwiGluBackward& b) {
  if (b.forward.rows == 0) return;
  WithElement(b.forward.element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    constexpr int kMany = 16 / sizeof(T);
    const int64_t n = b.forward.rows * b.forward.ffn;
    if (Whole(b.forward.ffn, kMany)) {
      SwiGluRowsBackward<T, kMany>
          <<<BlocksFor(n, kFlatThreads * kMany), kFlatThreads, 0, context->stream>>>(b);
    } else {
      SwiGluRowsBackward<T, 1><<<BlocksFor(n, kFlatThreads), kFlatThreads, 0, context->stream>>>(b);
    }
  });
  Launched(context, "swiglu_backward");
}

void RowDots(DeviceContext* context, const DeviceDots& d) {
  if (d.rows == 0) return;
  WithElement(d.element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    DotRows<T><<<BlocksFor(d.rows, 1), kThreadsOfRow, 0, context->stream>>>(d);
  });
  Launched(context, "row_dots");
}

void RowDotsBackward(DeviceContext* context, const DeviceDotsBackward& b) {
  const DeviceDots& d = b.forward;
  if (d.rows == 0) return;
  DotRowsBackward<<<BlocksFor(d.rows * d.width, kFlatThreads), kFlatThreads, 0, context->stream>>>(
      b);
  WithElement(d.element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    DotWeightPartials<T><<<SliceGrid(d.rows, d.width), kFlatThreads, 0, context->stream>>>(b);
  });
  Launched(context, "row_dots_backward");
}

void AddRows(DeviceContext* context, const DeviceRowList& l) {
  if (l.places == 0) return;
  AddListedRows<<<BlocksFor(l.places, 1), kThreadsOfRow, 0, context->stream>>>(l);
  Launched(context, "add_rows");
}

void SumRows(DeviceContext* context, const DeviceRowSums& s) {
  if (s.rows == 0) return;
  WithElement(s.element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    RowSums<T><<<SliceGrid(s.rows, s.n), kFlatThreads, 0, context->stream>>>(s);
  });
  Launched(context, "sum_rows");
}

void AddPartials(DeviceContext* context, const DevicePartials& p) {
  if (p.n == 0) return;
  if (p.count == 1 && p.add && Whole(p.n, 4)) {
    AddOneSlice<4><<<BlocksFor(p.n, kFlatThreads * 4), kFlatThreads, 0, context->stream>>>(
        p.partial, p.n, p.to);
    return Launched(context, "add_partials");
  }
  AddPartialRows<<<BlocksFor(p.n, 32), dim3(32, 8), 0, context->stream>>>(p);
  Launched(context, "add_partials");
}

void Convert(DeviceContext* context, const float* from, int64_t n, Element element, void* to) {
  if (n == 0) return;
  WithElement(element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    if (Whole(n, 4)) {
      ConvertNumbers<T, 4><<<BlocksFor(n, kFlatThreads * 4), kFlatThreads, 0, context->stream>>>(
          from, n, static_cast<T*>(to));
    } else {
      ConvertNumbers<T, 1><<<BlocksFor(n, kFlatThreads), kFlatThreads, 0, context->stream>>>(
          from, n, static_cast<T*>(to));
    }
  });
  Launched(context, "convert");
}

}  // namespace hone::cuda
