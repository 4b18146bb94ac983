#include "app/comparison/comparison_session.h"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "app/interrupts.h"
#include "app/views/compare_progress.h"
#include "base/file.h"
#include "evaluate/compare/comparison_page.h"
#include "train/compare/outcome_arm.h"
#include "train/compare/start_controls.h"

namespace hone {
namespace {

// A report of nothing would take the place of one of something.
Result<void> CheckSomethingThere(const CarriedOut& carried_out, const SessionOptions& options) {
  const auto begun = [](const ComparedRun& run) {
    return run.status != ComparedRun::Status::kMissing;
  };
  const auto any = [&](const std::vector<ComparedRun>& records) {
    return std::any_of(records.begin(), records.end(), begun);
  };
  if (any(carried_out.records) || any(carried_out.tuning)) return {};
  std::string notes;
  for (const std::string& note : carried_out.notes) notes += "\n" + note;
  return Error(
      ErrorCode::kNotFound,
      fmt::format("{}{} no run of this comparison to report on; make them first, without "
                  "--report-only{}",
                  options.out.string(),
                  options.ledger.empty() ? " has" : " and " + options.ledger + " have", notes));
}

Result<std::vector<ComparedRun>> Make(const ComparisonFile& comparison,
                                      const std::vector<PlannedRun>& runs,
                                      const SessionOptions& options, ComparisonLedger* ledger) {
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
                .ledger = ledger});
  if (!made.ok() && made.error().code() == ErrorCode::kStopped) {
    return Error(ErrorCode::kStopped,
                 fmt::format("stopped; what was done is saved. To go on:\n  {0}\nto see what there "
                             "is:\n  {0} --report-only",
                             options.command));
  }
  return made;
}

Result<std::vector<ComparedRun>> MakeOrRead(const ComparisonFile& comparison,
                                            const SessionOptions& options,
                                            ComparisonLedger* ledger) {
  HONE_ASSIGN_OR_RETURN(const std::vector<PlannedRun> runs, PlanRuns(comparison, options.out));
  std::string problems;
  for (const PlannedRun& run : runs) {
    if (const Result<void> checked = CheckRunFolder(run); !checked.ok()) {
      problems += (problems.empty() ? "" : "\n") + checked.error().message();
    }
  }
  if (!problems.empty()) return Error(ErrorCode::kInvalidArgument, problems);
  if (!options.report_only) return Make(comparison, runs, options, ledger);
  if (ledger != nullptr) HONE_RETURN_IF_ERROR(KeepFinished(comparison, runs, ledger));
  return ReadRuns(comparison, runs, ledger);
}

