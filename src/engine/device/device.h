#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/device/device_api.h"

namespace hone {

// Where a model computes. kAuto: on the GPU where there is one that answers, else on the processor.
// kReference is the definition of a device, in plain C++ (reference_device.h): for tests.
enum class DeviceKind { kAuto, kCpu, kCuda, kReference };

// "auto", "cpu", "cuda", "reference".
std::string_view DeviceKindName(DeviceKind kind);
Result<DeviceKind> ParseDeviceKind(std::string_view text);

// What ends a computation on a device: its memory is full, or it has failed. The text is a sentence
// with a next step. What a run has written so far is whole: it can be resumed.
class DeviceError : public std::runtime_error {
 public:
  enum class Kind { kFull, kLost };
  DeviceError(Kind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}

  // kFull: less may still be computed. kLost: nothing is, with this context.
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// The table of libhone_cuda.so, which is opened once and stays open. Looked for at
// HONE_CUDA_LIBRARY where that is set, else beside the program and in ../lib/hone of its folder.
Result<const DeviceApi*> CudaDeviceApi();
// The table of the first of these files that is there.
Result<const DeviceApi*> OpenDeviceApi(std::span<const std::filesystem::path> places);

// An open device. Contexts are not synchronised: one thread at a time.
class Device {
 public:
  // Null for the processor. kAuto is what HONE_DEVICE says where that is set; otherwise the GPU
  // where one answers, and why none does is no error. Of several GPUs it is number HONE_GPU; where
  // that is not set, each process of a launcher (mpirun, srun) takes its own.
  static Result<std::shared_ptr<Device>> Open(DeviceKind kind);
  // The device `index` of a table, counted round.
  static Result<std::shared_ptr<Device>> Open(const DeviceApi* api, int32_t index = 0);

  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceApi& api() const { return *api_; }
  DeviceContext* context() const { return context_; }
  // As it is now: how much memory is free changes.
  DeviceInfo info() const;
  std::string name() const { return info().name; }
  // What was allocated here and not given back, now and at most, in bytes. What the libraries of
  // the device take for themselves is not in it.
  int64_t taken_bytes() const { return taken_bytes_; }
  int64_t peak_bytes() const { return peak_bytes_; }
  // DeviceApi::busy_seconds.
  double busy_seconds() const { return api_->busy_seconds(context_); }
  // What its bits belong to: the kind of device, and the libraries that compute there.
  std::string Description() const;

  // These throw DeviceError: when there is not so much memory (DeviceBuffer gives it back); when
  // anything that was called so far has failed, for which the other two wait.
  void* Allocate(int64_t bytes) const;
  // DeviceApi::allocate_host, whose memory goes back by release_host.
  void* AllocateHost(int64_t bytes) const;
  // Gives back what Allocate gave for so many bytes.
  void Release(void* memory, int64_t bytes) const;
  void Synchronize() const;
  void Download(const void* from, int64_t bytes, void* to) const;
  void DownloadRows(const DeviceRows& rows, void* to) const;

 private:
  Device(const DeviceApi* api, DeviceContext* context) : api_(api), context_(context) {}
  [[noreturn]] void ThrowLost() const;

  const DeviceApi* api_;
  DeviceContext* context_;
  mutable int64_t taken_bytes_ = 0, peak_bytes_ = 0;  // buffers have a device that is const
};

}  // namespace hone
