#include "engine/device/device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include <dlfcn.h>

#include "base/file.h"
#include "engine/device/device_buffer.h"
#include "engine/device/reference_device.h"

namespace hone {
namespace {

using Places = std::vector<std::filesystem::path>;

// An environment variable that has another value as long as this lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value == nullptr) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value, 1);
    }
  }
  ~ScopedVariable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string ErrorOf(const Places& places) {
  const Result<const DeviceApi*> api = OpenDeviceApi(places);
  return api.ok() ? "" : api.error().message();
}

// The file of the C library that runs here.
std::filesystem::path SomeLibrary() {
  Dl_info info{};
  ::dladdr(::dlsym(RTLD_DEFAULT, "getenv"), &info);
  return info.dli_fname;
}

TEST(Device, KindsAreNamed) {
  for (const DeviceKind kind :
       {DeviceKind::kAuto, DeviceKind::kCpu, DeviceKind::kCuda, DeviceKind::kReference}) {
    const Result<DeviceKind> parsed = ParseDeviceKind(DeviceKindName(kind));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, kind);
  }
  const Result<DeviceKind> none = ParseDeviceKind("gpu");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message(), "there is no device \"gpu\"; say auto, cpu or cuda");
}

TEST(Device, ALibraryThatIsNotThereOrIsAnotherIsAnErrorThatSaysWhatToDo) {
  const TemporaryDirectory directory;
  const std::filesystem::path absent = directory.path() / "libhone_cuda.so";
  {
    const ScopedVariable named("HONE_CUDA_LIBRARY", nullptr);
    EXPECT_EQ(ErrorOf({absent}),
              "this build of hone has no CUDA side (libhone_cuda.so is not beside the program): "
              "build where nvcc is found, or use --device cpu");
  }
  {
    const ScopedVariable named("HONE_CUDA_LIBRARY", absent.c_str());
    EXPECT_NE(ErrorOf({absent}).find("which is not there; correct it or unset it"),
              std::string::npos);
  }
  const std::filesystem::path text = directory.path() / "text.so";
  ASSERT_TRUE(WriteFileAtomic(text, "no machine code").ok());
  const std::string unreadable = ErrorOf({absent, text});
  EXPECT_NE(unreadable.find("text.so: "), std::string::npos)
      << unreadable << ": the linker's words";
  EXPECT_NE(unreadable.find("--device cpu"), std::string::npos) << unreadable;
  const std::string foreign = ErrorOf({SomeLibrary()});
  EXPECT_NE(foreign.find("has no hone_device_api"), std::string::npos) << foreign;
}

#ifdef HONE_FOREIGN_DEVICE
TEST(Device, ALibraryOfAnotherVersionIsRefused) {
  if (!std::filesystem::exists(HONE_FOREIGN_DEVICE)) GTEST_SKIP() << "it is not here";
  const std::string error = ErrorOf({HONE_FOREIGN_DEVICE});
  EXPECT_NE(error.find("is of another version of hone"), std::string::npos) << error;
  EXPECT_NE(error.find("build both together"), std::string::npos) << error;
}
#endif

TEST(Device, TheProcessorIsNone) {
  const Result<std::shared_ptr<Device>> device = Device::Open(DeviceKind::kCpu);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(*device, nullptr);
}

TEST(Device, AutoIsWhatTheEnvironmentSays) {
  {
    const ScopedVariable asked("HONE_DEVICE", "cpu");
    EXPECT_EQ(*Device::Open(DeviceKind::kAuto), nullptr);
    EXPECT_NE(*Device::Open(DeviceKind::kReference), nullptr) << "who says one gets that one";
  }
  {
    const ScopedVariable asked("HONE_DEVICE", "reference");
    const std::shared_ptr<Device> device = *Device::Open(DeviceKind::kAuto);
    ASSERT_NE(device, nullptr);
    EXPECT_STREQ(device->api().name, "reference");
    EXPECT_EQ(*Device::Open(DeviceKind::kCpu), nullptr);
  }
  {
    const ScopedVariable asked("HONE_DEVICE", "abacus");
    const Result<std::shared_ptr<Device>> device = Device::Open(DeviceKind::kAuto);
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.error().message(),
              "HONE_DEVICE: there is no device \"abacus\"; say auto, cpu or cuda");
  }
  const ScopedVariable asked("HONE_DEVICE", nullptr);
  EXPECT_TRUE(Device::Open(DeviceKind::kAuto).ok()) << "to have no GPU is no error";
}

