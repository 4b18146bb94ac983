#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/device/device.h"

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
  double scale_gflops = 0;  // of all threads together, the median over all pairs
  std::vector<Measurement> measurements;
};

// How fast the engine is here. Machines are shared and change speed, so everything is reported as a
// share of the scale (Kernels::peak on the same threads), which is measured in turns with it.
// `progress` is told the name of each part before it begins.
BenchmarkReport MeasureEngine(const BenchmarkOptions& options,
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
  int64_t derived_bytes = 0;                            // what TrainingMemory says
};

struct ModelCostOptions {
  bool bf16 = true;
  bool recompute_activations = false;
  DeviceKind device = DeviceKind::kCpu;
  int64_t prompt = 64, drawn = 16, train_tokens = 256;
};
Result<ModelCosts> MeasureModel(const std::filesystem::path& folder,
                                const ModelCostOptions& options);

}  // namespace hone
