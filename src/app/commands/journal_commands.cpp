// hone journal: what tools answered, looked at and carried from place to place.

#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/report.h"
#include "app/views/journal_view.h"
#include "base/nearest.h"
#include "tools/journal/journal_json.h"
#include "tools/journal/journal_transfer.h"

namespace hone {
namespace {

struct JournalArguments {
  std::string journal;
  std::vector<std::string> files;
  std::string status;
  JournalFilter filter;
  int64_t id = 0;
  int64_t limit = 100;
  bool full = false;
  bool redact = false;
};

// The journal of a run's folder, or the file itself.
std::filesystem::path FileOf(const std::string& journal) {
  std::error_code ignored;
  const std::filesystem::path path = journal;
  return std::filesystem::is_directory(path, ignored) ? path / "journal.sqlite" : path;
}

Result<std::unique_ptr<Journal>> OpenToRead(const std::string& journal) {
  Result<std::unique_ptr<Journal>> opened = Journal::OpenForReading(FileOf(journal));
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::path(journal) / "recipe.toml", ignored) &&
      !std::filesystem::exists(FileOf(journal), ignored)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("the run {} has no journal: nothing that it asked was recorded (its "
                             "tools are parts of this program, or were simulated)",
                             journal));
  }
  if (!opened.ok() && opened.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kNotFound,
                 opened.error().message() + "; give a run's folder or its journal.sqlite");
  }
  return opened;
}

Result<JournalFilter> FilterOf(const JournalArguments& arguments) {
  JournalFilter filter = arguments.filter;
  if (arguments.status.empty()) return filter;
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(CallStatus::kInterrupted); ++i) {
    const auto status = static_cast<CallStatus>(i);
    names.emplace_back(CallStatusName(status));
    if (names.back() == arguments.status) filter.status = status;
  }
  if (filter.status) return filter;
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("--status {}: there is no such status{}; there are: {}", arguments.status,
                  DidYouMean(arguments.status, names), fmt::join(names, ", ")));
}

Result<std::string> Stats(const JournalArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const auto journal, OpenToRead(arguments.journal));
  HONE_ASSIGN_OR_RETURN(const JournalStatistics statistics, journal->Statistics());
  if (json) return DumpJson(StatisticsJson(statistics)) + "\n";
  return StatisticsView(statistics, Terminal::Of(stdout));
}

Json NumberedJson(const NumberedEntry& call) {
  Json json = JournalLineToJson(call.entry);
  json.Set("id", call.id);
  return json;
}

Result<std::string> ShowOne(Journal* journal, const JournalArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const auto calls, journal->List({}, arguments.id - 1, 1));
  if (calls.empty() || calls[0].id != arguments.id) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}: there is no call {}; hone journal show {} lists them",
                             FileOf(arguments.journal).string(), arguments.id, arguments.journal));
  }
  if (json) return DumpJson(NumberedJson(calls[0])) + "\n";
  return CallView(calls[0], Terminal::Of(stdout), arguments.full ? 0 : 24);
}

Result<std::string> ShowCalls(const JournalArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const auto journal, OpenToRead(arguments.journal));
  HONE_ASSIGN_OR_RETURN(const JournalFilter filter, FilterOf(arguments));
  if (arguments.id != 0) return ShowOne(journal.get(), arguments, json);
  HONE_ASSIGN_OR_RETURN(auto calls, journal->List(filter, 0, arguments.limit + 1));
  HONE_ASSIGN_OR_RETURN(const auto begun, journal->ListBegun(filter));
  const bool more = std::ssize(calls) > arguments.limit;
  if (more) calls.pop_back();
  if (json) {
    Json::Array list, begun_list;
    for (const NumberedEntry& call : calls) list.push_back(NumberedJson(call));
    for (const BegunCall& call : begun) begun_list.push_back(JournalLineToJson(call));
    return DumpJson(Json::Of(
               {{"calls", std::move(list)}, {"begun", std::move(begun_list)}, {"more", more}})) +
           "\n";
  }
  const Terminal terminal = Terminal::Of(stdout);
  return CallsView(calls, begun, terminal) +
         terminal.Dim(fmt::format(
             "\n{} calls{}; hone journal show {} ID shows one of them\n",
             calls.size() + begun.size(),
             more ? fmt::format(", the first ones; --limit {} shows more", arguments.limit * 10)
                  : "",
             arguments.journal));
}

