#pragma once

#include <string>
#include <vector>

#include "lab/scale/run_simulation.h"

// One run on several numbers of devices, side by side.

namespace hone::lab {

struct ScaleSweepOptions {
  ScaleOptions base;
  std::vector<int64_t> devices;  // empty: those of run.processes
  std::vector<int64_t> ahead;    // empty: run.ahead
  int64_t groups_each = 0;       // of each process; 0: workload.groups, whatever their number
};

struct ScaleRow {
  int64_t devices = 0, processes = 0, ahead = 0;
  ScaleForecast forecast;
  double efficiency = 0;  // trajectories per second and device, against the first row
  bool fits = true;       // into the memory of a device, as far as it is known
};

// An error where devices are no whole number of processes, or options contradict each other.
Result<std::vector<ScaleRow>> SweepScale(const ScaleSweepOptions& options);

std::string ScaleTable(const std::vector<ScaleRow>& rows);  // Markdown, which a terminal can show
Json ToJson(const std::vector<ScaleRow>& rows);
// Trajectories per second against devices, a curve for each number of steps ahead. SVG.
std::string ScalePlot(const std::string& title, const std::vector<ScaleRow>& rows);

}  // namespace hone::lab
