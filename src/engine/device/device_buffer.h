#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/device/device.h"

namespace hone {

// Memory of a device. It keeps its device open. Throws DeviceError when the memory does not
// suffice.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;  // of no device: not to be grown
  explicit DeviceBuffer(std::shared_ptr<const Device> device, int64_t bytes = 0);
  ~DeviceBuffer() { Release(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { Swap(&other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer(std::move(other)).Swap(this);
    return *this;
  }

  // Has room for so many bytes from now on: stays as it is where it has, otherwise what was in it
  // is lost. Work that was called before may still read the old memory: it is not reused before
  // that.
  void Grow(int64_t bytes);
  // Gives the memory back.
  void Release();

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void Swap(DeviceBuffer* other) noexcept;

  std::shared_ptr<const Device> device_;
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace hone
