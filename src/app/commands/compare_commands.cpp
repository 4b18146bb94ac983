// hone compare, and hone prove: the comparison that answers the founding question.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/comparison/comparison_estimate.h"
#include "app/comparison/comparison_session.h"
#include "app/installed/shipped_files.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "train/compare/outcome_arm.h"

namespace hone {
namespace {

constexpr char kProof[] = "comparisons/switchboard.toml",
               kQuickProof[] = "comparisons/switchboard-quick.toml";

struct CompareArguments {
  std::string verb;  // "compare" or "prove"; the reports' files are named so, too
  ComparisonRequest request;
  int64_t jobs = 1;
  std::string out;
  std::string ledger;    // file; empty: none
  std::string markdown;  // file; empty: none beside the folder's own
  std::string proof;     // prove: a comparison file; empty: the one that asks the question
  bool quick = false;    // prove
  bool no_controls = false;
  bool report_only = false;
  bool plan = false;

  void AskTheFoundingQuestion() {
    request.files = {!proof.empty() ? proof : quick ? kQuickProof : kProof};
    if (out.empty()) out = quick ? "runs/prove-quick" : "runs/prove";
  }
};

std::string CommandOf(const CompareArguments& arguments) {
  std::string command = "hone " + arguments.verb;
  for (const std::string& file : arguments.request.files) command += " " + QuotedForShell(file);
  const ComparisonRequest& request = arguments.request;
  if (request.seeds > 0) command += fmt::format(" --seeds {}", request.seeds);
  if (request.seed_from >= 0) command += fmt::format(" --seed-from {}", request.seed_from);
  if (request.goal >= 0) command += fmt::format(" --goal {:g}", request.goal);
  if (!request.baseline.empty()) command += " --baseline " + QuotedForShell(request.baseline);
  for (const std::string& change : request.set) command += " --set " + QuotedForShell(change);
  if (arguments.no_controls) command += " --no-controls";
  if (arguments.jobs > 1 || arguments.verb == "prove")
    command += fmt::format(" --jobs {}", arguments.jobs);
  command += " --out " + QuotedForShell(arguments.out);
  if (!arguments.ledger.empty()) command += " --ledger " + QuotedForShell(arguments.ledger);
  if (!arguments.markdown.empty()) command += " --markdown " + QuotedForShell(arguments.markdown);
  return command;
}

struct CompareOutcome {
  std::string text;
  int64_t failed = 0;
};

Result<CompareOutcome> Compare(const CompareArguments& arguments, bool json) {
  ComparisonRequest request = arguments.request;
  request.controls = !arguments.no_controls;
  for (std::string& file : request.files) file = NamedFile(file);
  HONE_ASSIGN_OR_RETURN(const ComparisonFile comparison, ReadComparison(request));
  if (arguments.plan) {
    ProgressBar bar(stderr);
    HONE_ASSIGN_OR_RETURN(
        const ComparisonEstimate estimate,
        EstimateComparison(WithOutcomeArms(comparison), arguments.out,
                           [&](const std::string& arm, int64_t done, int64_t all) {
                             bar.Show("trying each kind of run", done, all, arm);
                           }));
    bar.Erase();
    return CompareOutcome{json ? DumpJson(estimate.ToJson(arguments.jobs)) + "\n"
                               : estimate.Table(arguments.jobs)};
  }
  const std::string command = CommandOf(arguments);
  const SessionOptions options{.out = arguments.out,
                               .jobs = arguments.jobs,
                               .report_only = arguments.report_only,
                               .ledger = arguments.ledger,
                               .json = json,
                               .command = command};
  HONE_ASSIGN_OR_RETURN(const CarriedOut carried_out, CarryOutComparison(comparison, options));
  const ComparisonFindings findings = FindingsOf(carried_out, command);
  const ComparisonText head{comparison.title.empty() ? "Comparison" : comparison.title,
                            comparison.text, command};
  HONE_ASSIGN_OR_RETURN(const std::string markdown,
                        WriteFindings(head, findings, carried_out.records,
                                      {arguments.out, arguments.verb, arguments.markdown}));
  return CompareOutcome{json ? DumpJson(findings.json) + "\n" : markdown, findings.failed};
}

// What both commands take.
void AddOptions(Command* command, CompareArguments* arguments) {
  ComparisonRequest& request = arguments->request;
  command->AddOption("--seeds", &request.seeds, "how many (1, or as the file says)")
      .Between(1, 1000);
  command->AddOption("--jobs,-j", &arguments->jobs, "runs at a time, which share the cores")
      .Between(1, 1024)
      .ShowDefault();
  command->AddOverrides(&request.set, "key=value, over every recipe's");
  command->AddOption("--ledger", &arguments->ledger,
                     "file of finished runs: those it has are not made, new ones are added");
  command->AddOption("--markdown", &arguments->markdown, "write the report here, too");
  command->AddFlag("--no-controls", &arguments->no_controls,
                   "without the rows of the start without rl, and their runs");
  command->AddFlag("--plan", &arguments->plan, "say what it will take, and do nothing");
  command->AddFlag("--report-only", &arguments->report_only,
                   "make no run: report on what there is, also while others are at it");
}

void Act(const CompareArguments& arguments, CommandContext* context) {
  const Result<CompareOutcome> outcome = Compare(arguments, context->json);
  if (!outcome.ok()) return Report(context, outcome.error());
  Print(context, outcome->text);
  if (outcome->failed > 0 && context->exit_status == 0) context->exit_status = 3;
}

}  // namespace

void AddCompare(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<CompareArguments>();
  arguments->verb = "compare";
  arguments->out = "runs/compare";
  ComparisonRequest& request = arguments->request;
  Command compare = program.AddCommand(
      "compare", "Train by several recipes with several seeds and say what differs");
  compare.AddOption("recipes", &request.files, "recipes, or one comparison file (TOML)").Required();
  compare.AddOption("--out", &arguments->out, "folder of runs and report").ShowDefault();
  AddOptions(&compare, arguments.get());
  compare.AddOption("--seed-from", &request.seed_from, "the first (1)").NotNegative();
  compare.AddOption("--baseline", &request.baseline,
                    "the arm that the others are compared with (the first)");
  compare.AddOption("--goal", &request.goal, "success on dev that is to be reached (0.8)")
      .Between(0.0, 1.0);
  compare.Footer(
      "Finished runs are not made again; interrupted ones go on. The exit status is 0 when every\n"
      "run has finished, 3 when some failed. Writes compare.md, compare.html and compare.json.\n"
      "Example:\n  hone compare recipes/grpo.toml recipes/toolpo.toml --seeds 5 --jobs 2 --out "
      "runs/methods\n");
  compare.Action([=] { Act(*arguments, context.get()); });
}

void AddProve(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<CompareArguments>();
  arguments->verb = "prove";
  arguments->jobs = 2;
  Command prove = program.AddCommand(
      "prove", "Test whether simulated APIs and token-level credit train better tool-using agents");
  prove.AddOption("comparison", &arguments->proof,
                  "a comparison file (TOML) instead of " + std::string(kProof));
  prove.AddFlag("--quick", &arguments->quick, "a smaller one: minutes, not hours");
  prove.AddOption("--out", &arguments->out, "folder of runs and report (runs/prove)");
  AddOptions(&prove, arguments.get());
  prove.Footer(
      "The file says what is predicted; the report has what was measured beside it. Finished runs\n"
      "are not made again; interrupted ones go on. Writes prove.md, prove.html and prove.json.\n"
      "Exit status: 0 every run has finished, 3 some failed.\n"
      "Examples:\n"
      "  hone prove --plan\n"
      "  hone prove --quick\n"
      "  hone prove --ledger comparisons/switchboard.jsonl --report-only\n"
      "  hone prove --jobs 2 --ledger comparisons/switchboard.jsonl --markdown prove.md\n");
  prove.Action([=] {
    arguments->AskTheFoundingQuestion();
    Act(*arguments, context.get());
  });
}

}  // namespace hone
