// hone scale: what a step of practice would take on many devices.

#include <charconv>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/installed/shipped_files.h"
#include "app/report.h"
#include "base/file.h"
#include "lab/scale/scale_table.h"

namespace hone {
namespace {

struct ScaleArguments {
  std::string file, plot;
  std::vector<std::string> changes, devices, ahead;
  int64_t groups_each = 0;
};

Result<std::vector<int64_t>> WholeNumbers(const std::vector<std::string>& words,
                                          std::string_view option) {
  std::vector<int64_t> numbers;
  for (const std::string& word : words) {
    int64_t number = 0;
    const char* end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number < 0 || number > 100'000) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} wants whole numbers with commas between them, not \"{}\"", option, word));
    }
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::string> Forecast(const ScaleArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, LoadNamedRecipe(arguments.file));
  for (const std::string& change : arguments.changes) recipe.Override(change);
  lab::ScaleSweepOptions sweep{.groups_each = arguments.groups_each};
  HONE_ASSIGN_OR_RETURN(sweep.base, lab::ReadScaleOptions(&recipe));
  HONE_ASSIGN_OR_RETURN(sweep.devices, WholeNumbers(arguments.devices, "--devices"));
  HONE_ASSIGN_OR_RETURN(sweep.ahead, WholeNumbers(arguments.ahead, "--ahead"));
  HONE_ASSIGN_OR_RETURN(const std::vector<lab::ScaleRow> rows, lab::SweepScale(sweep));
  if (!arguments.plot.empty()) {
    const std::string title = fmt::format("{}: simulated", sweep.base.model.name);
    HONE_RETURN_IF_ERROR(WriteFileAtomic(arguments.plot, lab::ScalePlot(title, rows)));
  }
  return json ? DumpJson(lab::ToJson(rows)) + "\n" : lab::ScaleTable(rows);
}

}  // namespace

void AddScale(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ScaleArguments>();
  Command scale =
      program.AddCommand("scale", "Simulate what a step of practice takes on many devices");
  scale.AddOption("file", &arguments->file, "a model, a machine, a workload and a way to run it")
      .Required();
  scale.AddOverrides(&arguments->changes, "change of the file: machine.network=1e11");
  scale
      .AddOption("--devices", &arguments->devices, "how many, with commas; run.processes otherwise")
      .SplitAt(',');
  scale.AddOption("--ahead", &arguments->ahead, "steps that are drawn before they are trained")
      .SplitAt(',');
  scale
      .AddOption("--groups-each", &arguments->groups_each,
                 "groups of each process; workload.groups of all otherwise")
      .Positive();
  scale.AddOption("--plot", &arguments->plot, "also write a picture (SVG) into this file");
  scale.Footer(
      "The keys of the file and what they cost are in docs/scale.md.\n"
      "Example:\n  hone scale examples/scale/h200-7b.toml --devices 8,64,1024 --ahead 0,1\n");
  scale.Action([=] { Finish(context.get(), Forecast(*arguments, context->json)); });
}

}  // namespace hone
