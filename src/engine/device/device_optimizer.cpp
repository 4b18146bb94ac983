#include "engine/device/device_optimizer.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/check.h"
#include "engine/device/moment_codes.h"

namespace hone {
namespace {

// Of a step: the sum of squares, the norm, what gradients are multiplied by.
struct StepNumbers {
  double squares, norm;
  float scale;
};

}  // namespace

DeviceOptimizer::DeviceOptimizer(DeviceWeights* weights, std::shared_ptr<Device> device, bool small)
    : weights_(weights),
      device_(std::move(device)),
      small_(small),
      first_(device_),
      second_(device_),
      first_scale_(device_),
      second_scale_(device_),
      numbers_(device_, sizeof(StepNumbers)),
      step_(device_),
      room_(device_) {
  const int64_t count = weights->value_count();
  const int64_t bytes = small ? count : count * int64_t{sizeof(float)};
  std::vector<std::pair<DeviceBuffer*, int64_t>> parts = {{&first_, bytes}, {&second_, bytes}};
  if (small) {
    const int64_t blocks = count / kMomentBlock;
    parts.emplace_back(&first_scale_, blocks * int64_t{sizeof(float)});
    parts.emplace_back(&second_scale_, blocks * int64_t{sizeof(float)});
  }
  for (const auto& [part, size] : parts) {
    part->Grow(size);
    device_->api().fill(device_->context(), part->data(), 0, size);
  }
}

int64_t DeviceOptimizer::bytes() const {
  int64_t bytes = 0;
  for (const DeviceBuffer* buffer :
       {&first_, &second_, &first_scale_, &second_scale_, &numbers_, &step_, &room_}) {
    bytes += buffer->bytes();
  }
  return bytes;
}

void DeviceOptimizer::AdamW(const std::vector<DeviceWeights::Run>& runs,
                            const AdamWUpdate& update) {
  for (const DeviceWeights::Run& run : runs) {
    DeviceAdamW u;
    u.n = run.count;
    u.beta1 = update.beta1;
    u.rest1 = update.rest1;
    u.beta2 = update.beta2;
    u.rest2 = update.rest2;
    u.step_size = update.step_size;
    u.second_scale = update.second_scale;
    u.eps = update.eps;
    u.decay = update.decay;
    u.scale = &numbers_.as<StepNumbers>()->scale;
    u.gradient = run.gradient;
    u.value = run.value;
    u.rounded = run.rounded;
    if (small_) {
      CHECK(run.offset % kMomentBlock == 0);
      u.first_code = first_.as<uint8_t>() + run.offset;
      u.second_code = second_.as<uint8_t>() + run.offset;
      u.first_scale = first_scale_.as<float>() + run.offset / kMomentBlock;
      u.second_scale_of = second_scale_.as<float>() + run.offset / kMomentBlock;
    } else {
      u.first = first_.as<float>() + run.offset;
      u.second = second_.as<float>() + run.offset;
    }
    device_->api().adamw(device_->context(), u);
  }
}

void DeviceOptimizer::Orthogonal(const OptimizerOptions& options, size_t p, float decay) {
  const DeviceApi& api = device_->api();
  const Parameter& parameter = weights_->model().parameters[p];
  const int64_t rows = parameter.shape[0], columns = parameter.shape[1], n = rows * columns;
  std::vector<bool> one(weights_->model().parameters.size(), false);
  one[p] = true;
  const DeviceWeights::Run run = weights_->Runs(one).at(0);
  const float* scale = &numbers_.as<StepNumbers>()->scale;
  step_.Grow(n * int64_t{sizeof(float)});
  room_.Grow(api.orthogonal_room(rows, columns));
  DeviceMomentum m;
  m.n = n;
  m.scale = scale;
  m.momentum = static_cast<float>(options.momentum);
  m.gradient = run.gradient;
  m.moment = first_.as<float>() + run.offset;
  m.step = step_.as<float>();
  api.momentum(device_->context(), m);
  DeviceOrthogonal o;
  o.rows = rows;
  o.columns = columns;
  o.scale = scale;
  o.step = step_.as<float>();
  o.room = room_.data();
  o.decay = decay;
  o.size = OrthogonalStepSize(options, rows, columns);
  o.value = run.value;
  o.rounded = run.rounded;
  api.orthogonal_step(device_->context(), o);
}

double DeviceOptimizer::Step(const OptimizerOptions& options) {
  const DeviceApi& api = device_->api();
  const Model& model = weights_->model();
  const StepRoles roles = RolesInStep(options, model);
  if (small_ && options.kind == OptimizerOptions::Kind::kMuon) {
    throw DeviceError(DeviceError::Kind::kFull,
                      "Muon's moments are float32: use model.moments = \"f32\", or optimizer = "
                      "\"adamw\" in every stage");
  }
  auto* numbers = numbers_.as<StepNumbers>();
  api.fill(device_->context(), numbers, 0, sizeof(StepNumbers));
  for (const DeviceWeights::Run& run : weights_->Runs(roles.taking_part)) {
    api.add_squares(device_->context(), run.gradient, run.count, &numbers->squares);
  }
  api.norm_scale(device_->context(), &numbers->squares, options.max_norm, &numbers->norm,
                 &numbers->scale);
  StepNumbers seen{};
  device_->Download(numbers, sizeof seen, &seen);
  if (std::isfinite(seen.norm)) {
    ++head_steps_;
    if (!options.head_only) ++steps_;
    const AdamWUpdate update = UpdateAt(options, false, std::max<int64_t>(steps_, 1), seen.scale);
    const AdamWUpdate head = UpdateAt(options, true, head_steps_, seen.scale);
    for (size_t p = 0; p < roles.orthogonal.size(); ++p) {
      if (roles.orthogonal[p]) Orthogonal(options, p, update.decay);
    }
    AdamW(weights_->Runs(roles.adamw), update);
    AdamW(weights_->Runs(roles.head), head);
  }
  weights_->ClearGradients();
  return seen.norm;
}

void DeviceOptimizer::Download(Optimizer* optimizer) const {
  const int64_t blocks = weights_->value_count() / kMomentBlock;
  optimizer->steps = steps_;
  optimizer->head_steps = head_steps_;
  std::vector<float> scales(small_ ? static_cast<size_t>(blocks) : 0);
  std::vector<uint8_t> codes;
  for (const bool second : {false, true}) {
    auto& moments = second ? optimizer->second_moments : optimizer->first_moments;
    const DeviceBuffer& held = second ? second_ : first_;
    if (small_) {
      device_->Download((second ? second_scale_ : first_scale_).data(),
                        blocks * int64_t{sizeof(float)}, scales.data());
    }
    for (size_t p = 0; p < moments.size(); ++p) {
      const auto size = static_cast<int64_t>(moments[p].size());
      if (size == 0) continue;
      const int64_t offset = weights_->OffsetOf(p);
      if (!small_) {
        device_->Download(held.as<float>() + offset, size * int64_t{sizeof(float)},
                          moments[p].data());
        continue;
      }
      codes.resize(static_cast<size_t>(size));
      device_->Download(held.as<uint8_t>() + offset, size, codes.data());
      for (int64_t i = 0; i < size; ++i) {
        const float scale = scales[static_cast<size_t>((offset + i) / kMomentBlock)];
        const uint8_t code = codes[static_cast<size_t>(i)];
        moments[p][static_cast<size_t>(i)] =
            second ? SecondMomentOf(code, scale) : FirstMomentOf(code, scale);
      }
    }
  }
}

void DeviceOptimizer::Upload(const Optimizer& optimizer) {
  const DeviceApi& api = device_->api();
  steps_ = optimizer.steps;
  head_steps_ = optimizer.head_steps;
  // Blocks of codes go across parameters, so all moments are laid out first.
  for (const bool second : {false, true}) {
    const auto& moments = second ? optimizer.second_moments : optimizer.first_moments;
    const DeviceBuffer& held = second ? second_ : first_;
    std::vector<float> all(small_ ? static_cast<size_t>(weights_->value_count()) : 0, 0.0f);
    for (size_t p = 0; p < moments.size(); ++p) {
      if (moments[p].empty()) continue;
      const int64_t offset = weights_->OffsetOf(p);
      if (small_) {
        std::copy(moments[p].begin(), moments[p].end(), all.begin() + offset);
      } else {
        api.upload(device_->context(), moments[p].data(),
                   static_cast<int64_t>(moments[p].size() * sizeof(float)),
                   held.as<float>() + offset);
      }
    }
    if (!small_) continue;
    std::vector<float> scales;
    std::vector<uint8_t> codes(all.size());
    for (size_t begin = 0; begin < all.size(); begin += kMomentBlock) {
      float largest = 0;
      for (size_t i = begin; i < begin + kMomentBlock; ++i) {
        largest = std::max(largest, std::fabs(all[i]));
      }
      scales.push_back(largest);
      for (size_t i = begin; i < begin + kMomentBlock; ++i) {
        codes[i] = second ? SecondMomentCode(all[i], largest) : FirstMomentCode(all[i], largest);
      }
    }
    api.upload(device_->context(), codes.data(), static_cast<int64_t>(codes.size()), held.data());
    api.upload(device_->context(), scales.data(),
               static_cast<int64_t>(scales.size() * sizeof(float)),
               (second ? second_scale_ : first_scale_).data());
  }
  device_->Synchronize();
}

}  // namespace hone
