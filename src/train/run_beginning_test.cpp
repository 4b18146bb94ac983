#include "train/run_beginning.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/device/reference_device.h"

namespace hone {
namespace {

TEST(RunBeginning, ARunSaysWhatComputedItAndReplayAsksForTheSame) {
  TemporaryDirectory directory;
  const auto device = Device::Open(ReferenceDevice()).value();
  EXPECT_TRUE(CheckSameKindOfDevice(directory.path(), nullptr).ok())
      << "from before it was written";
  EXPECT_FALSE(CheckSameKindOfDevice(directory.path(), device.get()).ok());
  ASSERT_TRUE(NoteEngine(directory.path(), "cpu avx2").ok());
  ASSERT_TRUE(NoteEngine(directory.path(), "cpu avx2").ok());
  EXPECT_EQ(ReadFile(directory.path() / "engine.txt").value(), "cpu avx2\n");
  EXPECT_TRUE(CheckSameKindOfDevice(directory.path(), nullptr).ok()) << "any processor";
  ASSERT_TRUE(NoteEngine(directory.path(), device->Description() + "; products of some kind").ok());
  EXPECT_TRUE(CheckSameKindOfDevice(directory.path(), device.get()).ok());
  const Result<void> other = CheckSameKindOfDevice(directory.path(), nullptr);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("whose bits are others"), std::string::npos);
}

}  // namespace
}  // namespace hone
