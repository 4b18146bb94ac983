// hone compare.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/comparison_session.h"
#include "app/report.h"

namespace hone {
namespace {

struct CompareArguments {
  ComparisonRequest request;
  int64_t jobs = 1;
  std::string out = "runs/compare";
  std::string ledger;    // file; empty: none
  std::string markdown;  // file; empty: none beside the folder's own
  bool no_controls = false;
  bool report_only = false;
};

std::string CommandOf(const CompareArguments& arguments) {
  std::string command = "hone compare";
  for (const std::string& file : arguments.request.files) command += " " + QuotedForShell(file);
  const ComparisonRequest& request = arguments.request;
  if (request.seeds > 0) command += fmt::format(" --seeds {}", request.seeds);
  if (request.seed_from >= 0) command += fmt::format(" --seed-from {}", request.seed_from);
  if (request.goal >= 0) command += fmt::format(" --goal {:g}", request.goal);
  if (!request.baseline.empty()) command += " --baseline " + QuotedForShell(request.baseline);
  for (const std::string& change : request.set) command += " --set " + QuotedForShell(change);
  if (arguments.no_controls) command += " --no-controls";
  if (arguments.jobs > 1) command += fmt::format(" --jobs {}", arguments.jobs);
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
  HONE_ASSIGN_OR_RETURN(const ComparisonFile comparison, ReadComparison(request));
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
                        WriteFindings(head, findings, carried_out.records, arguments.out, "compare",
                                      arguments.markdown));
  return CompareOutcome{json ? DumpJson(findings.json) + "\n" : markdown, findings.failed};
}

}  // namespace

void AddCompare(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<CompareArguments>();
  ComparisonRequest& request = arguments->request;
  Command compare = program.AddCommand(
      "compare", "Train by several recipes with several seeds and say what differs");
  compare.AddOption("recipes", &request.files, "recipes, or one comparison file (TOML)").Required();
  compare.AddOption("--seeds", &request.seeds, "how many (1)").Between(1, 1000);
  compare.AddOption("--seed-from", &request.seed_from, "the first (1)").NotNegative();
  compare.AddOption("--jobs,-j", &arguments->jobs, "runs at a time, which share the cores")
      .Between(1, 1024)
      .ShowDefault();
  compare.AddOption("--out", &arguments->out, "folder of runs and report").ShowDefault();
  compare.AddOption("--baseline", &request.baseline,
                    "the arm that the others are compared with (the first)");
  compare.AddOption("--goal", &request.goal, "success on dev that is to be reached (0.8)")
      .Between(0.0, 1.0);
  compare.AddOption("--set", &request.set, "key=value, over every recipe's").OneAtATime();
  compare.AddOption("--ledger", &arguments->ledger,
                    "file of finished runs: those it has are not made, new ones are added");
  compare.AddOption("--markdown", &arguments->markdown, "write the report here, too");
  compare.AddFlag("--no-controls", &arguments->no_controls,
                  "without the rows of the start without rl, and their runs");
  compare.AddFlag("--report-only", &arguments->report_only,
                  "make no run: report on what there is, also while others are at it");
  compare.Footer(
      "Finished runs are not made again; interrupted ones go on. The exit status is 0 when every\n"
      "run has finished, 3 when some failed. Writes compare.md, compare.html and compare.json.\n"
      "Example:\n  hone compare recipes/grpo.toml recipes/toolpo.toml --seeds 5 --jobs 2 --out "
      "runs/methods\n");
  compare.Action([=] {
    const Result<CompareOutcome> outcome = Compare(*arguments, context->json);
    if (!outcome.ok()) return Report(context.get(), outcome.error());
    Print(context.get(), outcome->text);
    if (outcome->failed > 0 && context->exit_status == 0) context->exit_status = 3;
  });
}

}  // namespace hone
