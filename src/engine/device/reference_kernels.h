#pragma once

// What the files of the reference device share. One function per entry of the table of
// device_api.h; an entry's arguments, where they are not a struct of device_api.h, are one in their
// order.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/bfloat16.h"
#include "engine/device/device_api.h"
#include "engine/kernels/kernels.h"

namespace hone::reference {

// Row by row, what the processor's plain kernels compute: they are a definition already.
inline const Kernels& Plain() { return *PlainKernels(); }

inline float Rounded(float value, Element element) {
  return element == Element::kF32 ? value : RoundToBf16(value);
}

inline float Get(const void* from, Element element, int64_t i) {
  return element == Element::kF32 ? static_cast<const float*>(from)[i]
                                  : FloatOfBf16(static_cast<const Bf16*>(from)[i]);
}

inline void Set(float value, Element element, void* to, int64_t i) {
  if (element == Element::kF32) {
    static_cast<float*>(to)[i] = value;
  } else {
    static_cast<Bf16*>(to)[i] = Bf16OfFloat(value);
  }
}

// `count` numbers from element `first` on.
inline std::vector<float> GetRow(const void* from, Element element, int64_t first, int64_t count) {
  std::vector<float> row(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) row[static_cast<size_t>(i)] = Get(from, element, first + i);
  return row;
}

inline void SetRow(const std::vector<float>& row, Element element, void* to, int64_t first) {
  for (const float value : row) Set(value, element, to, first++);
}

// reference_rows.cpp
void Multiply(const DeviceProduct&);
void Embed(const DeviceEmbedding&);
void RmsNorm(const DeviceNorm&);
void RmsNormBackward(const DeviceNormBackward&);

void FinishQkv(const DeviceQkv&);
void FinishQkvBackward(const DeviceQkvBackward&);

struct AddBiasCall {
  const float* bias;
  int64_t rows, n;
  float* x;
};
void AddBias(const AddBiasCall&);
void SwiGlu(const DeviceSwiGlu&);
void SwiGluBackward(const DeviceSwiGluBackward&);
void RowDots(const DeviceDots&);
void RowDotsBackward(const DeviceDotsBackward&);
void AddRows(const DeviceRowList&);
void SumRows(const DeviceRowSums&);

void AddPartials(const DevicePartials&);

struct ConvertCall {
  const float* from;
  int64_t n;
  Element element;
  void* to;
};
void Convert(const ConvertCall&);

// reference_attention.cpp
void Attend(const DeviceAttention&);
void AttendBackward(const DeviceAttentionBackward&);

// reference_distribution.cpp
void Score(const DeviceDistribution&);
void ScoreBackward(const DeviceDistributionBackward&);
void Draw(const DeviceDraw&);

// reference_update.cpp
struct AddSquaresCall {
  const float* x;
  int64_t n;
  double* squares;
};
void AddSquares(const AddSquaresCall&);

struct NormScaleCall {
  const double* squares;
  double most;
  double* norm;
  float* scale;
};
void NormScale(const NormScaleCall&);

void AdamW(const DeviceAdamW&);
void Momentum(const DeviceMomentum&);

void OrthogonalStep(const DeviceOrthogonal&);
void Mix(const DeviceMix&);

}  // namespace hone::reference
