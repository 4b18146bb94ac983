// hone sweep: many settings of one recipe, ranked.

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/comparison/comparison_estimate.h"
#include "app/comparison/comparison_session.h"
#include "app/installed/shipped_files.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "train/compare/sweep.h"

namespace hone {
namespace {

struct SweepArguments {
  SweepRequest request;
  std::vector<std::string> tried;
  double core_minutes = 0;  // 0: no limit
  int64_t jobs = 1;
  std::string out = "runs/sweep";
  bool report_only = false;
  bool plan = false;
};

std::string SweepCommand(const SweepArguments& arguments) {
  const SweepRequest& request = arguments.request;
  std::string command = "hone sweep " + QuotedForShell(request.recipe);
  for (const std::string& text : arguments.tried) command += " --try " + QuotedForShell(text);
  if (request.random > 0) command += fmt::format(" --random {}", request.random);
  if (request.seeds != 1) command += fmt::format(" --seeds {}", request.seeds);
  if (request.seed_from != 1) command += fmt::format(" --seed-from {}", request.seed_from);
  if (request.draw_seed != 1) command += fmt::format(" --draw-seed {}", request.draw_seed);
  if (request.most_runs > 0) command += fmt::format(" --runs {}", request.most_runs);
  if (request.choose != "dev/end") command += " --by " + request.choose;
  for (const std::string& change : request.set) command += " --set " + QuotedForShell(change);
  if (arguments.jobs > 1) command += fmt::format(" --jobs {}", arguments.jobs);
  return command + " --out " + QuotedForShell(arguments.out);
}

Result<ComparisonEstimate> Estimate(const ComparisonFile& sweep, const std::string& out) {
  ProgressBar bar(stderr);
  return EstimateComparison(sweep, out, [&](const std::string& arm, int64_t done, int64_t all) {
    bar.Show("trying each kind of run", done, all, arm);
  });
}

// How many runs the minutes allow: what is shared is made once, the rest for every run.
Result<int64_t> RunsWithin(const ComparisonFile& sweep, const SweepArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const ComparisonEstimate estimate, Estimate(sweep, arguments.out));
  double each = 0, once = 0;
  int64_t runs = 0;
  for (const ComparisonEstimate::Kind& kind : estimate.kinds) {
    each += static_cast<double>(kind.runs) * kind.rl_seconds;
    once += static_cast<double>(kind.imitations) * kind.imitation_seconds +
            static_cast<double>(kind.simulators) * kind.simulator_seconds;
    runs += kind.runs;
  }
  // A recipe without practice shares nothing: all of it is for every run.
  if (each == 0) std::swap(each, once);
  const double left = 60 * arguments.core_minutes - once;
  const double allowed = std::floor(left / (each / static_cast<double>(runs)));
  if (allowed < static_cast<double>(arguments.request.seeds)) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{:.0f} core-minutes do not allow one setting with {} seeds: about "
                    "{:.0f} are needed for the {} that were asked for (see --plan)",
                    arguments.core_minutes, arguments.request.seeds, (each + once) / 60, runs));
  }
  return std::min<int64_t>(runs, static_cast<int64_t>(std::min(allowed, 1e9)));
}

// The sweep that is asked for, cut to what the budget allows. What the minutes allow is measured,
// and therefore told as a number of runs, with which the same sweep can be made again.
Result<ComparisonFile> SweepWithin(SweepArguments* arguments) {
  for (const std::string& text : arguments->tried) {
    HONE_ASSIGN_OR_RETURN(SweptKey key, ParseSweptKey(text));
    arguments->request.keys.push_back(std::move(key));
  }
  HONE_ASSIGN_OR_RETURN(ComparisonFile sweep, MakeSweep(arguments->request));
  if (arguments->core_minutes > 0 && !arguments->report_only) {
    HONE_ASSIGN_OR_RETURN(arguments->request.most_runs, RunsWithin(sweep, *arguments));
    HONE_ASSIGN_OR_RETURN(sweep, MakeSweep(arguments->request));
  }
  return sweep;
}

// What to do with the best of them.
std::string NextAfter(const SweepArguments& arguments, const ComparisonFile& sweep,
                      const std::vector<RankedSetting>& ranked) {
  if (ranked.empty() || !ranked[0].mean) return "";
  std::string changes;
  for (const std::string& change : sweep.arms[ranked[0].arm].changes) {
    changes += " " + QuotedForShell(change);
  }
  return fmt::format("\nThe best: hone train {}{}\nIn a browser: hone dash {}\n",
                     QuotedForShell(arguments.request.recipe), changes,
                     QuotedForShell(arguments.out));
}

struct SweepOutcome {
  std::string text;
  int64_t failed = 0;
};

