// hone learn.

#include <filesystem>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/records.h"
#include "app/report.h"
#include "app/served_model_options.h"
#include "app/terminal.h"
#include "learn/recorded_step.h"
#include "serve/served_model.h"

namespace hone {
namespace {

struct LearnArguments {
  ServedModelChoice choice;
  std::string records, out, loss = "ppo";
  RecordedStepOptions step;
};

Result<std::vector<ScoredTree>> AllOf(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Records records, Records::Open(path));
  HONE_ASSIGN_OR_RETURN(const int64_t count, records.Count());
  HONE_ASSIGN_OR_RETURN(const auto summaries, records.List(count));
  std::vector<ScoredTree> trees;
  for (const RunStore::TreeSummary& one : summaries) {
    HONE_ASSIGN_OR_RETURN(ScoredTree tree, records.Read(one.id));
    trees.push_back(std::move(tree));
  }
  return trees;
}

Json ToJson(const LearnArguments& arguments, const RecordedStep& step, const ServedModel& model) {
  Json metrics = Json::Object();
  for (const auto& [name, value] : step.all.Named()) metrics.Set(name, value);
  return Json::Of({{"out", arguments.out},
                   {"dialect", model.dialect->traits().name},
                   {"trees", step.trees},
                   {"trees_without", step.without},
                   {"trajectories", step.trajectories},
                   {"tokens", step.first.tokens},
                   {"ratio_one_tokens", step.first.ratio_one},
                   {"grad_norm", step.largest_gradient},
                   {"weights_before", model.weights},
                   {"weights", model.engine->WeightsHash()},
                   {"metrics", std::move(metrics)}});
}

std::string View(const LearnArguments& arguments, const RecordedStep& step,
                 const ServedModel& model) {
  const Terminal terminal = Terminal::Of(stdout);
  std::string text = fmt::format("{} trajectories of {} tree{}", step.trajectories, step.trees,
                                 step.trees == 1 ? "" : "s");
  if (step.without > 0) text += fmt::format("; {} more have nothing to learn from", step.without);
  text += "\n\n";
  text += fmt::format("tokens of ratio exactly 1   {} of {}{}\n", step.first.ratio_one,
                      step.first.tokens, step.OnPolicy() ? "" : "; other weights drew the others");
  text += fmt::format("loss                        {:.5f}\n", step.all.loss);
  text += fmt::format("gradient norm               {:.5f}\n", step.largest_gradient);
  text += fmt::format("weights                     {:.12} -> {:.12}\n\n", model.weights,
                      model.engine->WeightsHash());
  return text + fmt::format("{}; next:\n  hone serve {} --dialect {} --record runs/more\n",
                            terminal.Bold(arguments.out), arguments.out,
                            model.dialect->traits().name);
}

Result<std::string> Learn(const LearnArguments& arguments, bool json) {
  std::error_code ignored;
  if (std::filesystem::exists(arguments.out, ignored)) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is there already; name a folder that is not (--out)", arguments.out));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<ScoredTree> trees, AllOf(arguments.records));
  HONE_ASSIGN_OR_RETURN(const auto model, OpenServedModel(arguments.choice));
  RecordedStepOptions options = arguments.step;
  options.objective = ObjectiveNamed(arguments.loss);
  HONE_ASSIGN_OR_RETURN(const RecordedStep step,
                        LearnFromRecords(trees, options, model->engine.get()));
  HONE_RETURN_IF_ERROR(SaveServedModel(*model, arguments.out));
  if (json) return DumpJson(ToJson(arguments, step, *model)) + "\n";
  return View(arguments, step, *model);
}

}  // namespace

void AddLearn(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<LearnArguments>();
  ServedModelChoice& choice = arguments->choice;
  RecordedStepOptions& step = arguments->step;
  Command learn = program.AddCommand(
      "learn", "Take one training step on recorded trees and write the new model");
  learn
      .AddOption("records", &arguments->records,
                 "a folder that hone serve --record wrote, or a file of trees with scores")
      .Required();
  learn.AddOption("--model,-m", &choice.model, "that drew them: a run, a checkpoint or a folder")
      .Required();
  learn.AddOption("--out,-o", &arguments->out, "a new folder for the model after the step")
      .Required();
  learn.AddOption("--method", &step.method,
                  "of credit (hone credit methods); else the trees' own advantages count");
  learn.AddOption("--loss", &arguments->loss, "docs/objectives.md")
      .OneOf(ObjectiveNames())
      .ShowDefault();
  learn.AddOption("--learning-rate", &step.optimizer.learning_rate, "of AdamW")
      .Positive()
      .ShowDefault();
  learn.AddOption("--mini-batches", &step.batches.mini_batches, "steps of the optimiser per epoch")
      .Positive()
      .ShowDefault();
  learn.AddOption("--epochs", &step.batches.epochs, "over all trees").Positive().ShowDefault();
  learn.AddOption("--seed", &step.seed, "of the mini-batches").ShowDefault();
  AddServedModelOptions(learn, &choice);
  learn.Footer(
      "Ratios are exactly 1 where model, dialect and precision are those that drew: the first\n"
      "update is on policy to the bit. docs/serving.md has the whole circle.\n"
      "Examples:\n"
      "  hone serve runs/quickstart --record runs/recorded\n"
      "  hone learn runs/recorded --model runs/quickstart --method grpo --out models/next\n");
  learn.Action([=] { Finish(context.get(), Learn(*arguments, context->json)); });
}

}  // namespace hone
