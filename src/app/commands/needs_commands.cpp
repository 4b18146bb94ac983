// hone data needs: demonstrations that call only for what a model does not know.

#include <algorithm>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/endpoint_options.h"
#include "app/env_recipe.h"
#include "app/evaluation_setup.h"
#include "app/interrupts.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "base/file.h"
#include "evaluate/known_steps.h"

namespace hone {
namespace {

struct NeedsChoice {
  EvaluationChoice model;
  std::string split = "train", out;
  std::optional<double> temperature;
  KnownStepsOptions steps;
};

std::string NeedsView(const KnownSteps& found, const NeedsChoice& choice) {
  std::string view;
  const auto row = [&](const std::string& name, int64_t count, const std::string& note) {
    view += fmt::format("{:<14}{:>8}  {}\n", name, count, note);
  };
  row("tasks", std::ssize(found.tasks), choice.out);
  if (found.skipped > 0) row("left out", found.skipped, "the gold agent does not do them");
  for (const auto& [tool, steps] : found.ByTool()) {
    row(tool, steps.second,
        fmt::format("steps, of which {} are known ({:.1f} %)", steps.first,
                    100.0 * static_cast<double>(steps.first) / static_cast<double>(steps.second)));
  }
  return view;
}

Json NeedsJson(const KnownSteps& found, const NeedsChoice& choice) {
  Json tools = Json::Object(), tasks = Json::Array();
  for (const auto& [tool, steps] : found.ByTool()) {
    tools.Set(tool, Json::Of({{"known", steps.first}, {"steps", steps.second}}));
  }
  for (const KnownTask& task : found.tasks) {
    Json steps = Json::Array();
    for (const KnownStep& step : task.steps) {
      steps.AsArray().push_back(Json::Of({{"tool", step.tool},
                                          {"right", step.right},
                                          {"samples", step.samples},
                                          {"known", step.known}}));
    }
    tasks.AsArray().push_back(
        Json::Of({{"id", task.id}, {"kind", task.kind}, {"steps", std::move(steps)}}));
  }
  return Json::Of({{"out", choice.out},
                   {"skipped", found.skipped},
                   {"tools", std::move(tools)},
                   {"tasks", std::move(tasks)}});
}

Result<std::string> FindNeeds(const NeedsChoice& choice, bool json) {
  if (IsEndpoint(choice.model.model)) {
    return Error(ErrorCode::kInvalidArgument,
                 "an endpoint cannot go on from the middle of a demonstration; name a model of "
                 "this machine");
  }
  NeedsChoice own = choice;
  HONE_ASSIGN_OR_RETURN(own.steps.split, SplitFromName(choice.split));
  HONE_ASSIGN_OR_RETURN(const auto setup, OpenForEvaluation(choice.model));
  const StageContext& context = *setup->context;
  own.steps.thoughts = !context.language.dialect->traits().marks.think_open.empty();
  HONE_ASSIGN_OR_RETURN(const Policy policy, context.PolicyAt(choice.temperature.value_or(1), 0));
  WatchInterrupts();
  ProgressBar bar(stderr);
  own.steps.progress = [&](int64_t step, int64_t steps) { bar.Show("steps", step, steps); };
  own.steps.stop = [] { return Interrupted(); };
  HONE_ASSIGN_OR_RETURN(const KnownSteps found, FindKnownSteps(own.steps, context.environment,
                                                               policy, context.real->executor()));
  bar.Erase();
  std::string lines;
  for (const KnownTask& task : found.tasks) lines += DumpJson(task.demonstration) + "\n";
  HONE_RETURN_IF_ERROR(WriteFileAtomic(choice.out, lines));
  return json ? DumpJson(NeedsJson(found, own)) + "\n" : NeedsView(found, own);
}

}  // namespace

void AddNeeds(Command data, std::shared_ptr<CommandContext> context) {
  auto choice = std::make_shared<NeedsChoice>();
  EvaluationChoice& model = choice->model;
  Command needs = data.AddCommand(
      "needs", "Write demonstrations that call only for what a model does not know");
  needs.AddOption("model", &model.model, "a run (runs/NAME), a checkpoint or a Hugging Face folder")
      .Required();
  needs.AddOption("--env", &model.environment, NamedEnvironments() + "; else as the model's run");
  needs.AddOption("--out,-o", &choice->out, "conversations, as stage sft imitates them").Required();
  needs.AddOption("--split", &choice->split, "whose tasks are shown").ShowDefault();
  needs.AddOption("--tasks,-n", &choice->steps.tasks, "the first of the split")
      .Between(1, 10'000'000)
      .ShowDefault();
  needs.AddOption("--samples,-k", &choice->steps.samples, "trajectories that ask about each step")
      .Between(1, 1024)
      .ShowDefault();
  needs
      .AddOption("--threshold", &choice->steps.threshold,
                 "the share of them that must succeed without the tool for a step to be known")
      .Between(0.0, 1.0)
      .ShowDefault();
  needs
      .AddOption("--known", &choice->steps.known,
                 "what the thought says of a known step; {tool}, {call} and {value} are put in")
      .ShowDefault();
  needs.AddOption("--needed", &choice->steps.needed, "what it says before a call").ShowDefault();
  needs.AddOption("--temperature", &choice->temperature, "else 1").Between(1e-4, 100.0);
  needs.AddOption("--seed", &choice->steps.seed, "of the worlds and of what is drawn")
      .ShowDefault();
  needs.AddOption("--checkpoint", &model.checkpoint, "of a run: last, best or a step")
      .ShowDefault();
  needs.AddOption("--dialect", &model.dialect, "how the model spells calls; else as its run did");
  needs.AddOverrides(&model.overrides, "key=value, over the recipe's: environment.tasks.hard=true");
  AddDeviceOption(needs, &model.device);
  needs.AddOption("--threads", &model.threads, "else as many as the machine has").Between(0, 1024);
  needs.Footer(
      "Each call of a task's plan is asked about with its tool taken away "
      "(docs/conversations.md).\n"
      "Examples:\n"
      "  hone data needs runs/mine -o needs.jsonl\n"
      "  hone data needs my-model --env mine.toml -k 16 --threshold 0.75 -o needs.jsonl\n");
  needs.Action([=] { Finish(context.get(), FindNeeds(*choice, context->json)); });
}

}  // namespace hone