Result<void> Export(const JournalArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const auto journal, OpenToRead(arguments.journal));
  HONE_ASSIGN_OR_RETURN(const JournalFilter filter, FilterOf(arguments));
  std::ios::sync_with_stdio(false);
  HONE_RETURN_IF_ERROR(ExportJournal(journal.get(), filter, std::cout));
  return {};
}

// Says what was added; a conflict is a failure, told after everything else was done.
Result<std::string> Told(const AddReport& report, const std::vector<std::string>& conflicts,
                         bool json) {
  if (!conflicts.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} calls were added and {} were there, but {} are there with another "
                             "outcome and were left as they are: {}{}; give one of the runs "
                             "another name",
                             report.added, report.equal, conflicts.size(), conflicts[0],
                             conflicts.size() > 1 ? " and others" : ""));
  }
  if (json) {
    return DumpJson(Json::Of({{"added", report.added}, {"equal", report.equal}})) + "\n";
  }
  return fmt::format("{} calls added, {} were there already\n", report.added, report.equal);
}

void Append(AddReport more, AddReport* total) {
  total->added += more.added;
  total->equal += more.equal;
}

Result<std::string> Import(const JournalArguments& arguments, bool json) {
  std::optional<Redactor> redactor;
  if (arguments.redact) {
    HONE_ASSIGN_OR_RETURN(redactor, Redactor::Create(RedactionOptions::Default()));
  }
  // Everything is looked for before anything is made.
  for (const std::string& file : arguments.files) {
    std::error_code ignored;
    if (file != "-" && !std::filesystem::is_regular_file(file, ignored)) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("{}: no such file; give the output of hone journal export, or - for "
                               "standard input",
                               file));
    }
  }
  HONE_ASSIGN_OR_RETURN(const auto journal, Journal::Open(FileOf(arguments.journal)));
  AddReport total;
  std::vector<std::string> conflicts;
  for (const std::string& file : arguments.files) {
    std::ifstream opened;
    if (file != "-") opened.open(file);
    std::istream& in = file == "-" ? std::cin : opened;
    Result<ImportReport> report = ImportJournal(in, journal.get(), redactor ? &*redactor : nullptr);
    if (!report.ok()) {
      return Error(report.error().code(),
                   fmt::format("{}: {}; the lines before it were imported: put it right and import "
                               "the file again",
                               file, report.error().message()));
    }
    for (size_t i = 0; i < report->conflict_lines.size(); ++i) {
      conflicts.push_back(fmt::format("{}: line {} ({})", file, report->conflict_lines[i],
                                      report->added.conflicts[i].Text()));
    }
    Append(std::move(report->added), &total);
  }
  return Told(total, conflicts, json);
}

Result<std::string> Merge(const JournalArguments& arguments, bool json) {
  std::vector<std::unique_ptr<Journal>> sources;
  for (const std::string& file : arguments.files) {
    HONE_ASSIGN_OR_RETURN(auto opened, OpenToRead(file));
    sources.push_back(std::move(opened));
  }
  HONE_ASSIGN_OR_RETURN(const auto into, Journal::Open(FileOf(arguments.journal)));
  AddReport total;
  std::vector<std::string> conflicts;
  for (size_t i = 0; i < sources.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(AddReport report, MergeJournal(sources[i].get(), into.get()));
    for (const CallIdentity& conflict : report.conflicts) {
      conflicts.push_back(fmt::format("{} ({})", arguments.files[i], conflict.Text()));
    }
    Append(std::move(report), &total);
  }
  return Told(total, conflicts, json);
}

