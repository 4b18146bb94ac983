#include "engine/device/reference_device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/device_buffer.h"

namespace hone {
namespace {

// A variable of the environment, for as long as it lives.
class VariableSet {
 public:
  VariableSet(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    ::setenv(name, value, 1);
  }
  ~VariableSet() {
    if (had_) {
      ::setenv(name_, before_.c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  bool had_;
  std::string before_;
};

std::shared_ptr<Device> OpenReferenceDevice() { return *Device::Open(ReferenceDevice()); }

TEST(ReferenceDevice, ItsMemoryRunsOutWhereItIsAskedTo) {
  const VariableSet limit("HONE_REFERENCE_MEMORY", "1");
  const auto device = OpenReferenceDevice();
  EXPECT_EQ(device->info().memory, 1 << 20);
  void* most = device->Allocate(600 << 10);
  EXPECT_EQ(device->info().free_memory, 424 << 10);
  EXPECT_EQ(device->api().allocate(device->context(), 600 << 10), nullptr);
  EXPECT_EQ(std::string(device->api().error(device->context())), "") << "being full is no failure";
  device->api().release(device->context(), most);
  EXPECT_NE(device->api().allocate(device->context(), 600 << 10), nullptr);
}

TEST(ReferenceDevice, WhatIsTakenIsCountedAndTheMostOfIt) {
  const auto device = OpenReferenceDevice();
  {
    DeviceBuffer first(device, 1000);
    EXPECT_EQ(device->taken_bytes(), 1000);
    first.Grow(3000);
    const DeviceBuffer second(device, 500);
    EXPECT_EQ(device->taken_bytes(), 3500);
  }
  EXPECT_EQ(device->taken_bytes(), 0);
  EXPECT_EQ(device->peak_bytes(), 3500) << "a buffer that grows gives back what it had first";
}

TEST(ReferenceDevice, IsBusyWhileItComputesAndWhileItRunsWhatWasRecorded) {
  const auto device = OpenReferenceDevice();
  const DeviceBuffer buffer(device, 64 << 20);
  auto fill = [&] { device->api().fill(device->context(), buffer.data(), 1, buffer.bytes()); };
  EXPECT_EQ(device->busy_seconds(), 0);
  fill();
  const double once = device->busy_seconds();
  EXPECT_GT(once, 0);
  device->Synchronize();
  EXPECT_EQ(device->busy_seconds(), once) << "waiting is no work";
  device->api().begin_recording(device->context());
  fill();
  void* recording = device->api().end_recording(device->context());
  EXPECT_EQ(device->busy_seconds(), once) << "recorded, not run";
  device->api().launch(device->context(), recording);
  EXPECT_GT(device->busy_seconds(), once);
  device->api().forget(device->context(), recording);
}

TEST(ReferenceDevice, AMemoryThatIsNoNumberIsToldWithWhatToDo) {
  for (const char* bad : {"much", "", "-1", "1x"}) {
    const VariableSet limit("HONE_REFERENCE_MEMORY", bad);
    const auto device = Device::Open(ReferenceDevice());
    ASSERT_FALSE(device.ok()) << bad;
    EXPECT_NE(device.error().message().find("correct it or unset it"), std::string::npos);
  }
  EXPECT_FALSE(Device::Open(ReferenceDevice(), 1).ok()) << "there is one";
}

TEST(ReferenceDevice, FreshMemoryIsNotANumber) {
  const auto device = OpenReferenceDevice();
  const auto* memory = static_cast<const float*>(device->Allocate(400));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(std::isnan(memory[i]));
}

TEST(ReferenceDevice, WhatIsRecordedRunsWhenItIsLaunched) {
  const auto device = OpenReferenceDevice();
  const DeviceApi& api = device->api();
  auto* x = static_cast<float*>(device->Allocate(8));
  auto* one = static_cast<float*>(device->Allocate(8));
  x[0] = x[1] = 1;
  one[0] = one[1] = 1;
  api.begin_recording(device->context());
  api.add_bias(device->context(), one, 1, 2, x);
  void* recording = api.end_recording(device->context());
  EXPECT_EQ(x[0], 1);
  api.launch(device->context(), recording);
  api.launch(device->context(), recording);
  EXPECT_EQ(x[0], 3);
  api.forget(device->context(), recording);
  device->Synchronize();
}

TEST(ReferenceDevice, WhatAGpuCannotRecordIsAFailure) {
  using Call = std::function<void(const DeviceApi&, DeviceContext*, void*)>;
  std::vector<float> pageable(2);
  const std::vector<std::pair<std::string, Call>> calls = {
      {"allocate", [](auto& api, auto* c, void*) { api.allocate(c, 8); }},
      {"synchronize", [](auto& api, auto* c, void*) { api.synchronize(c); }},
      {"download", [&](auto& api, auto* c, void* x) { api.download(c, x, 8, pageable.data()); }},
      {"upload", [&](auto& api, auto* c, void* x) { api.upload(c, pageable.data(), 8, x); }}};
  for (const auto& [name, call] : calls) {
    const auto device = OpenReferenceDevice();
    void* x = device->Allocate(8);
    device->api().begin_recording(device->context());
    call(device->api(), device->context(), x);
    device->api().forget(device->context(), device->api().end_recording(device->context()));
    const std::string error = device->api().error(device->context());
    EXPECT_NE(error.find(name), std::string::npos) << error;
    EXPECT_NE(error.find("recorded"), std::string::npos) << error;
  }
}

TEST(ReferenceDevice, TransfersBeyondTheMemoryAreFailures) {
  using Call = std::function<void(const DeviceApi&, DeviceContext*, char*)>;
  std::vector<char> host(64);
  const std::vector<Call> calls = {
      [&](auto& api, auto* c, char* x) { api.upload(c, host.data(), 9, x); },
      [&](auto& api, auto* c, char* x) { api.download(c, x + 1, 8, host.data()); },
      [&](auto& api, auto* c, char* x) {
        api.download_rows(c, {x, 4, 3, 4}, host.data());
      },
      [&](auto& api, auto* c, char* x) { api.copy(c, host.data(), 8, x); },
      [](auto& api, auto* c, char* x) { api.fill(c, x - 1, 0, 2); }};
  for (const Call& call : calls) {
    const auto device = OpenReferenceDevice();
    auto* x = static_cast<char*>(device->Allocate(8));
    call(device->api(), device->context(), x);
    EXPECT_FALSE(device->api().synchronize(device->context()));
    const std::string error = device->api().error(device->context());
    EXPECT_NE(error.find("beyond the device's memory"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace hone
