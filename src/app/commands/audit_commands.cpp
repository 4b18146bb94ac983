// hone credit audit.

#include <algorithm>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/env_recipe.h"
#include "app/evaluation_setup.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "app/views/audit_view.h"
#include "base/file.h"
#include "credit/methods.h"
#include "learn/step.h"
#include "rewards/compose.h"
#include "rewards/confined_runner.h"
#include "rollout/chains.h"

namespace hone {
namespace {

struct AuditArguments {
  EvaluationChoice choice;
  std::vector<std::string> methods;  // empty: all that the reward can feed
  std::string reward;                // empty: that of the model's run
  std::string loss = "ppo";
  std::string html, markdown;
  int64_t groups = 64, group = 8;
  double learning_rate = 3e-4;
  uint64_t seed = 1;
};

// Whether every method that is asked for compares with a greedy trajectory: others do not want one
// among theirs.
bool WantGreedy(const std::vector<std::string>& methods) {
  return !methods.empty() &&
         std::all_of(methods.begin(), methods.end(), [](const std::string& name) {
           const Result<Method> method = NewMethod(name);
           return method.ok() && method->needs_greedy;
         });
}

// The batch that every method gets: tasks of train, drawn by the model on the real tools, scored.
Result<ScoredGroups> DrawBatch(const AuditArguments& arguments, const EvaluationSetup& setup) {
  const StageContext& context = *setup.context;
  const Rng rng = Rng(arguments.seed).Split("credit audit");
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<Curriculum> curriculum,
      NewCurriculum({}, context.environment.tasks.get(), rng.Split("curriculum")));
  HONE_ASSIGN_OR_RETURN(const Policy policy, context.PolicyAt(1, 0));
  const auto chains = NewChains();
  const Strategy* own = setup.recipe.rollout.strategy.get();
  HONE_ASSIGN_OR_RETURN(
      const Rollout rollout,
      Rollout::New({.run = "credit audit"}, context.environment.environment.get(), policy,
                   own != nullptr ? own : chains.get(), context.real->executor()));
  HONE_ASSIGN_OR_RETURN(
      PosedTasks posed,
      PoseTasks({.environment = &context.environment, .curriculum = curriculum.get()},
                {.groups = static_cast<size_t>(arguments.groups),
                 .leaves = arguments.group,
                 .greedy = WantGreedy(arguments.methods) ? 1 : 0,
                 .scope = "audit",
                 .rng = rng}));
  HONE_ASSIGN_OR_RETURN(DrawnGroups drawn, DrawGroups(rollout, std::move(posed)));
  const auto runner = NewConfinedRunner();
  Json reward = arguments.reward.empty() ? setup.recipe.rewards : Json(arguments.reward);
  if (arguments.reward.empty() && !setup.place.run.empty()) {
    HONE_ASSIGN_OR_RETURN(reward, ReadTrainedRewards(setup.place.run));
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Rewarder> rewarder,
                        RewarderFromJson(reward, {.runner = runner.get()}));
  return ScoreGroups({.rewarder = rewarder.get()}, std::move(drawn));
}

Result<AuditFindings> Audit(const AuditArguments& arguments) {
  std::vector<std::string> methods = arguments.methods;
  for (const std::string& name : methods) HONE_RETURN_IF_ERROR(NewMethod(name));
  if (methods.empty()) methods = MethodNames();
  HONE_ASSIGN_OR_RETURN(const auto setup, OpenForEvaluation(arguments.choice));
  HONE_ASSIGN_OR_RETURN(ScoredGroups scored, DrawBatch(arguments, *setup));
  std::vector<ScoredTree> records = std::move(scored.records);
  std::erase_if(records, [](const ScoredTree& one) { return one.tree.leaves.empty(); });
  HONE_ASSIGN_OR_RETURN(const std::vector<AuditedCall> calls, CallsOf(records));

  AuditFindings findings{
      .subject = fmt::format("{} at {}", arguments.choice.model, setup->environment),
      .tasks = static_cast<int64_t>(records.size()),
      .trajectories = static_cast<int64_t>(scored.measures.size()),
      .success = ValueOf(scored.measures, "success").value_or(0)};
  const CreditAuditOptions options{.objective = ObjectiveNamed(arguments.loss),
                                   .optimizer = {.learning_rate = arguments.learning_rate},
                                   .engine = setup->context->engine_options,
                                   .seed = arguments.seed};
  ProgressBar bar(stderr);
  for (size_t i = 0; i < methods.size(); ++i) {
    bar.Show("methods", static_cast<int64_t>(i), static_cast<int64_t>(methods.size()));
    HONE_ASSIGN_OR_RETURN(const Method method, NewMethod(methods[i]));
    Result<CreditAudit> audit =
        AuditCredit(method, records, calls, setup->context->engine->model(), options);
    if (audit.ok()) {
      audit->method = methods[i];
      findings.audits.push_back(*std::move(audit));
    } else if (arguments.methods.empty()) {
      findings.refused.emplace_back(methods[i], audit.error().message());
    } else {
      return audit.error().In(methods[i]);
    }
  }
  return findings;
}

Result<std::string> AuditAndShow(const AuditArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const AuditFindings findings, Audit(arguments));
  if (!arguments.html.empty()) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(arguments.html, AuditPage(findings)));
  }
  if (!arguments.markdown.empty()) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(arguments.markdown, AuditMarkdown(findings)));
  }
  if (json) return DumpJson(ToJson(findings)) + "\n";
  return AuditView(findings, Terminal::Of(stdout));
}

}  // namespace