void AddFilters(Command command, const std::shared_ptr<JournalArguments>& arguments) {
  command.AddOption("--run", &arguments->filter.run, "calls of this run only");
  command.AddOption("--task", &arguments->filter.task, "calls of this task only");
  command.AddOption("--tool", &arguments->filter.tool, "calls of this tool only");
  command.AddOption("--status", &arguments->status, "calls that ended so only, e.g. timeout");
  command.AddFlag("--injected", &arguments->filter.only_injected, "calls with a fault put in only");
}

// A command of `journal` with the journal as its first argument.
Command AddCommand(Command journal, const std::string& name, const std::string& about,
                   const std::string& first, const std::shared_ptr<JournalArguments>& arguments) {
  Command command = journal.AddCommand(name, about);
  command.AddOption("journal", &arguments->journal, first).Required();
  return command;
}

}  // namespace

void AddJournal(Command program, std::shared_ptr<CommandContext> context) {
  Command journal =
      program.AddCommand("journal", "Inspect, export and merge journals of what tools answered");
  journal.NeedsCommand();
  journal.Footer("Example:\n  hone journal stats runs/tour\n");
  const auto arguments = std::make_shared<JournalArguments>();
  constexpr char kExisting[] = "a run's folder or its journal.sqlite";
  constexpr char kWritten[] = "a run's folder or a journal; made when absent";

  Command stats =
      AddCommand(journal, "stats", "Count the calls of a journal by tool, status, fault and run",
                 kExisting, arguments);
  stats.Footer("Example:\n  hone journal stats runs/tour --json\n");
  stats.Action([=] { Finish(context.get(), Stats(*arguments, context->json)); });

  Command show =
      AddCommand(journal, "show", "Show one call, or a list of calls", kExisting, arguments);
  show.AddOption("id", &arguments->id, "number of the call; absent: a list").Positive();
  AddFilters(show, arguments);
  show.AddOption("--limit", &arguments->limit, "so many calls of the list")
      .Between(1, 1'000'000'000);
  show.AddFlag("--full", &arguments->full, "do not cut long texts");
  show.Footer(
      "Example:\n  hone journal show runs/tour --tool search --status timeout\n"
      "  hone journal show runs/tour 17\n");
  show.Action([=] { Finish(context.get(), ShowCalls(*arguments, context->json)); });

  Command exported =
      AddCommand(journal, "export", "Write the calls of a journal as JSON Lines to standard output",
                 kExisting, arguments);
  AddFilters(exported, arguments);
  exported.Footer("Example:\n  hone journal export runs/tour > calls.jsonl\n");
  exported.Action([=] {
    const Result<void> done = Export(*arguments);
    if (!done.ok()) Report(context.get(), done.error());
  });

  Command imported =
      AddCommand(journal, "import", "Add calls from JSON Lines to a journal", kWritten, arguments);
  imported.AddOption("files", &arguments->files, "what export wrote; - is standard input")
      .Required();
  imported.AddFlag("--redact", &arguments->redact,
                   "take out what the default rules call a secret first");
  imported.Footer(
      "What is there already is passed over, so that it may be done again.\n"
      "Example:\n  hone journal import runs/tour calls.jsonl\n");
  imported.Action([=] { Finish(context.get(), Import(*arguments, context->json)); });

  Command merged = AddCommand(journal, "merge", "Add all calls of other journals to a journal",
                              kWritten, arguments);
  merged.AddOption("from", &arguments->files, "run folders or journals to read").Required();
  merged.Footer(
      "Exit status 1 when a call is there with another outcome; it is left as it is.\n"
      "Example:\n  hone journal merge all.sqlite runs/monday runs/tuesday\n");
  merged.Action([=] { Finish(context.get(), Merge(*arguments, context->json)); });
}

}  // namespace hone
