#include "engine/device/device_buffer.h"

#include <utility>

#include "base/check.h"

namespace hone {

DeviceBuffer::DeviceBuffer(std::shared_ptr<const Device> device, int64_t bytes)
    : device_(std::move(device)) {
  Grow(bytes);
}

void DeviceBuffer::Grow(int64_t bytes) {
  if (bytes <= bytes_) return;
  CHECK(device_ != nullptr, "a buffer of no device grows");
  Release();
  data_ = device_->Allocate(bytes);
  bytes_ = bytes;
}

void DeviceBuffer::Release() {
  if (data_ != nullptr) device_->Release(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
}

void HostBuffer::Grow(int64_t bytes) {
  if (bytes <= bytes_) return;
  Release();
  data_ = device_->AllocateHost(bytes);
  bytes_ = bytes;
}

void HostBuffer::Release() {
  if (data_ != nullptr) device_->api().release_host(device_->context(), data_);
  data_ = nullptr;
  bytes_ = 0;
}

void DeviceBuffer::Swap(DeviceBuffer* other) noexcept {
  std::swap(device_, other->device_);
  std::swap(data_, other->data_);
  std::swap(bytes_, other->bytes_);
}

}  // namespace hone
