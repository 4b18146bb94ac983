#include "engine/device/device_weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "engine/buffer.h"

namespace hone {
namespace {

// Parameters that follow the one before them without a gap.
std::set<int> Continuations(const Model& model) {
  std::set<int> parameters;
  for (const LayerParameters& layer : model.layers) {
    for (const auto& [before, after] : {std::pair(layer.q, layer.k), std::pair(layer.k, layer.v),
                                        std::pair(layer.gate, layer.up)}) {
      CHECK(after == before + 1, "matrices of one input follow each other");
      parameters.insert(after);
    }
  }
  return parameters;
}

}  // namespace

DeviceWeights::DeviceWeights(const Model* model, std::shared_ptr<Device> device,
                             Precision precision)
    : model_(model),
      device_(std::move(device)),
      element_(precision == Precision::kBf16 ? Element::kBf16 : Element::kF32),
      blank_(model->parameters.size(), true) {
  const std::set<int> continuations = Continuations(*model);
  for (size_t p = 0; p < model->parameters.size(); ++p) {
    const Parameter& parameter = model->parameters[p];
    const bool continues = continuations.contains(static_cast<int>(p));
    const bool held = element_ == Element::kF32 || parameter.trained ||
                      parameter.shape.size() == 1 || static_cast<int>(p) == model->scalar_head;
    if (!continues) operand_count_ = RoundUp(operand_count_, kMomentBlock);
    operand_offset_.push_back(operand_count_);
    operand_count_ += SizeOf(p);
    value_offset_.push_back(-1);
    if (!held) continue;
    if (!continues) value_count_ = RoundUp(value_count_, kMomentBlock);
    value_offset_.back() = value_count_;
    value_count_ += SizeOf(p);
  }
  operand_count_ = RoundUp(operand_count_, kMomentBlock);
  value_count_ = RoundUp(value_count_, kMomentBlock);
  values_ = DeviceBuffer(device_, value_count_ * int64_t{sizeof(float)});
  device_->api().fill(device_->context(), values_.data(), 0, values_.bytes());
  if (element_ == Element::kBf16) {
    operands_ = DeviceBuffer(device_, operand_count_ * BytesOf(element_));
    device_->api().fill(device_->context(), operands_.data(), 0, operands_.bytes());
  }
  gradients_ = DeviceBuffer(device_);
  Upload();
}

// Matrices that are not held in float32 pass through a buffer of some million numbers.
void DeviceWeights::Upload(size_t first) {
  constexpr int64_t kPassing = int64_t{1} << 24;
  const DeviceApi& api = device_->api();
  DeviceBuffer passing(device_);
  for (size_t p = first; p < model_->parameters.size(); ++p) {
    const float* from = model_->parameters[p].value.data();
    const int64_t size = SizeOf(p);
    if (value_offset_[p] >= 0) {
      float* to = Value(static_cast<int>(p));
      api.upload(device_->context(), from, size * int64_t{sizeof(float)}, to);
      if (element_ == Element::kBf16) {
        api.convert(device_->context(), to, size, element_,
                    operands_.as<uint16_t>() + operand_offset_[p]);
      }
      continue;
    }
    passing.Grow(std::min(size, kPassing) * int64_t{sizeof(float)});
    for (int64_t at = 0; at < size; at += kPassing) {
      const int64_t some = std::min(kPassing, size - at);
      api.upload(device_->context(), from + at, some * int64_t{sizeof(float)}, passing.data());
      api.convert(device_->context(), passing.as<float>(), some, element_,
                  operands_.as<uint16_t>() + operand_offset_[p] + at);
    }
  }
  device_->Synchronize();
}

void DeviceWeights::Download(Model* model) const {
  for (size_t p = 0; p < model->parameters.size(); ++p) {
    if (!model->parameters[p].trained) continue;
    device_->Download(Value(static_cast<int>(p)), SizeOf(p) * int64_t{sizeof(float)},
                      model->parameters[p].value.data());
  }
}

void DeviceWeights::MakeGradients() {
  if (gradients_.bytes() > 0) return;
  if (!spare_.empty()) {
    gradients_ = std::move(spare_.back());
    spare_.pop_back();
    return ClearGradients();
  }
  gradients_.Grow(value_count_ * int64_t{sizeof(float)});
  // What lies between parameters stays zero.
  device_->api().fill(device_->context(), gradients_.data(), 0, gradients_.bytes());
  ClearGradients();
}

void DeviceWeights::ClearGradients() { blank_.assign(model_->parameters.size(), true); }

void DeviceWeights::SetGradientsAside() {
  MakeGradients();
  for (size_t p = 0; p < blank_.size(); ++p) Gradient(static_cast<int>(p));  // zeros are written
  aside_.push_back(std::exchange(gradients_, DeviceBuffer(device_)));
  MakeGradients();
}

void DeviceWeights::AddGradientsAside() {
  for (size_t p = 0; p < blank_.size(); ++p) Gradient(static_cast<int>(p));
  device_->api().add_partials(device_->context(), {.partial = aside_.back().as<float>(),
                                                   .count = 1,
                                                   .n = value_count_,
                                                   .to = gradients_.as<float>()});
  spare_.push_back(std::move(aside_.back()));
  aside_.pop_back();
}

Gradients DeviceWeights::TakeGradients() {
  Gradients gradients(gradients_.bytes() == 0 ? 0 : model_->parameters.size());
  for (size_t p = 0; p < gradients.size(); ++p) {
    const float* gradient = Gradient(static_cast<int>(p));
    if (gradient == nullptr) continue;
    gradients[p].resize(static_cast<size_t>(SizeOf(p)));
    device_->Download(gradient, SizeOf(p) * int64_t{sizeof(float)}, gradients[p].data());
  }
  ClearGradients();
  return gradients;
}

void DeviceWeights::PutGradients(const Gradients& gradients) {
  ClearGradients();
  for (size_t p = 0; p < gradients.size(); ++p) {
    if (gradients[p].empty()) continue;
    blank_[p] = false;
    device_->api().upload(device_->context(), gradients[p].data(),
                          SizeOf(p) * int64_t{sizeof(float)},
                          gradients_.as<float>() + value_offset_[p]);
  }
  device_->Synchronize();
}

void DeviceWeights::WriteZeros(size_t parameter) const {
  if (!blank_[parameter] || gradients_.bytes() == 0) return;
  blank_[parameter] = false;
  device_->api().fill(device_->context(), gradients_.as<float>() + value_offset_[parameter], 0,
                      SizeOf(parameter) * int64_t{sizeof(float)});
}

DeviceWeights::Whole DeviceWeights::WholeGradient(int first, int count) const {
  if (!Trained(first)) return {nullptr, false};
  const auto begin = blank_.begin() + first, end = begin + count;
  const bool add = std::find(begin, end, false) != end;
  if (!add) std::fill(begin, end, false);
  for (int p = first; p < first + count; ++p) WriteZeros(static_cast<size_t>(p));
  return {Gradient(first), add};
}

const void* DeviceWeights::Operand(int parameter) const {
  if (parameter < 0) return nullptr;
  if (element_ == Element::kF32) return Value(parameter);
  return operands_.as<uint16_t>() + operand_offset_[static_cast<size_t>(parameter)];
}

float* DeviceWeights::Value(int parameter) const {
  if (parameter < 0) return nullptr;
  const int64_t offset = value_offset_[static_cast<size_t>(parameter)];
  DCHECK(offset >= 0);
  return values_.as<float>() + offset;
}

float* DeviceWeights::Gradient(int parameter) const {
  if (!Trained(parameter)) return nullptr;
  WriteZeros(static_cast<size_t>(parameter));
  return gradients_.as<float>() + value_offset_[static_cast<size_t>(parameter)];
}

std::vector<DeviceWeights::Run> DeviceWeights::Runs(const std::vector<bool>& chosen) const {
  std::vector<Run> runs;
  int64_t next = -1, next_operand = -1;  // where the last run ends
  for (size_t p = 0; p < chosen.size(); ++p) {
    if (!chosen[p]) continue;
    WriteZeros(p);
    const int64_t at = value_offset_[p], operand = operand_offset_[p];
    // Gaps between parameters hold zeros, which stay zeros.
    const bool goes_on = !runs.empty() && at >= next && at - next < kMomentBlock &&
                         operand - next_operand == at - next && chosen[p - 1];
    if (goes_on) {
      runs.back().count = at + SizeOf(p) - runs.back().offset;
    } else {
      runs.push_back({at, SizeOf(p),
                      element_ == Element::kBf16 ? operands_.as<uint16_t>() + operand : nullptr,
                      values_.as<float>() + at, gradients_.as<float>() + at});
    }
    next = at + SizeOf(p);
    next_operand = operand + SizeOf(p);
  }
  return runs;
}

}  // namespace hone
