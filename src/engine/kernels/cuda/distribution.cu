// Scoring: log-probabilities and entropies of rows of logits, and their gradient. A block per row.

#include <type_traits>

#include "engine/kernels/cuda/context.h"
#include "engine/kernels/cuda/distribution.cuh"

namespace hone::cuda {
namespace {

template <RowRead kWhole>
__global__ __launch_bounds__(kRowThreads, 2) void ScoreKernel(const DeviceDistribution d) {
  __shared__ RowSums segments[kRowWarps];
  const int64_t r = blockIdx.x;
  const PredictionRule rule = d.rules[r];
  float* const logits = d.logits + r * d.vocab;
  if (rule.forbidden) MaskForbidden(d.forbidden, d.forbidden_count, logits);
  RowStatistics statistics;
  if (rule.kept_count > 0) {
    const RowItems row{logits, d.kept + rule.kept_first, rule.kept_count};
    statistics = StatisticsOf<RowRead::kList>(row, rule.inverse_temperature, segments);
  } else {
    const RowItems row{logits, nullptr, static_cast<int32_t>(d.vocab)};
    statistics = StatisticsOf<kWhole>(row, rule.inverse_temperature, segments);
  }
  if (threadIdx.x != 0) return;
  d.logprob[r] = LogProbOf(logits[rule.token], rule.inverse_temperature, statistics.log_sum);
  d.entropy[r] = statistics.entropy;
  d.log_sum[r] = statistics.log_sum;
}

// The gradient of one row: dlogit of a token that is not the one scored.
struct RowGradient {
  float inverse, log_sum, entropy, dlogprob, dentropy;

  __device__ __forceinline__ float Of(float logit) const {
    const float log_p = LogProbOf(logit, inverse, log_sum);
    return -inverse * FastExp(log_p) * (dlogprob + dentropy * (log_p + entropy));
  }
  // What the token that was scored has besides.
  __device__ __forceinline__ float OfToken() const { return inverse * dlogprob; }
};

// Sixteen bytes of gradients.
template <typename T>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / sizeof(T);
  T x[kSize];
};

// Packs, or single numbers where rows are not multiples of 16 bytes. Every pack is one step of a
// thread: f fills it, given the place of its first number.
template <bool kPacks, typename T, typename F>
__device__ __forceinline__ void WriteRow(int64_t vocab, T* out, F f) {
  if constexpr (kPacks) {
    const int32_t packs = static_cast<int32_t>(vocab) / Pack<T>::kSize;
#pragma unroll 2
    for (int32_t i = threadIdx.x; i < packs; i += kRowThreads) {
      Pack<T> pack;
      f(i * Pack<T>::kSize, pack.x);
      reinterpret_cast<Pack<T>*>(out)[i] = pack;
    }
  } else {
    for (int32_t i = threadIdx.x; i < vocab; i += kRowThreads) f(i, out + i);
  }
}

// The gradient over the whole vocabulary.
template <bool kPacks, typename T>
__device__ __forceinline__ void WriteGradient(const RowGradient& gradient, const float* logits,
                                              int32_t token, int64_t vocab, T* out) {
  WriteRow<kPacks>(vocab, out, [&](int32_t first, T* x) {
    alignas(16) float logit[Pack<T>::kSize];
    if constexpr (kPacks) {
#pragma unroll
      for (int j = 0; j < Pack<T>::kSize; j += 4) {
        *reinterpret_cast<float4*>(logit + j) =
            *reinterpret_cast<const float4*>(logits + first + j);
      }
    } else {
      logit[0] = logits[first];
    }
#pragma unroll
    for (int j = 0; j < (kPacks ? Pack<T>::kSize : 1); ++j) {
      float dlogit = gradient.Of(logit[j]);
      if (first + j == token) dlogit += gradient.OfToken();
      x[j] = FromFloat<T>(dlogit);
    }
  });
}

template <bool kPacks, typename T>
__global__ __launch_bounds__(kRowThreads,
                             2) void ScoreBackwardKernel(const DeviceDistributionBackward d) {
  const int64_t to = blockIdx.x, vocab = d.forward.vocab;
  const int64_t r = d.row_of == nullptr ? to : int64_t{d.row_of[to]};
  const PredictionRule rule = d.forward.rules[r];
  const float* const logits = d.forward.logits + r * vocab;
  T* const out = static_cast<T*>(d.dlogits) + to * vocab;
  const RowGradient gradient{rule.inverse_temperature, d.forward.log_sum[r], d.forward.entropy[r],
                             d.dlogprob[to], d.dentropy[to]};
  const bool nothing = gradient.dlogprob == 0 && gradient.dentropy == 0;
  if (!nothing && rule.kept_count == 0) {
    WriteGradient<kPacks>(gradient, logits, rule.token, vocab, out);
    return;
  }
  WriteRow<kPacks>(vocab, out, [](int32_t, T* x) {
#pragma unroll
    for (int j = 0; j < (kPacks ? Pack<T>::kSize : 1); ++j) x[j] = FromFloat<T>(0.0f);
  });
  if (nothing) return;
  __syncthreads();  // the zeros come first
  const int32_t* const kept = d.forward.kept + rule.kept_first;
  for (int32_t i = threadIdx.x; i < rule.kept_count; i += kRowThreads) {
    float dlogit = gradient.Of(logits[kept[i]]);
    if (kept[i] == rule.token) dlogit += gradient.OfToken();
    out[kept[i]] = FromFloat<T>(dlogit);
  }
}

}  // namespace

void Score(DeviceContext* context, const DeviceDistribution& d) {
  if (d.rows == 0) return;
  const auto blocks = static_cast<unsigned>(d.rows);
  if (InQuads(d.logits, d.vocab)) {
    ScoreKernel<RowRead::kQuads><<<blocks, kRowThreads, 0, context->stream>>>(d);
  } else {
    ScoreKernel<RowRead::kSingles><<<blocks, kRowThreads, 0, context->stream>>>(d);
  }
  Launched(context, "score");
}

void ScoreBackward(DeviceContext* context, const DeviceDistributionBackward& d) {
  if (d.count == 0) return;
  const auto blocks = static_cast<unsigned>(d.count);
  WithElement(d.element, [&](auto* element) {
    using T = std::remove_pointer_t<decltype(element)>;
    const bool packs = d.forward.vocab % Pack<T>::kSize == 0 &&
                       InQuads(d.forward.logits, d.forward.vocab) &&
                       reinterpret_cast<uintptr_t>(d.dlogits) % 16 == 0;
    if (packs) {
      ScoreBackwardKernel<true, T><<<blocks, kRowThreads, 0, context->stream>>>(d);
    } else {
      ScoreBackwardKernel<false, T><<<blocks, kRowThreads, 0, context->stream>>>(d);
    }
  });
  Launched(context, "score_backward");
}

}  // namespace hone::cuda
