// hone compare.

#include <atomic>
#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/compare_progress.h"
#include "app/report.h"
#include "base/file.h"
#include "evaluate/comparison_page.h"
#include "learn/comparison_runs.h"

namespace hone {
namespace {

struct CompareArguments {
  ComparisonRequest request;
  int64_t jobs = 1;
  std::string out = "runs/compare";
  std::string markdown;  // file; empty: none beside the folder's own
  bool report_only = false;
};

std::atomic<bool> interrupted = false;  // what a signal handler may touch

// The first one lets the runs save and end; then the usual thing happens.
void OnInterrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

// A word as a shell takes it.
std::string Quoted(const std::string& word) {
  const bool plain =
      !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()[]{}*?!#~`") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string CommandOf(const CompareArguments& arguments) {
  std::string command = "hone compare";
  for (const std::string& file : arguments.request.files) command += " " + Quoted(file);
  const ComparisonRequest& request = arguments.request;
  if (request.seeds > 0) command += fmt::format(" --seeds {}", request.seeds);
  if (request.seed_from >= 0) command += fmt::format(" --seed-from {}", request.seed_from);
  if (request.goal >= 0) command += fmt::format(" --goal {:g}", request.goal);
  if (!request.baseline.empty()) command += " --baseline " + Quoted(request.baseline);
  for (const std::string& change : request.set) command += " --set " + Quoted(change);
  if (arguments.jobs > 1) command += fmt::format(" --jobs {}", arguments.jobs);
  command += " --out " + Quoted(arguments.out);
  if (!arguments.markdown.empty()) command += " --markdown " + Quoted(arguments.markdown);
  return command;
}

struct Outcome {
  std::string text;
  int64_t failed = 0;
};

Result<Outcome> Compare(const CompareArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const ComparisonPlan plan, ReadComparison(arguments.request));
  HONE_ASSIGN_OR_RETURN(const std::vector<PlannedRun> runs, PlanRuns(plan, arguments.out));
  std::string problems;
  for (const PlannedRun& run : runs) {
    if (const Result<void> checked = CheckRunFolder(run); !checked.ok()) {
      problems += (problems.empty() ? "" : "\n") + checked.error().message();
    }
  }
  if (!problems.empty()) return Error(ErrorCode::kInvalidArgument, problems);

  std::vector<ComparedRun> records;
  const std::string command = CommandOf(arguments);
  if (arguments.report_only) {
    for (const PlannedRun& run : runs) records.push_back(ReadComparedRun(plan, run));
  } else {
    std::signal(SIGINT, OnInterrupt);
    std::signal(SIGTERM, OnInterrupt);
    const auto progress = NewCompareProgress(json, stdout);
    const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    Result<std::vector<ComparedRun>> made =
        MakeRuns(plan, runs, arguments.out,
                 {.program = std::filesystem::read_symlink("/proc/self/exe").string(),
                  .jobs = arguments.jobs,
                  .threads = std::max<int64_t>(1, cores / arguments.jobs),
                  .stop = [] { return interrupted.load(); },
                  .observer = progress.get()});
    if (!made.ok() && made.error().code() == ErrorCode::kStopped) {
      return Error(
          ErrorCode::kStopped,
          fmt::format("stopped; what was done is saved. To go on:\n  {}\nto see what there "
                      "is:\n  {} --report-only",
                      command, command));
    }
    if (!made.ok()) return made.error();
    records = *std::move(made);
  }

  const std::vector<ComparedSection> sections = SectionsOf(plan, records);
  std::vector<SectionReport> reports;
  Json::Array section_json, run_json;
  for (const ComparedSection& section : sections) {
    reports.push_back(ReportSection(section));
    section_json.push_back(ToJson(section, reports.back()));
  }
  const std::vector<std::string> starts = CheckStarts(records);
  Outcome outcome;
  for (const ComparedRun& record : records) {
    run_json.push_back(ToJson(record));
    outcome.failed += record.status == ComparedRun::Status::kFailed ? 1 : 0;
  }
  const Json report = Json::Of({{"event", "end"},
                                {"title", plan.title},
                                {"command", command},
                                {"sections", std::move(section_json)},
                                {"problems", Json::ArrayOf(starts)},
                                {"runs", std::move(run_json)}});
  const ComparisonText head{plan.title.empty() ? "Comparison" : plan.title, plan.text, command};
  const std::string markdown = ComparisonMarkdown(head, sections, reports, records, starts);
  const std::filesystem::path folder = arguments.out;
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "compare.md", markdown));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "compare.html",
                                       ComparisonPage(head, sections, reports, records, starts)));
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(folder / "compare.json", DumpJson(report, JsonStyle::kPretty) + "\n"));
  if (!arguments.markdown.empty()) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(arguments.markdown, markdown));
  }
  outcome.text = json ? DumpJson(report) + "\n" : markdown;
  return outcome;
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
