#pragma once

// What the tests of device kernels share: the devices of this machine, and memory for one call.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "engine/bfloat16.h"
#include "engine/device/device.h"
#include "engine/device/device_buffer.h"
#include "engine/device/reference_device.h"

namespace hone {

// Opened once: preparing products takes a device some time.
inline Result<std::shared_ptr<Device>> SharedDevice(const DeviceApi* api) {
  static std::map<const DeviceApi*, Result<std::shared_ptr<Device>>> open;
  const auto found = open.find(api);
  return found != open.end() ? found->second : open.emplace(api, Device::Open(api)).first->second;
}

// Why there is no CUDA device; empty where there is one.
inline std::string WhyNoCuda() {
  const Result<const DeviceApi*> api = CudaDeviceApi();
  if (!api.ok()) return api.error().message();
  const auto device = SharedDevice(*api);
  return device.ok() ? "" : device.error().message();
}

inline std::vector<const DeviceApi*> DevicesHere() {
  std::vector<const DeviceApi*> devices = {ReferenceDevice()};
  if (WhyNoCuda().empty()) devices.push_back(*CudaDeviceApi());
  return devices;
}

// A test of the device with a name; it is skipped where that is not here.
class DeviceTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const DeviceApi* api : DevicesHere()) {
      if (api->name == GetParam()) api_ = api;
    }
    if (api_ == nullptr) GTEST_SKIP() << WhyNoCuda();
  }
  const DeviceApi* api_ = nullptr;
};
#define HONE_FOR_EVERY_DEVICE(suite)                                             \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::Values("reference", "cuda"), \
                           [](const auto& one) { return one.param; })

inline constexpr Element kElements[] = {Element::kF32, Element::kBf16};
inline std::string NameOf(Element element) { return element == Element::kF32 ? "f32" : "bf16"; }

inline float RoundedTo(Element element, float value) {
  return element == Element::kF32 ? value : RoundToBf16(value);
}

// Normal numbers, as the element holds them.
inline std::vector<float> RandomFloats(Rng rng, int64_t count, double scale = 1,
                                       Element element = Element::kF32) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = RoundedTo(element, static_cast<float>(scale * rng.NextNormal()));
  }
  return values;
}

// Memory of a device for one call of a kernel, or several. Outputs are poisoned: what was not
// written reads as not-a-number, or as -1.
class DeviceTrial {
 public:
  explicit DeviceTrial(const DeviceApi* api, bool record = false)
      : DeviceTrial(*SharedDevice(api), record) {}
  DeviceTrial(std::shared_ptr<Device> device, bool record)
      : device_(std::move(device)), record_(record) {}

  const DeviceApi& api() const { return device_->api(); }
  DeviceContext* context() const { return device_->context(); }

  template <typename T>
  T* Put(const std::vector<T>& values) {
    const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
    void* memory = New(bytes);
    api().upload(context(), values.data(), bytes, memory);
    return static_cast<T*>(memory);
  }
  void* Put(const std::vector<float>& values, Element element) {
    if (element == Element::kF32) return Put(values);
    std::vector<Bf16> rounded;
    for (const float value : values) rounded.push_back(Bf16OfFloat(value));
    return Put(rounded);
  }
  template <typename T>
  T* Poisoned(int64_t count) {
    const auto bytes = count * static_cast<int64_t>(sizeof(T));
    void* memory = New(bytes);
    api().fill(context(), memory, 0xFF, bytes);
    return static_cast<T*>(memory);
  }
  void* Poisoned(int64_t count, Element element) {
    return element == Element::kF32 ? static_cast<void*>(Poisoned<float>(count))
                                    : Poisoned<Bf16>(count);
  }

  // call(api, context), directly or through a recording.
  template <typename F>
  void Run(F call) {
    if (!record_) return call(api(), context());
    api().begin_recording(context());
    call(api(), context());
    void* recording = api().end_recording(context());
    ASSERT_NE(recording, nullptr) << api().error(context());
    api().launch(context(), recording);
    EXPECT_TRUE(api().synchronize(context())) << api().error(context());
    api().forget(context(), recording);
  }

  template <typename T>
  std::vector<T> Get(const T* from, int64_t count) const {
    std::vector<T> values(static_cast<size_t>(count));
    device_->Download(from, count * static_cast<int64_t>(sizeof(T)), values.data());
    return values;
  }
  std::vector<float> Get(const void* from, int64_t count, Element element) const {
    if (element == Element::kF32) return Get(static_cast<const float*>(from), count);
    std::vector<float> values;
    for (const Bf16 bits : Get(static_cast<const Bf16*>(from), count)) {
      values.push_back(FloatOfBf16(bits));
    }
    return values;
  }

 private:
  void* New(int64_t bytes) {
    buffers_.emplace_back(device_, std::max<int64_t>(bytes, 1));
    return buffers_.back().data();
  }

  std::shared_ptr<Device> device_;
  bool record_;
  std::vector<DeviceBuffer> buffers_;
};

// One output of a kernel, as floats. `loose`: bfloat16 was somewhere on its way.
struct Output {
  std::string name;
  std::vector<float> values;
  bool loose = false;
};
using Outputs = std::vector<Output>;

inline bool SameBits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
}

// Every output is written, and the bits are the same.
inline void ExpectSameBits(const Outputs& expected, const Outputs& outputs) {
  ASSERT_EQ(expected.size(), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(SameBits(expected[i].values, outputs[i].values)) << outputs[i].name;
    for (const float value : outputs[i].values) {
      ASSERT_FALSE(std::isnan(value)) << outputs[i].name << " was not written everywhere";
    }
  }
}

inline double RelativeError(const std::vector<float>& expected, const std::vector<float>& got) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double apart = static_cast<double>(got[i]) - expected[i];
    difference += apart * apart;
    size += static_cast<double>(expected[i]) * expected[i];
  }
  return std::sqrt(difference) / (std::sqrt(size) + 1e-30);
}

// The same by the relative error in L2, which is not-a-number where something was not written.
inline void ExpectClose(const Outputs& expected, const Outputs& outputs) {
  ASSERT_EQ(expected.size(), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSERT_EQ(expected[i].values.size(), outputs[i].values.size()) << outputs[i].name;
    EXPECT_LE(RelativeError(expected[i].values, outputs[i].values), outputs[i].loose ? 1e-2 : 1e-5)
        << outputs[i].name;
  }
}

}  // namespace hone
