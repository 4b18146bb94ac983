#pragma once

// Runs of the kernels that change weights, on random problems: norms of gradients, steps of both
// optimisers, mixing.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/device/device_problems.h"
#include "engine/device/device_trial.h"

namespace hone {

inline Output Doubles(const std::string& name, const std::vector<double>& values) {
  return {name, std::vector<float>(values.begin(), values.end())};
}

inline Outputs RunNormScale(DeviceTrial* t, int64_t n, double most, bool finite) {
  std::vector<float> x = RandomFloats(Rng(12), n);
  if (!finite) x[n / 2] = std::numeric_limits<float>::infinity();
  const float* values = t->Put(x);
  double *squares = t->Put(std::vector<double>{2.5}), *norm = t->Poisoned<double>(1);
  float* scale = t->Poisoned<float>(1);
  t->Run([&](auto& api, auto* context) {
    api.add_squares(context, values, n, squares);
    api.add_squares(context, values, n / 2, squares);
    api.norm_scale(context, squares, most, norm, scale);
  });
  const float got = t->Get(scale, 1)[0];
  EXPECT_EQ(std::isfinite(got), finite);
  if (!finite) return {};
  return {
      Doubles("squares", t->Get(squares, 1)), Doubles("norm", t->Get(norm, 1)), {"scale", {got}}};
}

inline constexpr float kNoScale = std::numeric_limits<float>::quiet_NaN();

// Some steps, in between one whose gradient is not finite.
inline Outputs RunAdamW(DeviceTrial* t, int64_t n, bool codes) {
  const Rng rng(13);
  DeviceAdamW a{.n = n, .beta1 = 0.9f, .rest1 = 0.1f, .beta2 = 0.95f, .rest2 = 0.05f};
  a.step_size = 1e-2f, a.second_scale = 1.5f, a.eps = 1e-8f, a.decay = 0.999f;
  a.value = t->Put(RandomFloats(rng.Split("value"), n));
  a.rounded = t->Poisoned<uint16_t>(n);
  const int64_t blocks = (n + kMomentBlock - 1) / kMomentBlock;
  const std::vector<float> zeros(n), block_zeros(blocks);
  const std::vector<uint8_t> code_zeros(n);
  if (codes) {
    a.first_code = t->Put(code_zeros), a.second_code = t->Put(code_zeros);
    a.first_scale = t->Put(block_zeros), a.second_scale_of = t->Put(block_zeros);
  } else {
    a.first = t->Put(zeros), a.second = t->Put(zeros);
  }
  int seed = 0;
  for (const float scale : {1.0f, 0.3f, kNoScale, 0.9f}) {
    a.gradient = t->Put(RandomFloats(rng.Split(seed++), n));
    a.scale = t->Put(std::vector<float>{scale});
    t->Run([&](auto& api, auto* context) { api.adamw(context, a); });
  }
  Outputs outputs = {{"value", t->Get(a.value, n), codes},
                     {"rounded", t->Get(a.rounded, n, Element::kBf16), true}};
  if (codes) {
    const auto first = t->Get(a.first_code, n), second = t->Get(a.second_code, n);
    Output firsts{"first", {}, true}, seconds{"second", {}, true};
    for (const uint8_t code : first) firsts.values.push_back(static_cast<int8_t>(code));
    for (const uint8_t code : second) seconds.values.push_back(code);
    outputs.insert(outputs.end(), {firsts, seconds});
    outputs.push_back({"first_scale", t->Get(a.first_scale, blocks), true});
    outputs.push_back({"second_scale", t->Get(a.second_scale_of, blocks), true});
  } else {
    outputs.push_back({"first", t->Get(a.first, n)});
    outputs.push_back({"second", t->Get(a.second, n)});
  }
  return outputs;
}

inline Outputs RunOrthogonal(DeviceTrial* t, int64_t rows, int64_t columns) {
  const Rng rng(14);
  const int64_t n = rows * columns;
  float* moment = t->Put(RandomFloats(rng.Split("moment"), n));
  const std::vector<float> before = RandomFloats(rng.Split("value"), n);
  float *value = t->Put(before), *step = t->Poisoned<float>(n);
  uint16_t* rounded = t->Poisoned<uint16_t>(n);
  void* room = t->Poisoned<uint8_t>(t->api().orthogonal_room(rows, columns));
  Outputs outputs;
  int seed = 0;
  for (const float scale : {0.7f, kNoScale, 1.0f}) {
    const float* gradient = t->Put(RandomFloats(rng.Split(seed++), n));
    const float* scale_at = t->Put(std::vector<float>{scale});
    t->Run([&](auto& api, auto* context) {
      api.momentum(context, {n, scale_at, 0.95f, gradient, moment, step});
    });
    if (seed == 1) outputs.push_back({"step", t->Get(step, n)});
    t->Run([&](auto& api, auto* context) {
      api.orthogonal_step(context,
                          {rows, columns, scale_at, step, room, 0.5f, 0.3f, value, rounded});
    });
  }
  outputs.push_back({"moment", t->Get(moment, n)});
  // What bfloat16 loses inside of the iteration is compared with the weights that it changes.
  outputs.push_back({"value", t->Get(value, n), true});
  outputs.push_back({"rounded", t->Get(rounded, n, Element::kBf16), true});
  return outputs;
}

inline Outputs RunMix(DeviceTrial* t, int64_t n, double share) {
  const float* others = t->Put(RandomFloats(Rng(15), n));
  float* value = t->Put(RandomFloats(Rng(16), n));
  t->Run([&](auto& api, auto* context) { api.mix(context, {n, share, others, value}); });
  return {{"value", t->Get(value, n)}};
}

}  // namespace hone