// Arms whose runs in the ledger are of another recipe or other files: nobody is to think that they
// were never made.
std::vector<std::string> NotesOnLedger(const ComparisonFile& comparison,
                                       const std::vector<PlannedRun>& runs,
                                       const ComparisonLedger& ledger) {
  std::map<std::string, std::vector<uint64_t>> others;  // seeds by arm
  for (const PlannedRun& run : runs) {
    if (ledger.HasAnother(comparison, run)) {
      others[comparison.arms[run.arm].name].push_back(run.seed);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [arm, seeds] : others) {
    notes.push_back(fmt::format(
        "{}: the ledger has runs of it (seed {}) that are left out: their recipe, its [evaluation] "
        "or the files that it names are others than those here",
        arm, fmt::join(seeds, ", ")));
  }
  return notes;
}

// Controls that nobody has measured are rows that say so, and no runs that are missing.
void LeaveOutUnmeasured(CarriedOut* done) {
  std::set<std::string> controls;
  for (const ComparisonSection& section : done->comparison.sections) {
    for (const StartControl& control : section.start_controls) {
      if (control.made) controls.insert(done->comparison.arms[control.arm].name);
    }
  }
  std::erase_if(done->records, [&](const ComparedRun& run) {
    return run.status == ComparedRun::Status::kMissing && controls.contains(run.arm);
  });
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

Result<CarriedOut> CarryOutComparison(const ComparisonFile& comparison,
                                      const SessionOptions& options) {
  std::optional<ComparisonLedger> ledger;
  if (!options.ledger.empty()) {
    HONE_ASSIGN_OR_RETURN(ledger, ComparisonLedger::Open(options.ledger));
  }
  ComparisonLedger* const kept = ledger ? &*ledger : nullptr;
  ComparisonFile asked = comparison;
  if (options.report_only) asked.use = RecipeUse::kToReport;
  if (options.fair) asked = WithOutcomeArms(asked);
  // What is wrong with any recipe is known before the first run.
  HONE_RETURN_IF_ERROR([&]() -> Result<void> {
    const auto planned = PlanRuns(WithFirstSettings(asked), options.out);
    return planned.ok() ? Result<void>() : Result<void>(planned.error());
  }());
  CarriedOut done;
  if (const ComparisonFile tuning = TuningOf(asked); !tuning.arms.empty()) {
    HONE_ASSIGN_OR_RETURN(done.tuning, MakeOrRead(tuning, options, kept));
  }
  done.tuned = ChooseSettings(asked, done.tuning);
  done.comparison = WithChosen(asked, done.tuned);
  if (options.fair) done.comparison = WithControls(std::move(done.comparison));
  HONE_ASSIGN_OR_RETURN(done.records, MakeOrRead(done.comparison, options, kept));
  if (options.report_only && kept != nullptr) {
    HONE_ASSIGN_OR_RETURN(const auto runs, PlanRuns(done.comparison, options.out));
    done.notes = NotesOnLedger(done.comparison, runs, *kept);
  }
  if (options.report_only) {
    LeaveOutUnmeasured(&done);
    HONE_RETURN_IF_ERROR(CheckSomethingThere(done, options));
  }
  return done;
}

ComparisonFindings FindingsOf(const CarriedOut& carried_out, const std::string& command) {
  const ComparisonFile& comparison = carried_out.comparison;
  ComparisonFindings findings;
  findings.sections = SectionsOf(comparison, carried_out.records);
  Json::Array sections, runs;
  for (size_t i = 0; i < findings.sections.size(); ++i) {
    const ComparedSection& section = findings.sections[i];
    findings.reports.push_back(ReportSection(section));
    std::vector<std::string>& warnings = findings.reports.back().warnings;
    const std::vector<std::string> tuning =
        TuningNotes(comparison, comparison.sections[i], carried_out.tuned);
    warnings.insert(warnings.end(), tuning.begin(), tuning.end());
    const std::vector<std::string>& notes = comparison.sections[i].notes;
    warnings.insert(warnings.end(), notes.begin(), notes.end());
    sections.push_back(ToJson(section, findings.reports.back()));
  }
  Json::Array claims;
  std::vector<ClaimFinding> found;
  for (const Claim& claim : comparison.claims) {
    found.push_back(FindingOf(claim, findings.sections));
    claims.push_back(ToJson(claim, found.back()));
  }
  findings.claims = ClaimTables(comparison.claims, found, findings.sections);
  findings.problems = CheckStarts(carried_out.records);
  findings.problems.insert(findings.problems.end(), carried_out.notes.begin(),
                           carried_out.notes.end());
  if (!findings.sections.empty()) {
    findings.tables.push_back(StabilityTable(
        RunsBySetting(comparison, carried_out.tuned, carried_out.tuning, carried_out.records),
        findings.sections[0].goal));
  }
  findings.tables.push_back(TuningTable(comparison, carried_out.tuned));
  for (const ComparedRun& record : carried_out.records) {
    runs.push_back(ToJson(record));
    findings.failed += record.status == ComparedRun::Status::kFailed ? 1 : 0;
  }
  for (const ComparedRun& record : carried_out.tuning) {
    findings.failed += record.status == ComparedRun::Status::kFailed ? 1 : 0;
  }
  findings.json = Json::Of({{"event", "end"},
                            {"title", comparison.title},
                            {"command", command},
                            {"claims", std::move(claims)},
                            {"sections", std::move(sections)},
                            {"tuning", TuningJson(comparison, carried_out.tuned)},
                            {"problems", Json::ArrayOf(findings.problems)},
                            {"runs", std::move(runs)}});
  return findings;
}

Result<std::string> WriteFindings(ComparisonText head, const ComparisonFindings& findings,
                                  const std::vector<ComparedRun>& records,
                                  const FindingFiles& files) {
  head.claims = findings.claims;
  head.tables = findings.tables;
  const std::string markdown =
      ComparisonMarkdown(head, findings.sections, findings.reports, records, findings.problems);
  HONE_RETURN_IF_ERROR(WriteFileAtomic(files.folder / (files.name + ".md"), markdown));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(
      files.folder / (files.name + ".html"),
      ComparisonPage(head, findings.sections, findings.reports, records, findings.problems)));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(files.folder / (files.name + ".json"),
                                       DumpJson(findings.json, JsonStyle::kPretty) + "\n"));
  if (!files.copy.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomic(files.copy, markdown));
  return markdown;
}

}  // namespace hone
