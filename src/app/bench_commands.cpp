// hone bench: how fast this machine is.

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/commands.h"
#include "app/doctor.h"
#include "app/report.h"
#include "app/terminal.h"
#include "base/json.h"
#include "engine/benchmark.h"

namespace hone {
namespace {

Json ReportJson(const BenchmarkReport& report, const std::string& machine) {
  Json::Array lines;
  for (const Measurement& m : report.measurements) {
    Json line = Json::Of({{"name", m.name}, {"share", m.share}, {"gflops", m.gflops}});
    if (m.per_second > 0) line.Set("tokens_per_second", m.per_second);
    if (!m.note.empty()) line.Set("note", m.note);
    lines.push_back(std::move(line));
  }
  return Json::Of({{"machine", machine},
                   {"kernels", report.kernels},
                   {"threads", report.threads},
                   {"scale_gflops", report.scale_gflops},
                   {"measurements", std::move(lines)}});
}

std::string ReportTable(const BenchmarkReport& report, const std::string& machine,
                        const Terminal& terminal) {
  std::string out = terminal.Bold(fmt::format("{}, {} threads, {} kernels\n", machine,
                                              report.threads, report.kernels));
  out += fmt::format("the scale, a loop of nothing but multiplications: {:.0f} GFLOP/s\n\n",
                     report.scale_gflops);
  out += terminal.Bold(fmt::format("{} {:>8} {:>9} {:>10}\n", Fitted("", 32), "of scale", "GFLOP/s",
                                   "tokens/s"));
  for (const Measurement& m : report.measurements) {
    const bool measured = m.gflops > 0;
    out += fmt::format("{} {:>8} {:>9} {:>10}  {}\n", Fitted(m.name, 32),
                       measured ? fmt::format("{:.0f} %", 100 * m.share) : "–",
                       measured ? fmt::format("{:.0f}", m.gflops) : "–",
                       m.per_second > 0 ? fmt::format("{:.0f}", m.per_second) : "",
                       terminal.Dim(m.note));
  }
  return out;
}

}  // namespace

void AddBench(CLI::App& app, std::shared_ptr<CommandContext> context) {
  CLI::App* group = app.add_subcommand("bench", "Measure how fast Hone is on this machine");
  group->require_subcommand(1);
  group->footer("Example:\n  hone bench engine --quick\n");
  auto options = std::make_shared<BenchmarkOptions>();
  CLI::App* engine = group->add_subcommand(
      "engine", "Products, training, decoding and trees, as shares of the machine's own speed");
  engine->add_flag("--quick", options->quick, "fewer repetitions: about ten seconds");
  engine->add_option("--threads", options->threads, "0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  engine->footer(
      "Example:\n  hone bench engine --quick\n  HONE_ISA=avx2 hone bench engine --json\n");
  engine->callback([=] {
    const Terminal progress = Terminal::Of(stderr);
    const BenchmarkReport report = MeasureEngine(*options, [&](std::string_view part) {
      if (!context->json) fmt::print(stderr, "{}\n", progress.Dim(fmt::format("measuring {} …", part)));
    });
    const std::string machine = ProcessorName();
    Print(context.get(), context->json ? DumpJson(ReportJson(report, machine)) + "\n"
                                       : ReportTable(report, machine, Terminal::Of(stdout)));
  });
}

}  // namespace hone
