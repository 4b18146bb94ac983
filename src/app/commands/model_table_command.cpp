// hone model table.

#include "app/command_line.h"
#include "app/commands.h"
#include "app/models/model_table.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "app/views/model_table_view.h"

namespace hone {
namespace {

struct ModelTableArguments {
  std::vector<std::string> models;
  ModelTableOptions options;
  bool markdown = false;
};

std::string ModelTable(const ModelTableArguments& arguments, bool json, bool* broken) {
  std::vector<ModelRow> rows;
  ProgressBar bar(stderr);
  const auto all = static_cast<int64_t>(arguments.models.size());
  for (const std::string& model : arguments.models) {
    bar.Show("models", static_cast<int64_t>(rows.size()), all);
    rows.push_back(CheckModel(model, arguments.options));
    for (const auto& [name, step] : StepsOf(rows.back())) {
      *broken = *broken || step->state == ModelStep::State::kNo;
    }
  }
  bar.Erase();
  if (arguments.markdown) return ModelTableMarkdown(rows);
  if (!json) return ModelTableView(rows, Terminal::Of(stdout));
  Json::Array found;
  for (const ModelRow& row : rows) found.push_back(row.ToJson());
  return DumpJson(Json::Of({{"models", std::move(found)}})) + "\n";
}

}  // namespace

void AddModelTable(Command model, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ModelTableArguments>();
  Command table = model.AddCommand(
      "table", "Say of each model whether it tokenizes, renders, parses, loads and trains");
  table
      .AddOption(
          "models", &arguments->models,
          "folders of models or of some of their files, templates (NAME.jinja) and tokenizers "
          "(NAME.json)")
      .Required();
  table.AddFlag("--markdown", &arguments->markdown, "a table for a page");
  table
      .AddOption("--most-parameters", &arguments->options.most_parameters,
                 "weights of larger models are not loaded")
      .NotNegative()
      .ShowDefault();
  table.Footer(
      "Each step is really done; what there is nothing to try with is said so. The exit status is "
      "1\n"
      "where one does not work (docs/model-table.md).\nExamples:\n"
      "  hone model table tests/golden/models/*/\n"
      "  hone model table path/to/Qwen2.5-0.5B path/to/template.jinja --markdown\n");
  table.Action([=] {
    bool broken = false;
    Finish(context.get(), ModelTable(*arguments, context->json, &broken));
    if (broken) context->exit_status = 1;
  });
}

}  // namespace hone
