// hone bench: how fast this machine is.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/doctor.h"
#include "app/records.h"
#include "app/report.h"
#include "app/terminal.h"
#include "base/json.h"
#include "credit/methods.h"
#include "engine/benchmark.h"
#include "train/processes/message_costs.h"

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
                   {"scale_gigabytes_per_second", report.scale_gigabytes},
                   {"measurements", std::move(lines)}});
}

std::string BenchmarkTable(const BenchmarkReport& report, const std::string& machine,
                           const Terminal& terminal) {
  std::string out;
  if (report.scale_gigabytes > 0) {
    out += terminal.Bold(fmt::format("{}\n", report.kernels));
    out +=
        fmt::format("the scale, a large product and a large copy: {:.0f} GFLOP/s, {:.0f} GB/s\n\n",
                    report.scale_gflops, report.scale_gigabytes);
  } else {
    out += terminal.Bold(
        fmt::format("{}, {} threads, {} kernels\n", machine, report.threads, report.kernels));
    out += fmt::format("the scale, a loop of nothing but multiplications: {:.0f} GFLOP/s\n\n",
                       report.scale_gflops);
  }
  out += terminal.Bold(
      fmt::format("{} {:>8} {:>9} {:>10}\n", Fitted("", 32), "of scale", "GFLOP/s", "tokens/s"));
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

std::string Gibibytes(int64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1024.0 * 1024 * 1024));
}

Json DeviceJson(const ModelCosts& costs) {
  if (!costs.device) return Json();
  return Json::Of({{"peak_bytes", costs.device->peak_bytes},
                   {"taken_bytes", costs.device->taken_bytes},
                   {"in_use_bytes", costs.device->memory - costs.device->free_memory}});
}

Result<std::string> ModelReport(const std::string& folder, const ModelCostOptions& options,
                                bool json) {
  HONE_ASSIGN_OR_RETURN(const ModelCosts costs, MeasureModel(folder, options));
  Json memory = Json::Of({});
  for (const auto& [name, bytes] : costs.memory) memory.Set(name, bytes);
  if (json) {
    return DumpJson(Json::Of({{"machine", ProcessorName()},
                              {"parameters", costs.parameters},
                              {"load_seconds", costs.load_seconds},
                              {"prefill_tokens_per_second", costs.prefill_tokens_per_second},
                              {"decode_tokens_per_second", costs.decode_tokens_per_second},
                              {"score_tokens_per_second", costs.score_tokens_per_second},
                              {"train_tokens", costs.train_tokens},
                              {"train_seconds", costs.train_seconds},
                              {"first_train_seconds", costs.first_train_seconds},
                              {"memory", memory},
                              {"peak_bytes", costs.peak_bytes},
                              {"device", DeviceJson(costs)},
                              {"derived_bytes", costs.derived_bytes}})) +
           "\n";
  }
  std::string out;
  auto line = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{} {}\n", Fitted(name, 18), value);
  };
  line("parameters", fmt::format("{}", costs.parameters));
  line("load", fmt::format("{:.2f} s", costs.load_seconds));
  line("prompt", fmt::format("{:.1f} tokens/s", costs.prefill_tokens_per_second));
  line("decode, one live", fmt::format("{:.1f} tokens/s", costs.decode_tokens_per_second));
  line("score", fmt::format("{:.1f} tokens/s", costs.score_tokens_per_second));
  line("training step",
       fmt::format("{:.2f} s for {} tokens (the first one: {:.2f} s)", costs.train_seconds,
                   costs.train_tokens, costs.first_train_seconds));
  for (const auto& [name, bytes] : costs.memory) line(name, Gibibytes(bytes));
  const int64_t peak = costs.device ? costs.device->peak_bytes : costs.peak_bytes;
  const double ratio = static_cast<double>(peak) / static_cast<double>(costs.derived_bytes);
  if (costs.device) {
    line("peak of device", fmt::format("{} ({:.2f} x {}, which was derived)", Gibibytes(peak),
                                       ratio, Gibibytes(costs.derived_bytes)));
    line("device in use", fmt::format("{} of {}, with its libraries and everybody else's",
                                      Gibibytes(costs.device->memory - costs.device->free_memory),
                                      Gibibytes(costs.device->memory)));
    line("peak of process", Gibibytes(costs.peak_bytes));
    return out;
  }
  line("peak of process",
       fmt::format("{} ({:.2f} x the sum that docs/engine.md derives)", Gibibytes(peak), ratio));
  return out;
}

Result<std::string> EngineReport(const BenchmarkOptions& options, DeviceKind kind, bool json) {
  const Terminal told = Terminal::Of(stderr);
  const auto progress = [&](std::string_view part) {
    if (!json) fmt::print(stderr, "{}\n", told.Dim(fmt::format("measuring {} …", part)));
  };
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Device> device, Device::Open(kind));
  BenchmarkReport report;
  if (device == nullptr) {
    report = MeasureEngine(options, progress);
  } else {
    HONE_ASSIGN_OR_RETURN(report, MeasureDevice({.device = kind}, progress));
  }
  const std::string machine = ProcessorName();
  return json ? DumpJson(ReportJson(report, machine)) + "\n"
              : BenchmarkTable(report, machine, Terminal::Of(stdout));
}

