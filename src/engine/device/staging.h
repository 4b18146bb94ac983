#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "engine/device/device_buffer.h"

namespace hone {

// Tables on a device hold numbers of 32 bits.
inline int32_t Narrow(int64_t value) { return static_cast<int32_t>(value); }

// Small tables for a device, gathered here and sent in one piece: lists of rows, places, rules.
class Staging {
 public:
  explicit Staging(std::shared_ptr<Device> device) : device_(device), memory_(std::move(device)) {}

  // It does not move before more than this is sent.
  void Reserve(int64_t bytes) { memory_.Grow(bytes); }
  const void* data() const { return memory_.data(); }
  int64_t bytes() const { return memory_.bytes(); }

  void Begin() { bytes_.clear(); }
  // Where the values will lie; At says the address after Send.
  template <typename T>
  size_t Add(std::span<const T> values) {
    const size_t at = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
    bytes_.resize(at + values.size_bytes());
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
    return at;
  }
  template <typename T>
  size_t Add(const std::vector<T>& values) {
    return Add(std::span<const T>(values));
  }
  void Send() {
    memory_.Grow(static_cast<int64_t>(bytes_.size()));
    device_->api().upload(device_->context(), bytes_.data(), static_cast<int64_t>(bytes_.size()),
                          memory_.data());
  }
  template <typename T>
  const T* At(size_t place) const {
    return reinterpret_cast<const T*>(memory_.as<char>() + place);
  }

 private:
  static constexpr size_t kAlignment = 16;
  std::shared_ptr<Device> device_;
  std::vector<char> bytes_;
  DeviceBuffer memory_;
};

}  // namespace hone
