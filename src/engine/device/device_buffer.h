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

// Memory of the host that a device can write to while the host does something else.
class HostBuffer {
 public:
  explicit HostBuffer(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  ~HostBuffer() { Release(); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  // As DeviceBuffer::Grow. Not while the device writes to it.
  void Grow(int64_t bytes);
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void Release();

  std::shared_ptr<const Device> device_;
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace hone
