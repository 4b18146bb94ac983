#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// One line of `hone bench engine`.
struct Measurement {
  std::string name;
  double share = 0;      // of the scale: the median of the ratios taken in pairs
  double gflops = 0;     // at the median
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

}  // namespace hone
