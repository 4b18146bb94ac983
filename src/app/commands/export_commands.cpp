// hone export.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/report.h"
#include "app/terminal.h"
#include "train/folder/export.h"

namespace hone {
namespace {

struct ExportArguments {
  std::string model, out, checkpoint = "last", type = "bf16";
  ExportOptions options;
};

Result<std::string> Export(ExportArguments arguments, bool json) {
  arguments.options.type = arguments.type == "f32" ? SaveType::kF32 : SaveType::kBf16;
  HONE_ASSIGN_OR_RETURN(const ModelPlace place, FindModel(arguments.model, arguments.checkpoint));
  HONE_ASSIGN_OR_RETURN(const ExportReport report,
                        ExportModel(place, arguments.out, arguments.options));
  if (json) {
    Json told = report.ToJson();
    told.Set("out", arguments.out);
    return DumpJson(told) + "\n";
  }
  if (arguments.options.adapter) {
    return fmt::format("{}: adapters of {}\n", arguments.out, report.base);
  }
  const Terminal terminal = Terminal::Of(stdout);
  return fmt::format(
      "{}: {} parameters as {}; it speaks {} and stops at {}\n{}\nloaded again: the same weights, "
      "the same text, the same tokens\n",
      terminal.Bold(arguments.out), report.parameters, arguments.type, report.dialect,
      Printable(fmt::format("{}", fmt::join(report.stops, " "))),
      terminal.Dim(fmt::format("{}", fmt::join(report.files, "  "))));
}

}  // namespace

void AddExport(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ExportArguments>();
  Command command = program.AddCommand("export", "Write a trained model as other programs want it");
  command.AddOption("model", &arguments->model, "a run, a checkpoint or a Hugging Face folder")
      .Required();
  command.AddOption("out", &arguments->out, "the folder to write").Required();
  command.AddOption("--checkpoint", &arguments->checkpoint, "of a run: last, best or a step")
      .ShowDefault();
  command.AddOption("--type", &arguments->type, "of the weights: f32 or bf16")
      .OneOf({"f32", "bf16"})
      .ShowDefault();
  command.AddFlag("--adapter", &arguments->options.adapter,
                  "the adapters alone, as PEFT loads them; else they are merged");
  command.AddOption("--dialect", &arguments->options.dialect,
                    "whose chat template is written; else as it was trained");
  command.Footer(
      "Writes safetensors, tokenizer, chat template and the tokens that end a turn, as\n"
      "transformers and vLLM load them, and checks them by loading them again.\n"
      "Example:\n  hone export runs/quickstart agent\n");
  command.Action([=] { Finish(context.get(), Export(*arguments, context->json)); });
}

}  // namespace hone
