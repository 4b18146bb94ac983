#include "app/comparison_session.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "app/interrupts.h"
#include "app/views/compare_progress.h"
#include "base/file.h"
#include "evaluate/compare/comparison_page.h"

namespace hone {
namespace {

// A report of nothing would take the place of one of something.
Result<void> CheckSomethingThere(const std::vector<ComparedRun>& records,
                                 const SessionOptions& options) {
  const bool nothing = std::all_of(records.begin(), records.end(), [](const ComparedRun& run) {
    return run.status == ComparedRun::Status::kMissing;
  });
  if (!nothing) return {};
  return Error(ErrorCode::kNotFound,
               fmt::format("{}{} no run of this comparison to report on; make them first, without "
                           "--report-only",
                           options.out.string(),
                           options.ledger.empty() ? " has" : " and " + options.ledger + " have"));
}

}  // namespace

std::string QuotedForShell(const std::string& word) {
  const bool plain =
      !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()[]{}*?!#~`") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

Result<std::vector<ComparedRun>> CarryOutComparison(const ComparisonFile& comparison,
                                                    const SessionOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::vector<PlannedRun> runs, PlanRuns(comparison, options.out));
  std::string problems;
  for (const PlannedRun& run : runs) {
    if (const Result<void> checked = CheckRunFolder(run); !checked.ok()) {
      problems += (problems.empty() ? "" : "\n") + checked.error().message();
    }
  }
  if (!problems.empty()) return Error(ErrorCode::kInvalidArgument, problems);
  std::optional<ComparisonLedger> ledger;
  if (!options.ledger.empty()) {
    HONE_ASSIGN_OR_RETURN(ledger, ComparisonLedger::Open(options.ledger));
  }
  ComparisonLedger* const kept = ledger ? &*ledger : nullptr;
  if (options.report_only) {
    if (kept != nullptr) HONE_RETURN_IF_ERROR(KeepFinished(comparison, runs, kept));
    std::vector<ComparedRun> records = ReadRuns(comparison, runs, kept);
    HONE_RETURN_IF_ERROR(CheckSomethingThere(records, options));
    return records;
  }
  WatchInterrupts();
  const auto progress = NewCompareProgress(options.json, stdout);
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  Result<std::vector<ComparedRun>> made =
      MakeRuns(comparison, runs, options.out,
               {.program = std::filesystem::read_symlink("/proc/self/exe").string(),
                .jobs = options.jobs,
                .threads = std::max<int64_t>(1, cores / options.jobs),
                .stop = Interrupted,
                .observer = progress.get(),
                .ledger = kept});
  if (!made.ok() && made.error().code() == ErrorCode::kStopped) {
    return Error(ErrorCode::kStopped,
                 fmt::format("stopped; what was done is saved. To go on:\n  {0}\nto see what there "
                             "is:\n  {0} --report-only",
                             options.command));
  }
  return made;
}

ComparisonFindings FindingsOf(const ComparisonFile& comparison,
                              const std::vector<ComparedRun>& records, const std::string& command) {
  ComparisonFindings findings;
  findings.sections = SectionsOf(comparison, records);
  Json::Array sections, runs;
  for (const ComparedSection& section : findings.sections) {
    findings.reports.push_back(ReportSection(section));
    sections.push_back(ToJson(section, findings.reports.back()));
  }
  findings.problems = CheckStarts(records);
  for (const ComparedRun& record : records) {
    runs.push_back(ToJson(record));
    findings.failed += record.status == ComparedRun::Status::kFailed ? 1 : 0;
  }
  findings.json = Json::Of({{"event", "end"},
                            {"title", comparison.title},
                            {"command", command},
                            {"sections", std::move(sections)},
                            {"problems", Json::ArrayOf(findings.problems)},
                            {"runs", std::move(runs)}});
  return findings;
}

Result<std::string> WriteFindings(const ComparisonText& head, const ComparisonFindings& findings,
                                  const std::vector<ComparedRun>& records,
                                  const std::filesystem::path& folder, const std::string& name,
                                  const std::string& copy) {
  const std::string markdown =
      ComparisonMarkdown(head, findings.sections, findings.reports, records, findings.problems);
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / (name + ".md"), markdown));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(
      folder / (name + ".html"),
      ComparisonPage(head, findings.sections, findings.reports, records, findings.problems)));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / (name + ".json"),
                                       DumpJson(findings.json, JsonStyle::kPretty) + "\n"));
  if (!copy.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomic(copy, markdown));
  return markdown;
}

}  // namespace hone