Result<SweepOutcome> Sweep(SweepArguments arguments, bool json) {
  arguments.request.recipe = NamedFile(arguments.request.recipe);
  HONE_ASSIGN_OR_RETURN(const ComparisonFile sweep, SweepWithin(&arguments));
  if (arguments.plan) {
    HONE_ASSIGN_OR_RETURN(const ComparisonEstimate estimate, Estimate(sweep, arguments.out));
    return SweepOutcome{json
                            ? DumpJson(estimate.ToJson(arguments.jobs)) + "\n"
                            : fmt::format("{} settings x {} seeds\n\n{}", sweep.arms.size(),
                                          arguments.request.seeds, estimate.Table(arguments.jobs))};
  }
  const std::string command = SweepCommand(arguments);
  HONE_ASSIGN_OR_RETURN(const CarriedOut carried_out,
                        CarryOutComparison(sweep, {.out = arguments.out,
                                                   .jobs = arguments.jobs,
                                                   .report_only = arguments.report_only,
                                                   .json = json,
                                                   .fair = false,
                                                   .command = command}));
  ComparisonFindings findings = FindingsOf(carried_out, command);
  const std::vector<RankedSetting> ranked = RankSettings(sweep, carried_out.records);
  const ReportTable table = RankTable(arguments.request, sweep, ranked);
  // Before everything else, where claims stand in other comparisons.
  findings.claims.insert(findings.claims.begin(), table);
  findings.json.Set("ranked", ToJson(sweep, ranked));
  const ComparisonText head{
      fmt::format("Sweep of {}", std::filesystem::path(arguments.request.recipe).stem().string()),
      fmt::format("{} settings, {} seeds each.", sweep.arms.size(), arguments.request.seeds),
      command};
  HONE_RETURN_IF_ERROR([&]() -> Result<void> {
    const Result<std::string> written =
        WriteFindings(head, findings, carried_out.records, {arguments.out, "sweep", ""});
    return written.ok() ? Result<void>() : Result<void>(written.error());
  }());
  if (json) return SweepOutcome{DumpJson(findings.json) + "\n", findings.failed};
  return SweepOutcome{fmt::format("\n{}\n{}\n{}\nThe whole report: {}\n", MarkdownTable(table.rows),
                                  table.note, NextAfter(arguments, sweep, ranked),
                                  (std::filesystem::path(arguments.out) / "sweep.html").string()),
                      findings.failed};
}

void AddSweepOptions(Command* command, SweepArguments* arguments) {
  SweepRequest& request = arguments->request;
  command->AddOption("recipe", &request.recipe, "TOML").Required();
  command
      ->AddOption("--try", &arguments->tried,
                  "KEY=A,B,C: values of a key of the recipe; or a range to draw from, "
                  "KEY=LOW..HIGH or KEY=LOW..HIGH:log; once for each key")
      .OneAtATime()
      .Required();
  command->AddOption("--random", &request.random, "draw so many settings instead of the whole grid")
      .Between(1, 10000);
  command->AddOption("--seeds", &request.seeds, "runs of each setting")
      .Between(1, 1000)
      .ShowDefault();
  command->AddOption("--seed-from", &request.seed_from, "the first of them")
      .NotNegative()
      .ShowDefault();
  command->AddOption("--draw-seed", &request.draw_seed, "of what is drawn").ShowDefault();
  command
      ->AddOption("--runs", &request.most_runs,
                  "a budget: at most so many runs, of settings drawn from the grid")
      .Between(1, 100000);
  command
      ->AddOption("--core-minutes", &arguments->core_minutes,
                  "a budget: as many runs as this machine should make in so many minutes of one "
                  "core, evaluations not counted")
      .Positive();
  command->AddOption("--by", &request.choose, "what settings are ranked by")
      .OneOf({"dev/end", "dev/over-run"})
      .ShowDefault();
  command->AddOption("--jobs,-j", &arguments->jobs, "runs at a time, which share the cores")
      .Between(1, 1024)
      .ShowDefault();
  command->AddOption("--out", &arguments->out, "folder of runs and report").ShowDefault();
  command->AddOverrides(&request.set, "key=value, for every run");
  command->AddFlag("--plan", &arguments->plan, "say what it will take, and do nothing");
  command->AddFlag("--report-only", &arguments->report_only,
                   "make no run: rank what there is, also while others are at it");
}

}  // namespace

void AddSweep(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<SweepArguments>();
  Command sweep = program.AddCommand("sweep", "Try many settings of a recipe and rank them by dev");
  AddSweepOptions(&sweep, arguments.get());
  sweep.Footer(
      "Finished runs are not made again; interrupted ones go on. The exit status is 0 when every\n"
      "run has finished, 3 when some failed. Writes sweep.md, sweep.html and sweep.json.\n"
      "Examples:\n"
      "  hone sweep recipes/grpo.toml --try stage.1.learning_rate=1e-4,3e-4,1e-3 --seeds 2\n"
      "  hone sweep recipes/grpo.toml --try stage.1.learning_rate=1e-5..1e-2:log \\\n"
      "    --try credit.method=grpo,rloo --random 12 --core-minutes 60 --jobs 2\n");
  sweep.Action([=] {
    const Result<SweepOutcome> outcome = Sweep(*arguments, context->json);
    if (!outcome.ok()) return Report(context.get(), outcome.error());
    Print(context.get(), outcome->text);
    if (outcome->failed > 0 && context->exit_status == 0) context->exit_status = 3;
  });
}

}  // namespace hone
