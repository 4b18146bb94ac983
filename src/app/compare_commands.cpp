// hone compare.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/comparison_session.h"
#include "app/report.h"

namespace hone {
namespace {

struct CompareArguments {
  ComparisonRequest request;
  int64_t jobs = 1;
  std::string out = "runs/compare";
  std::string markdown;  // file; empty: none beside the folder's own
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
  if (arguments.jobs > 1) command += fmt::format(" --jobs {}", arguments.jobs);
  command += " --out " + QuotedForShell(arguments.out);
  if (!arguments.markdown.empty()) command += " --markdown " + QuotedForShell(arguments.markdown);
  return command;
}

struct Outcome {
  std::string text;
  int64_t failed = 0;
};

Result<Outcome> Compare(const CompareArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const ComparisonPlan plan, ReadComparison(arguments.request));
  const std::string command = CommandOf(arguments);
  HONE_ASSIGN_OR_RETURN(const std::vector<ComparedRun> records,
                        CarryOutComparison(plan, {.out = arguments.out,
                                                  .jobs = arguments.jobs,
                                                  .report_only = arguments.report_only,
                                                  .json = json,
                                                  .command = command}));
  const ComparisonFindings findings = FindingsOf(plan, records, command);
  const ComparisonText head{plan.title.empty() ? "Comparison" : plan.title, plan.text, command};
  HONE_ASSIGN_OR_RETURN(
      const std::string markdown,
      WriteFindings(head, findings, records, arguments.out, "compare", arguments.markdown));
  return Outcome{json ? DumpJson(findings.json) + "\n" : markdown, findings.failed};
}

}  // namespace

void AddCompare(CLI::App& app, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<CompareArguments>();
  ComparisonRequest& request = arguments->request;
  CLI::App* compare = app.add_subcommand(
      "compare", "Trains by several recipes with several seeds, and says what differs");
  compare->add_option("recipes", request.files, "recipes, or one comparison file (TOML)")
      ->required();
  compare->add_option("--seeds", request.seeds, "how many (1)")->check(CLI::Range(1, 1000));
  compare->add_option("--seed-from", request.seed_from, "the first (1)")
      ->check(CLI::NonNegativeNumber);
  compare->add_option("--jobs,-j", arguments->jobs, "runs at a time, which share the cores")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  compare->add_option("--out", arguments->out, "folder of runs and report")->capture_default_str();
  compare->add_option("--baseline", request.baseline,
                      "the arm that the others are compared with (the first)");
  compare->add_option("--goal", request.goal, "success on dev that is to be reached (0.8)")
      ->check(CLI::Range(0.0, 1.0));
  compare->add_option("--set", request.set, "key=value, over every recipe's")
      ->take_all()
      ->allow_extra_args(false);
  compare->add_option("--markdown", arguments->markdown, "write the report here, too");
  compare->add_flag("--report-only", arguments->report_only,
                    "make no run: report on what there is, also while others are at it");
  compare->footer(
      "Finished runs are not made again; interrupted ones go on. The exit status is 0 when every\n"
      "run has finished, 3 when some failed. Writes compare.md, compare.html and compare.json.\n"
      "Example:\n  hone compare recipes/grpo.toml recipes/toolpo.toml --seeds 5 --jobs 2 --out "
      "runs/methods\n");
  compare->callback([=] {
    const Result<Outcome> outcome = Compare(*arguments, context->json);
    if (!outcome.ok()) return Report(context.get(), outcome.error());
    Print(context.get(), outcome->text);
    if (outcome->failed > 0 && context->exit_status == 0) context->exit_status = 3;
  });
}

}  // namespace hone
