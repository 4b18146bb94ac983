#include "app/doctor_gpu.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"
#include "engine/device/device.h"

namespace hone {
namespace {

using State = Finding::State;

// 13000 is CUDA 13.0.
std::string CudaVersion(int32_t version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

// 130002 is cuBLASLt 13.0.2.
std::string ProductLibraryVersion(int64_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

// Where models compute that are opened with "auto".
Finding InUse(const Result<std::shared_ptr<Device>>& opened) {
  if (!opened.ok()) {
    return {"gpu", "device in use", State::kMissing, opened.error().message(),
            "unset HONE_DEVICE, or say cpu"};
  }
  return {"gpu", "device in use", State::kGood, *opened == nullptr ? "cpu" : (*opened)->api().name,
          ""};
}

}  // namespace

std::vector<Finding> GpuFindings(const DeviceInfo& info, std::string_view module) {
  constexpr double kGibibyte = 1 << 30;
  std::vector<Finding> found;
  found.push_back({"gpu", "GPU", State::kGood, info.name, ""});
  found.push_back(
      {"gpu", "memory", State::kGood,
       fmt::format("{:.1f} GiB, {:.1f} free", static_cast<double>(info.memory) / kGibibyte,
                   static_cast<double>(info.free_memory) / kGibibyte),
       ""});
  found.push_back(
      {"gpu", "driver", State::kGood,
       fmt::format("{}{}for {}", module, module.empty() ? "" : ", ", CudaVersion(info.driver)),
       ""});
  const bool products = info.product_library > 0;
  found.push_back({"gpu", "cuBLASLt", products ? State::kGood : State::kOptional,
                   products ? ProductLibraryVersion(info.product_library) : "not found",
                   products ? "" : "products of matrices are slow without it"});
  return found;
}

std::vector<Finding> ExamineGpu() {
  const Result<std::shared_ptr<Device>> in_use = Device::Open(DeviceKind::kAuto);
  const Result<std::shared_ptr<Device>> gpu = Device::Open(DeviceKind::kCuda);
  std::vector<Finding> found;
  if (gpu.ok()) {
    const Result<std::string> module = ReadFile("/sys/module/nvidia/version");
    found = GpuFindings((*gpu)->info(), module.ok() ? Trim(*module) : "");
  } else {
    found.push_back({"gpu", "GPU", State::kOptional, "none", gpu.error().message()});
  }
  found.push_back(InUse(in_use));
  return found;
}

}  // namespace hone
