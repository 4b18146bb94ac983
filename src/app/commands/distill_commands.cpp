// hone data distill: what a teacher did well, as conversations to imitate.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/distillation.h"
#include "app/env_recipe.h"
#include "app/report.h"
#include "app/terminal.h"

namespace hone {
namespace {

std::string ShareOf(int64_t part, int64_t all) {
  return all == 0 ? "-"
                  : fmt::format("{:.1f} %",
                                100.0 * static_cast<double>(part) / static_cast<double>(all));
}

std::string DistilledView(const Distilled& found, const DistillationChoice& choice) {
  const Terminal terminal = Terminal::Of(stdout);
  const AttemptSummary& sum = found.summary;
  const auto row = [](const char* name, int64_t count, const std::string& note) {
    return fmt::format("{:<14}{:>8}  {}\n", name, count, note);
  };
  std::string view = fmt::format("{} on {}, {}\n", terminal.Bold(found.teacher),
                                 terminal.Bold(found.environment), choice.split);
  view += row("played", sum.attempts, fmt::format("of {} trajectories", found.wanted));
  view += row(choice.at_least ? "rewarded" : "succeeded", sum.succeeded,
              fmt::format("{} of those played", ShareOf(sum.succeeded, sum.attempts)));
  view += row("tasks done", sum.tasks_succeeded,
              fmt::format("at least once, of {} tried ({})", sum.tasks,
                          ShareOf(sum.tasks_succeeded, sum.tasks)));
  view += row("repeated", sum.repeated, "say what another one of the task says");
  view += row("left out", sum.unreadable, "cannot be written as a conversation");
  view += row("kept", std::ssize(sum.conversations), choice.out);
  for (const auto& [because, pairs] : found.pairs) {
    view += row("pairs", pairs,
                because == "right" ? "of what went well and what did not, " + choice.pairs
                                   : "of few calls and more, " + choice.pairs);
  }
  if (sum.attempts < found.wanted) {
    view += found.stopped ? "interrupted; "
                          : "the others could not be played, and nobody here is "
                            "to blame; ";
    view += "the same command goes on from here\n";
  }
  return view;
}

Result<std::string> RunDistillation(const DistillationChoice& choice, CommandContext* context) {
  HONE_ASSIGN_OR_RETURN(const Distilled found, Distil(choice));
  if (found.stopped) context->exit_status = 130;
  if (!context->json) return DistilledView(found, choice);
  Json json = found.summary.ToJson();
  json.Set("out", choice.out);
  if (!choice.pairs.empty()) {
    Json pairs = Json::Object();
    for (const auto& [because, count] : found.pairs) pairs.Set(because, count);
    json.Set("pairs", std::move(pairs));
  }
  json.Set("teacher", found.teacher);
  json.Set("environment", found.environment);
  json.Set("wanted", found.wanted);
  json.Set("stopped", found.stopped);
  return DumpJson(json) + "\n";
}

}  // namespace

void AddDistill(Command data, std::shared_ptr<CommandContext> context) {
  auto choice = std::make_shared<DistillationChoice>();
  EvaluationChoice& teacher = choice->teacher;
  Command distill =
      data.AddCommand("distill", "Let a model or an endpoint play tasks, and keep what went well");
  distill
      .AddOption("teacher", &teacher.model,
                 "a run (runs/NAME), a checkpoint, a Hugging Face folder, or the URL of an "
                 "endpoint that speaks OpenAI's API (http://127.0.0.1:8000/v1)")
      .Required();
  distill.AddOption("--env", &teacher.environment,
                    NamedEnvironments() + "; else as the teacher's run");
  distill
      .AddOption("--out,-o", &choice->out,
                 "conversations, as stage sft imitates them; every attempt is in "
                 "OUT.attempts.jsonl")
      .Required();
  distill.AddOption("--pairs", &choice->pairs,
                    "write pairs to this file, too, as stage preference learns from them: right "
                    "before wrong, few calls before more");
  distill.AddOption("--pairs-per-task", &choice->pairs_per_task, "at most")
      .Between(1, 1024)
      .ShowDefault();
  distill.AddOption("--split", &choice->split, "whose tasks are played").ShowDefault();
  distill
      .AddOption("--tasks,-n", &choice->tasks,
                 "the first of the split; else all of a file, 1000 where there is no end")
      .Between(1, 10'000'000);
  distill.AddOption("--samples,-k", &choice->samples, "trajectories per task")
      .Between(1, 1024)
      .ShowDefault();
  distill.AddOption("--temperature", &choice->temperature, "else 0, of several samples 1")
      .Between(0.0, 100.0);
  distill.AddOption("--at-least", &choice->at_least,
                    "keep what earned that much reward, instead of what succeeded");
  distill.AddFlag("--thoughts", &choice->thoughts,
                  "of an endpoint: keep its thoughts, for a dialect that writes them");
  distill.AddOption("--seed", &choice->seed, "of the worlds and of what is drawn").ShowDefault();
  distill.AddOption("--checkpoint", &teacher.checkpoint, "of a run: last, best or a step")
      .ShowDefault();
  distill.AddOption("--dialect", &teacher.dialect,
                    "how the teacher spells calls; else as its run did");
  distill.AddOverrides(&teacher.overrides,
                       "key=value, over the recipe's: environment.tasks.hard=true");
  AddDeviceOption(distill, &teacher.device);
  distill.AddOption("--threads", &teacher.threads, "else as many as the machine has")
      .Between(0, 1024);
  distill
      .AddOption("--turn-tokens", &choice->endpoint.turn_tokens,
                 "at most, of a turn of an endpoint")
      .Between(1, 10'000'000)
      .ShowDefault();
  AddEndpointOptions(distill, "The teacher being a URL", &choice->endpoint);
  distill.Footer(
      "Killed or interrupted, the same command goes on where it was.\nExamples:\n"
      "  hone data distill http://127.0.0.1:8000/v1 --env mine.toml -k 4 -o taught.jsonl\n"
      "  hone data distill runs/large --env mine.toml --at-least 0.9 -o taught.jsonl\n"
      "  hone data distill runs/mine -k 8 -o good.jsonl --pairs pairs.jsonl\n");
  distill.Action([=] { Finish(context.get(), RunDistillation(*choice, context.get())); });
}

}  // namespace hone