TEST(Device, ANumberThatIsNoneIsSaid) {
  if (!CudaDeviceApi().ok()) GTEST_SKIP() << "this build has no CUDA side";
  for (const char* name : {"HONE_GPU", "OMPI_COMM_WORLD_LOCAL_RANK"}) {
    const ScopedVariable asked(name, "first");
    const Result<std::shared_ptr<Device>> device = Device::Open(DeviceKind::kCuda);
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.error().message(),
              std::string(name) +
                  "=first is no number of a GPU; give 0, 1, ... as nvidia-smi lists them");
  }
}

TEST(Device, WhatIsUploadedIsDownloaded) {
  const std::shared_ptr<Device> device = *Device::Open(DeviceKind::kReference);
  const std::vector<float> numbers = {1, 2, 3};
  const DeviceBuffer buffer(device, 3 * sizeof(float));
  device->api().upload(device->context(), numbers.data(), buffer.bytes(), buffer.data());
  std::vector<float> back(3);
  device->Download(buffer.as<float>() + 1, 2 * sizeof(float), back.data());
  EXPECT_EQ(back, (std::vector<float>{2, 3, 0}));
  device->Synchronize();
}

TEST(Device, AFailureIsThrownByWhoeverWaitsForIt) {
  const std::shared_ptr<Device> device = *Device::Open(DeviceKind::kReference);
  const DeviceBuffer buffer(device, 8);
  std::vector<char> host(64);
  try {
    device->Download(buffer.data(), 64, host.data());  // beyond the memory
    FAIL() << "nothing was thrown";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.kind(), DeviceError::Kind::kLost);
    EXPECT_NE(std::string(error.what()).find("last checkpoint"), std::string::npos) << error.what();
  }
  EXPECT_THROW(device->Synchronize(), DeviceError) << "it stays";
}

TEST(DeviceBuffer, GrowsAndIsGivenBack) {
  const std::shared_ptr<Device> device = *Device::Open(DeviceKind::kReference);
  const int64_t free = device->info().free_memory;
  {
    DeviceBuffer buffer(device);
    EXPECT_EQ(buffer.data(), nullptr);
    buffer.Grow(1000);
    void* const first = buffer.data();
    EXPECT_NE(first, nullptr);
    EXPECT_EQ(buffer.bytes(), 1000);
    buffer.Grow(10);
    EXPECT_EQ(buffer.data(), first) << "it has room for that";
    EXPECT_EQ(buffer.bytes(), 1000);
    buffer.Grow(2000);
    EXPECT_EQ(buffer.bytes(), 2000);
    EXPECT_EQ(device->info().free_memory, free - 2000);
    DeviceBuffer other = std::move(buffer);
    EXPECT_EQ(other.bytes(), 2000);
    EXPECT_EQ(buffer.bytes(), 0);  // NOLINT: moved from, and empty
    other = DeviceBuffer(device, 100);
    EXPECT_EQ(device->info().free_memory, free - 100);
    other.Release();
    EXPECT_EQ(other.data(), nullptr);
    other.Grow(50);
  }
  EXPECT_EQ(device->info().free_memory, free);
}

TEST(DeviceBuffer, MemoryThatDoesNotSufficeIsASentenceAndLessMayStillBeHad) {
  const ScopedVariable small("HONE_REFERENCE_MEMORY", "2");
  const std::shared_ptr<Device> device = *Device::Open(DeviceKind::kReference);
  DeviceBuffer kept(device, 1 << 20);
  DeviceBuffer buffer(device, 1 << 10);
  try {
    buffer.Grow(2 << 20);
    FAIL() << "nothing was thrown";
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), DeviceError::Kind::kFull);
    for (const char* part : {" is full: ", "stage.groups", "model.recompute_activations=true",
                             "from its last checkpoint"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  EXPECT_EQ(buffer.bytes(), 0);
  buffer.Grow(1 << 19);
  EXPECT_EQ(buffer.bytes(), 1 << 19);
}

TEST(DeviceCuda, OpensOrSaysWhyNot) {
  const Result<std::shared_ptr<Device>> device = Device::Open(DeviceKind::kCuda);
  if (!device.ok()) {
    EXPECT_FALSE(device.error().message().empty());
    GTEST_SKIP() << device.error().message();
  }
  const DeviceInfo info = (*device)->info();
  EXPECT_GT(info.memory, 0);
  EXPECT_LE(info.free_memory, info.memory);
  DeviceBuffer buffer(*device, 1 << 20);
  EXPECT_THROW(DeviceBuffer(*device, 2 * info.memory), DeviceError);
  (*device)->api().fill((*device)->context(), buffer.data(), 0x40, buffer.bytes());
  std::vector<uint8_t> back(1 << 20);
  (*device)->Download(buffer.data(), buffer.bytes(), back.data());
  EXPECT_EQ(back.back(), 0x40);
}

}  // namespace
}  // namespace hone