Result<std::string> MessageReport(const std::string& run, const std::string& method_name,
                                  bool json) {
  constexpr int64_t kMostTrees = 2000;
  HONE_ASSIGN_OR_RETURN(const Records records, Records::Open(run));
  HONE_ASSIGN_OR_RETURN(const Method method, NewMethod(method_name));
  HONE_ASSIGN_OR_RETURN(const auto list, records.List(kMostTrees));
  std::vector<ScoredTree> trees;
  for (const RunStore::TreeSummary& summary : list) {
    HONE_ASSIGN_OR_RETURN(ScoredTree tree, records.Read(summary.id));
    trees.push_back(std::move(tree));
  }
  HONE_ASSIGN_OR_RETURN(const MessageCosts costs, MeasureMessages(std::move(trees), method));
  if (json) {
    return DumpJson(Json::Of({{"trees", costs.trees},
                              {"tokens", costs.tokens},
                              {"tree_bytes", costs.tree_bytes},
                              {"tree_seconds", costs.tree_seconds},
                              {"update_bytes", costs.update_bytes},
                              {"update_seconds", costs.update_seconds},
                              {"credit_seconds", costs.credit_seconds}})) +
           "\n";
  }
  constexpr double kMicro = 1e6;
  return fmt::format(
      "{} trees of {} tokens; of each token\n"
      "trees    {:6.1f} bytes, {:6.3f} µs to make or read them\n"
      "update   {:6.1f} bytes, {:6.3f} µs\n"
      "credit                 {:6.3f} µs\n",
      costs.trees, costs.tokens, costs.tree_bytes, kMicro * costs.tree_seconds, costs.update_bytes,
      kMicro * costs.update_seconds, kMicro * costs.credit_seconds);
}

void AddMessageBench(Command bench, std::shared_ptr<CommandContext> context) {
  struct MessageArguments {
    std::string run, method = "grpo";
  };
  auto arguments = std::make_shared<MessageArguments>();
  Command messages = bench.AddCommand(
      "messages", "Measure what the first of several processes does to the trees of a run");
  messages.AddOption("run", &arguments->run, "its folder, its store, or a file of trees")
      .Required();
  messages.AddOption("--method", &arguments->method, "of credit").ShowDefault();
  messages.Footer("Example:\n  hone bench messages runs/quickstart\n");
  messages.Action([=] {
    Finish(context.get(), MessageReport(arguments->run, arguments->method, context->json));
  });
}

}  // namespace

void AddBench(Command program, std::shared_ptr<CommandContext> context) {
  Command group = program.AddCommand("bench", "Measure how fast Hone is on this machine");
  group.NeedsCommand();
  group.Footer("Example:\n  hone bench engine --quick\n");
  struct EngineArguments {
    BenchmarkOptions options;
    std::optional<DeviceKind> device;
  };
  auto asked = std::make_shared<EngineArguments>();
  BenchmarkOptions* options = &asked->options;
  Command engine = group.AddCommand(
      "engine",
      "Measure products, training, decoding and trees, as shares of the machine's own speed");
  engine.AddFlag("--quick", &options->quick, "fewer repetitions: about ten seconds");
  engine.AddOption("--threads", &options->threads, "0: all cores").Between(0, 1024).ShowDefault();
  engine
      .AddOption(
          "--device",
          [asked](const std::string& name) { asked->device = ParseDeviceKind(name).value(); },
          "what is measured, else the processor; auto: the GPU where there is one")
      .OneOf({"auto", "cpu", "cuda"});
  engine.Footer(
      "Example:\n  hone bench engine --quick\n  HONE_ISA=avx2 hone bench engine --json\n"
      "  hone bench engine --device cuda\n");
  engine.Action([=] {
    Finish(context.get(),
           EngineReport(asked->options, asked->device.value_or(DeviceKind::kCpu), context->json));
  });

  struct ModelArguments {
    std::string folder, precision = "bf16";
    std::optional<DeviceKind> device;
    ModelCostOptions options;
  };
  auto arguments = std::make_shared<ModelArguments>();
  Command model = group.AddCommand(
      "model",
      "Measure what a model costs here: loading, drawing, scoring, one training step, memory");
  model.AddOption("model", &arguments->folder, "a Hugging Face folder").Required();
  model.AddOption("--precision", &arguments->precision, "f32 or bf16")
      .OneOf({"f32", "bf16"})
      .ShowDefault();
  AddDeviceOption(model, &arguments->device);
  model.AddOption("--tokens", &arguments->options.train_tokens, "of the training step")
      .Between(2, 1 << 20)
      .ShowDefault();
  model.AddFlag("--recompute", &arguments->options.recompute_activations,
                "compute activations again in backward instead of keeping them");
  model.Footer("Example:\n  hone bench model path/to/Qwen2.5-0.5B\n");
  model.Action([=] {
    arguments->options.device = arguments->device.value_or(DeviceKind::kAuto);
    arguments->options.bf16 = arguments->precision == "bf16";
    Finish(context.get(), ModelReport(arguments->folder, arguments->options, context->json));
  });
  AddMessageBench(group, context);
}

}  // namespace hone
