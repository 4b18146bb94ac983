#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/device/device.h"
#include "engine/engine.h"

namespace hone {

// One line of `hone bench engine`.
struct Measurement {
  std::string name;
  double share = 0;       // of the scale: the median of the ratios taken in pairs
  double gflops = 0;      // at the median
  double per_second = 0;  // tokens, where that means something
  std::string note;
};

struct BenchmarkOptions {
  int threads = 0;     // 0: as many as the machine has
  bool quick = false;  // fewer pairs and no 4096
};

struct BenchmarkReport {
  std::string kernels;  // "amx", "avx512", ...
  int threads = 0;
  double scale_gflops = 0;     // of all threads together, the median over all pairs
  double scale_gigabytes = 0;  // per second, of a device's own copies, read and written; 0: none
  std::vector<Measurement> measurements;
};

// How fast the engine is here. Machines are shared and change speed, so everything is reported as a
// share of the scale (Kernels::peak on the same threads), which is measured in turns with it.
// `progress` is told the name of each part before it begins.
BenchmarkReport MeasureEngine(const BenchmarkOptions& options,
                              const std::function<void(std::string_view)>& progress);

// The same of a device, which must be one. The scale is a large product in bfloat16 and a large
// copy, in the same process: products and training are shares of the first, drawing (of the weights
// that a step reads) of the second.
struct DeviceBenchmarkOptions {
  DeviceKind device = DeviceKind::kCuda;
  int64_t largest = 8192;                        // rows, inputs and outputs of the scale's product
  int64_t copied = int64_t{1} << 30;             // bytes of the scale's copy
  int64_t layers = 12, width = 512, ffn = 1536;  // 43 million parameters
  int64_t live = 64, sequences = 32, length = 512;
};
Result<BenchmarkReport> MeasureDevice(const DeviceBenchmarkOptions& options,
                                      const std::function<void(std::string_view)>& progress);

// What one model costs here: loading it, drawing, scoring and one training step.
struct ModelCosts {
  int64_t parameters = 0;
  double load_seconds = 0;
  double prefill_tokens_per_second = 0;  // of a prompt
  double decode_tokens_per_second = 0;   // one sequence
  double score_tokens_per_second = 0;
  double train_seconds = 0;        // Accumulate and Step
  double first_train_seconds = 0;  // the same with taking the memory for it
  int64_t train_tokens = 0;
  std::vector<std::pair<std::string, int64_t>> memory;  // in bytes, after the training step
  int64_t peak_bytes = 0;                               // of the process
  // What TrainingMemory says, or on a device DeriveDeviceMemory's peak.
  int64_t derived_bytes = 0;
  std::optional<DeviceUse> device;  // none: the processor computed
};

struct ModelCostOptions {
  bool bf16 = true;
  bool recompute_activations = false;
  DeviceKind device = DeviceKind::kCpu;
  int64_t prompt = 64, drawn = 16, train_tokens = 256;
};
Result<ModelCosts> MeasureModel(const std::filesystem::path& folder,
                                const ModelCostOptions& options);

// What the measurements of the processor and of devices share.
namespace bench {

double Now();  // seconds
double Median(std::vector<double> values);

// A Qwen3 with random weights, heads of 32 and two of them for keys.
Model RandomModel(int64_t layers, int64_t width, int64_t ffn, int64_t vocab);
std::vector<TokenId> RandomTokens(uint64_t seed, int64_t count, int64_t vocab);
// A loss that wants every token to become likelier.
void EqualDerivatives(std::span<TreeTerms> terms);

// A sampler with so many turns under way, their prompts computed.
std::unique_ptr<Sampler> Decoding(Engine* engine, uint64_t live);
double SecondsPerStep(Sampler* sampler, int steps);

}  // namespace bench

}  // namespace hone
