#include <algorithm>

#include <fmt/format.h>

#include "base/rng.h"
#include "engine/benchmark.h"
#include "engine/device/device_buffer.h"

namespace hone {
namespace {

constexpr double kShortestTiming = 20e-3;  // seconds; short work is repeated for so long
constexpr int kTimings = 5;

// The median of some timings of work that is given to a device again and again, in seconds.
double SecondsOnDevice(const Device& device, const std::function<void()>& work) {
  work();  // choices and caches
  device.Synchronize();
  int64_t repeats = 1;
  std::vector<double> seconds;
  while (seconds.size() < kTimings) {
    const double begin = bench::Now();
    for (int64_t i = 0; i < repeats; ++i) work();
    device.Synchronize();
    const double took = bench::Now() - begin;
    if (took < kShortestTiming && repeats < (1 << 20)) {
      repeats *= 2;
    } else {
      seconds.push_back(took / static_cast<double>(repeats));
    }
  }
  return bench::Median(seconds);
}

struct ProductSize {
  int64_t rows, inputs, outputs;
  double Operations() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(inputs) *
           static_cast<double>(outputs);
  }
};

// Floating-point operations per second of a product as layers have them: bfloat16, whose bits do
// not depend on the number of rows.
Result<double> ProductRate(const std::shared_ptr<Device>& device, const ProductSize& size) {
  const DeviceApi& api = device->api();
  char chosen[512] = {};
  if (!api.prepare_product(device->context(),
                           {size.outputs, size.inputs, Element::kBf16, Element::kBf16, false,
                            std::min<int64_t>(size.rows, 8192)},
                           chosen, sizeof chosen)) {
    device->Synchronize();  // throws what the device says
  }
  Rng rng(1);
  std::vector<float> numbers(static_cast<size_t>(size.inputs));
  for (float& number : numbers) number = static_cast<float>(rng.NextNormal());
  DeviceBuffer row(device, size.inputs * 4), a(device, size.rows * size.inputs * 2),
      b(device, size.outputs * size.inputs * 2), out(device, size.rows * size.outputs * 2);
  api.upload(device->context(), numbers.data(), size.inputs * 4, row.data());
  for (const auto& [matrix, rows] : {std::pair(&a, size.rows), std::pair(&b, size.outputs)}) {
    for (int64_t r = 0; r < rows; ++r) {
      api.convert(device->context(), row.as<float>(), size.inputs, Element::kBf16,
                  matrix->as<uint16_t>() + r * size.inputs);
    }
  }
  DeviceProduct p;
  p.m = size.rows;
  p.n = p.out_row = size.outputs;
  p.k = p.a_row = p.b_row = size.inputs;
  p.a = a.data();
  p.b = b.data();
  p.out = out.data();
  p.output = Element::kBf16;
  return size.Operations() / SecondsOnDevice(*device, [&] { api.product(device->context(), p); });
}

double CopyRate(const std::shared_ptr<Device>& device, int64_t bytes) {
  const DeviceBuffer from(device, bytes), to(device, bytes);
  device->api().fill(device->context(), from.data(), 0, bytes);
  return 2.0 * static_cast<double>(bytes) / SecondsOnDevice(*device, [&] {
           device->api().copy(device->context(), from.data(), bytes, to.data());
         });
}

Measurement MeasureDraws(const DeviceBenchmarkOptions& options, const BenchmarkReport& scale,
                         Engine* engine) {
  const auto live = static_cast<uint64_t>(options.live);
  const auto sampler = bench::Decoding(engine, live);
  std::vector<double> seconds;
  for (int i = 0; i < kTimings; ++i) {
    seconds.push_back(bench::SecondsPerStep(sampler.get(), 16));
  }
  const double each = bench::Median(seconds);
  const auto parameters = static_cast<double>(engine->config().ParameterCount());
  Measurement m{fmt::format("decode, {:.1f} M, {} live", parameters / 1e6, live)};
  m.share = 2 * parameters / each / 1e9 / scale.scale_gigabytes;
  m.gflops = 2 * parameters * static_cast<double>(live) / each / 1e9;
  m.per_second = static_cast<double>(live) / each;
  m.note = "the share is of the copies: bytes of weights per second";
  return m;
}

Measurement MeasureSteps(const DeviceBenchmarkOptions& options, const BenchmarkReport& scale,
                         Engine* engine) {
  std::vector<Tree> trees;
  for (int64_t i = 0; i < options.sequences; ++i) {
    trees.push_back(ChainOf(
        bench::RandomTokens(static_cast<uint64_t>(i), options.length, engine->config().vocab)));
  }
  std::vector<double> seconds;
  for (int i = 0; i <= kTimings; ++i) {
    const double begin = bench::Now();
    engine->Accumulate(trees, bench::EqualDerivatives);
    engine->Step({.learning_rate = 1e-6});
    if (i > 0) seconds.push_back(bench::Now() - begin);  // the first one takes the memory
  }
  const auto parameters = static_cast<double>(engine->config().ParameterCount());
  const auto tokens = static_cast<double>(options.sequences * options.length);
  const double rate = 6 * parameters * tokens / bench::Median(seconds) / 1e9;
  Measurement m{fmt::format("training step, {:.1f} M, {} x {}", parameters / 1e6, options.sequences,
                            options.length)};
  m.share = rate / scale.scale_gflops;
  m.gflops = rate;
  m.per_second = tokens / bench::Median(seconds);
  m.note = "by 6 x parameters x tokens";
  return m;
}

}  // namespace

Result<BenchmarkReport> MeasureDevice(const DeviceBenchmarkOptions& options,
                                      const std::function<void(std::string_view)>& progress) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Device> device, Device::Open(options.device));
  if (device == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 "no device answers; hone bench engine measures the "
                 "processor, and hone doctor says why");
  }
  BenchmarkReport report;
  report.kernels = device->name();
  progress("the scale");
  const int64_t n = options.largest;
  HONE_ASSIGN_OR_RETURN(const double scale, ProductRate(device, {n, n, n}));
  report.scale_gflops = scale / 1e9;
  report.scale_gigabytes = CopyRate(device, options.copied) / 1e9;
  progress("products");
  for (const ProductSize& size : {ProductSize{n / 8, n / 8, n / 8},
                                  {n / 4, n / 4, n / 4},
                                  {n / 2, n / 2, n / 2},
                                  {2 * n, options.width, 2 * options.ffn},
                                  {options.live, options.width, 2 * options.ffn}}) {
    HONE_ASSIGN_OR_RETURN(const double rate, ProductRate(device, size));
    report.measurements.push_back(
        {fmt::format("product {} x {} x {}", size.rows, size.inputs, size.outputs), rate / scale,
         rate / 1e9, 0, ""});
  }
  Engine engine(bench::RandomModel(options.layers, options.width, options.ffn, 512),
                {.device = options.device});
  progress("drawing");
  report.measurements.push_back(MeasureDraws(options, report, &engine));
  progress("training");
  report.measurements.push_back(MeasureSteps(options, report, &engine));
  return report;
}

}  // namespace hone
