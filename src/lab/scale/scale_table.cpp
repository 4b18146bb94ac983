#include "lab/scale/scale_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "evaluate/compare/plot.h"

namespace hone::lab {
namespace {

double PerSecond(const ScaleForecast& forecast) { return forecast.trajectories / forecast.step; }

std::string Seconds(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds == 0 || seconds >= 100 ? 0 : seconds < 10 ? 2 : 1);
}

}  // namespace

Result<std::vector<ScaleRow>> SweepScale(const ScaleSweepOptions& sweep) {
  const int64_t parts = sweep.base.run.tensor_parallel;
  std::vector<int64_t> devices = sweep.devices, ahead = sweep.ahead;
  if (devices.empty()) devices = {sweep.base.run.processes * parts};
  if (ahead.empty()) ahead = {sweep.base.run.ahead};
  std::vector<ScaleRow> rows;
  for (const int64_t count : devices) {
    if (count < 1 || count % parts != 0) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} devices are no whole number of processes of {} "
                               "(run.tensor_parallel)",
                               count, parts));
    }
    for (const int64_t steps : ahead) {
      ScaleOptions options = sweep.base;
      options.run.processes = count / parts;
      options.run.ahead = steps;
      if (sweep.groups_each > 0)
        options.workload.groups = sweep.groups_each * options.run.processes;
      HONE_RETURN_IF_ERROR(CheckScaleOptions(options));
      ScaleRow row{.devices = count, .processes = options.run.processes, .ahead = steps};
      row.forecast = SimulateRun(options);
      row.fits = options.machine.memory == 0 || row.forecast.memory_bytes <= options.machine.memory;
      const double each = PerSecond(row.forecast) / static_cast<double>(count);
      row.efficiency =
          rows.empty()
              ? 1
              : each / (PerSecond(rows[0].forecast) / static_cast<double>(rows[0].devices));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string ScaleTable(const std::vector<ScaleRow>& rows) {
  std::string table =
      "| devices | ahead | step, s | drawing | computing | exchange | process 0 | trajectories/s | "
      "efficiency | busy | memory, GB |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const ScaleRow& row : rows) {
    const ScaleForecast& forecast = row.forecast;
    table += fmt::format("| {} | {} |", row.devices, row.ahead);
    for (const double seconds : {forecast.step, forecast.drawing, forecast.computing,
                                 forecast.Exchange(), forecast.OfLeader()}) {
      table += " " + Seconds(seconds) + " |";
    }
    table += fmt::format(" {:.3g} | {:.0f} % | {:.0f} % | {:.0f}{} |\n", PerSecond(forecast),
                         100 * row.efficiency, 100 * forecast.busy, forecast.memory_bytes / 1e9,
                         row.fits ? "" : ": too much");
  }
  return table;
}

Json ToJson(const std::vector<ScaleRow>& rows) {
  Json::Array list;
  for (const ScaleRow& row : rows) {
    Json forecast = row.forecast.ToJson();
    Json one = Json::Of({{"devices", row.devices},
                         {"processes", row.processes},
                         {"ahead", row.ahead},
                         {"trajectories_per_second", PerSecond(row.forecast)},
                         {"efficiency", row.efficiency},
                         {"fits", row.fits}});
    for (auto& member : forecast.AsObject()) one.AsObject().push_back(std::move(member));
    list.push_back(std::move(one));
  }
  return Json::Of({{"rows", std::move(list)}});
}

std::string ScalePlot(const std::string& title, const std::vector<ScaleRow>& rows) {
  Plot plot{.title = title,
            .x_label = "devices",
            .y_label = "trajectories per second",
            .log_x = true,
            .log_y = true};
  Curve ideal{.name = "as the first, times devices", .dashed = true};
  for (const ScaleRow& row : rows) {
    const std::string name = fmt::format("{} ahead", row.ahead);
    auto curve = std::find_if(plot.curves.begin(), plot.curves.end(),
                              [&](const Curve& one) { return one.name == name; });
    if (curve == plot.curves.end()) {
      plot.curves.push_back({.name = name, .dots = true});
      curve = std::prev(plot.curves.end());
    }
    const double x = static_cast<double>(row.devices), y = PerSecond(row.forecast);
    curve->points.push_back({x, y, y, y});
    if (row.ahead != rows[0].ahead) continue;
    const double even = PerSecond(rows[0].forecast) * x / static_cast<double>(rows[0].devices);
    ideal.points.push_back({x, even, even, even});
  }
  if (ideal.points.size() > 1) plot.curves.push_back(std::move(ideal));
  return ToSvg(plot);
}

}  // namespace hone::lab
