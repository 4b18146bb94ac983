// Steps of the optimizer.

#include <cmath>
#include <cstring>

#include "base/thread_pool.h"
#include "engine/device/device_room.h"
#include "engine/device/moment_codes.h"
#include "engine/device/reference_kernels.h"
#include "engine/update/orthogonal.h"

namespace hone::reference {
namespace {

// Some moments of one kind, as they are kept: with their scale, in 8 bits.
template <uint8_t (*code)(float, float), float (*number)(uint8_t, float)>
struct CodedMoments {
  uint8_t* codes;
  float* scale;

  std::vector<float> Decode(int64_t count) const {
    std::vector<float> moments;
    for (int64_t i = 0; i < count; ++i) moments.push_back(number(codes[i], *scale));
    return moments;
  }
  void Encode(const std::vector<float>& moments) const {
    *scale = 0;
    for (const float moment : moments) *scale = std::max(*scale, std::abs(moment));
    for (size_t i = 0; i < moments.size(); ++i) codes[i] = code(moments[i], *scale);
  }
};
using FirstMoments = CodedMoments<&FirstMomentCode, &FirstMomentOf>;
using SecondMoments = CodedMoments<&SecondMomentCode, &SecondMomentOf>;

void AdamWCoded(const DeviceAdamW& a, const AdamWUpdate& update) {
  for (int64_t at = 0, block = 0; at < a.n; at += kMomentBlock, ++block) {
    const int64_t count = std::min<int64_t>(kMomentBlock, a.n - at);
    const FirstMoments first{a.first_code + at, a.first_scale + block};
    const SecondMoments second{a.second_code + at, a.second_scale_of + block};
    std::vector<float> firsts = first.Decode(count), seconds = second.Decode(count);
    Plain().adamw(update, a.gradient + at, count, a.value + at, firsts.data(), seconds.data());
    first.Encode(firsts);
    second.Encode(seconds);
  }
}

void RoundWeights(const float* value, int64_t n, uint16_t* rounded) {
  for (int64_t i = 0; i < n && rounded != nullptr; ++i) rounded[i] = Bf16OfFloat(value[i]);
}

}  // namespace

void AddSquares(const AddSquaresCall& c) {
  double sum = 0;
  for (int64_t i = 0; i < c.n; ++i) sum += static_cast<double>(c.x[i]) * c.x[i];
  *c.squares += sum;
}

void NormScale(const NormScaleCall& c) {
  *c.norm = std::sqrt(*c.squares);
  const bool clip = c.most > 0 && *c.norm > c.most;
  *c.scale = !std::isfinite(*c.norm) ? std::nanf("")
             : clip                  ? static_cast<float>(c.most / (*c.norm + 1e-6))
                                     : 1.0f;
}

void AdamW(const DeviceAdamW& a) {
  if (!std::isfinite(*a.scale)) return;
  const AdamWUpdate update{*a.scale,    a.beta1,        a.rest1, a.beta2, a.rest2,
                           a.step_size, a.second_scale, a.eps,   a.decay};
  if (a.first_code == nullptr) {
    Plain().adamw(update, a.gradient, a.n, a.value, a.first, a.second);
  } else {
    AdamWCoded(a, update);
  }
  RoundWeights(a.value, a.n, a.rounded);
}

// Where the scale is not finite, the moment stays as it is (it would never become finite again) and
// no step is taken, so none is set.
void Momentum(const DeviceMomentum& c) {
  for (int64_t i = 0; i < c.n && std::isfinite(*c.scale); ++i) {
    const float slope = c.gradient[i] * *c.scale;
    c.moment[i] = c.momentum * c.moment[i] + slope;
    c.step[i] = slope + c.momentum * c.moment[i];
  }
}

void OrthogonalStep(const DeviceOrthogonal& c) {
  if (!std::isfinite(*c.scale)) return;
  // The room is not needed here; whoever thinks that something in it lasts is told.
  std::memset(c.room, 0xFF, static_cast<size_t>(OrthogonalRoomBytes(c.rows, c.columns)));
  ThreadPool pool(1);
  Orthogonalize(c.rows, c.columns, c.step, Plain(), &pool);
  const int64_t n = c.rows * c.columns;
  for (int64_t i = 0; i < n; ++i) c.value[i] = c.decay * c.value[i] - c.size * c.step[i];
  RoundWeights(c.value, n, c.rounded);
}

void Mix(const DeviceMix& c) {
  const auto theirs = static_cast<float>(c.share), own = static_cast<float>(1 - c.share);
  for (int64_t i = 0; i < c.n; ++i) {
    c.value[i] = c.share == 1 ? c.others[i] : own * c.value[i] + theirs * c.others[i];
  }
}

}  // namespace hone::reference