void AddCreditAudit(Command credit, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<AuditArguments>();
  EvaluationChoice& choice = arguments->choice;
  Command audit = credit.AddCommand(
      "audit", "Measure what one update by each method does to right, wrong and needless calls");
  audit.AddOption("model", &choice.model, "a run, a checkpoint or a Hugging Face folder")
      .Required();
  audit
      .AddOption("--method,-m", &arguments->methods,
                 "one to audit, several times for several; else all that the reward can feed")
      .OneAtATime();
  audit.AddOption("--env", &choice.environment, NamedEnvironments() + "; else as the model's run");
  audit.AddOption("--reward", &arguments->reward, "a preset (hone rewards list); else the run's");
  audit.AddOption("--loss", &arguments->loss, "docs/objectives.md")
      .OneOf(ObjectiveNames())
      .ShowDefault();
  audit.AddOption("--groups", &arguments->groups, "tasks of the batch")
      .Between(1, 1'000'000)
      .ShowDefault();
  audit.AddOption("--group", &arguments->group, "trajectories per task")
      .Between(2, 1024)
      .ShowDefault();
  audit.AddOption("--learning-rate", &arguments->learning_rate, "of the one step of AdamW")
      .Positive()
      .ShowDefault();
  audit.AddOption("--seed", &arguments->seed, "of what is drawn").ShowDefault();
  audit.AddOption("--checkpoint", &choice.checkpoint, "of a run: last, best or a step")
      .ShowDefault();
  audit.AddOption("--dialect", &choice.dialect, "how the model spells calls; else as its run did");
  AddDeviceOption(audit, &choice.device);
  audit.AddOption("--threads", &choice.threads, "else as many as the machine has").Between(0, 1024);
  audit.AddOption("--html", &arguments->html, "write a page with pictures, too");
  audit.AddOption("--markdown", &arguments->markdown, "write the table as Markdown, too");
  audit.Footer(
      "The model draws one batch on the real tools. Each method credits the same batch, and a "
      "copy\n"
      "of the model takes one step by it. Nothing is written to the run.\nExample:\n"
      "  hone credit audit runs/quickstart --method grpo --method toolpo --html audit.html\n");
  audit.Action([=] { Finish(context.get(), AuditAndShow(*arguments, context->json)); });
}

}  // namespace hone
