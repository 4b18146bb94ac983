#include <gtest/gtest.h>

#include "engine/benchmark.h"

namespace hone {
namespace {

TEST(DeviceBenchmark, SaysSharesOfAScaleThatItMeasuresItself) {
  DeviceBenchmarkOptions options;
  options.device = DeviceKind::kReference;
  options.largest = 64;
  options.copied = 1 << 20;
  options.layers = 1;
  options.width = options.ffn = 64;
  options.live = 2;
  options.sequences = 1;
  options.length = 16;
  const auto report = MeasureDevice(options, [](std::string_view) {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->kernels, "reference device");
  EXPECT_GT(report->scale_gflops, 0);
  EXPECT_GT(report->scale_gigabytes, 0);
  ASSERT_EQ(report->measurements.size(), 7u);
  for (const Measurement& m : report->measurements) {
    EXPECT_GT(m.share, 0) << m.name;
    EXPECT_GT(m.gflops, 0) << m.name;
  }
  EXPECT_NE(report->measurements[5].name.find("2 live"), std::string::npos);
  EXPECT_GT(report->measurements[6].per_second, 0);
}

TEST(DeviceBenchmark, TheProcessorIsNoDevice) {
  DeviceBenchmarkOptions options;
  options.device = DeviceKind::kCpu;
  EXPECT_FALSE(MeasureDevice(options, [](std::string_view) {}).ok());
}

}  // namespace
}  // namespace hone
