#include "tools/journal/journal_transfer.h"

#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "tools/journal/journal_json.h"

namespace hone {
namespace {

constexpr int64_t kPage = 1000;  // calls that are held and committed together

// Hands over all outcomes that are meant, page by page.
Result<void> ForEachPage(Journal* journal, const JournalFilter& filter,
                         const std::function<Result<void>(std::vector<NumberedEntry>&)>& handle) {
  int64_t last = 0;
  while (true) {
    HONE_ASSIGN_OR_RETURN(std::vector<NumberedEntry> page, journal->List(filter, last, kPage));
    if (page.empty()) return {};
    last = page.back().id;
    HONE_RETURN_IF_ERROR(handle(page));
  }
}

void Append(AddReport more, AddReport* total) {
  total->added += more.added;
  total->equal += more.equal;
  for (CallIdentity& conflict : more.conflicts) total->conflicts.push_back(std::move(conflict));
}

void Redact(const Redactor& redactor, JournalLine* line) {
  if (auto* begun = std::get_if<BegunCall>(line)) {
    begun->content.arguments = redactor.Arguments(std::move(begun->content.arguments));
    return;
  }
  auto& entry = std::get<JournalEntry>(*line);
  entry.content.arguments = redactor.Arguments(std::move(entry.content.arguments));
  entry.result.content = redactor.Content(std::move(entry.result.content));
  for (Attempt& attempt : entry.attempts) {
    attempt.content = redactor.Content(std::move(attempt.content));
  }
}

// Lines that wait to be added together.
class PendingImport {
 public:
  PendingImport(Journal* into, ImportReport* report) : into_(into), report_(report) {}

  Result<void> Add(JournalLine line, int64_t number) {
    if (auto* begun = std::get_if<BegunCall>(&line)) {
      lines_[begun->identity] = number;
      begun_.push_back(std::move(*begun));
    } else {
      auto& entry = std::get<JournalEntry>(line);
      lines_[entry.identity] = number;
      entries_.push_back(std::move(entry));
    }
    return std::ssize(entries_) + std::ssize(begun_) < kPage ? Result<void>() : Flush();
  }

  Result<void> Flush() {
    HONE_ASSIGN_OR_RETURN(AddReport added, into_->Add(entries_, begun_));
    for (const CallIdentity& conflict : added.conflicts) {
      report_->conflict_lines.push_back(lines_[conflict]);
    }
    Append(std::move(added), &report_->added);
    entries_.clear();
    begun_.clear();
    lines_.clear();
    return {};
  }

 private:
  Journal* into_;
  ImportReport* report_;
  std::vector<JournalEntry> entries_;
  std::vector<BegunCall> begun_;
  std::map<CallIdentity, int64_t> lines_;  // where each stands
};

}  // namespace

Result<AddReport> MergeJournal(Journal* from, Journal* into) {
  AddReport total;
  // First what was begun: what gets its outcome while this runs is then among the outcomes.
  HONE_ASSIGN_OR_RETURN(const std::vector<BegunCall> begun, from->ListBegun({}));
  HONE_ASSIGN_OR_RETURN(total, into->Add({}, begun));
  HONE_RETURN_IF_ERROR(ForEachPage(from, {}, [&](std::vector<NumberedEntry>& page) -> Result<void> {
    std::vector<JournalEntry> entries;
    for (NumberedEntry& numbered : page) entries.push_back(std::move(numbered.entry));
    HONE_ASSIGN_OR_RETURN(AddReport added, into->Add(entries, {}));
    Append(std::move(added), &total);
    return {};
  }));
  return total;
}

Result<int64_t> ExportJournal(Journal* journal, const JournalFilter& filter, std::ostream& out) {
  int64_t lines = 0;
  HONE_ASSIGN_OR_RETURN(const std::vector<BegunCall> begun, journal->ListBegun(filter));
  for (const BegunCall& call : begun) out << DumpJson(JournalLineToJson(call)) << '\n';
  lines += static_cast<int64_t>(begun.size());
  HONE_RETURN_IF_ERROR(
      ForEachPage(journal, filter, [&](std::vector<NumberedEntry>& page) -> Result<void> {
        for (const NumberedEntry& numbered : page) {
          out << DumpJson(JournalLineToJson(numbered.entry)) << '\n';
        }
        lines += static_cast<int64_t>(page.size());
        if (out.good()) return {};
        return Error(ErrorCode::kIo, "the calls cannot be written (is the disk full?)");
      }));
  if (!out.flush()) return Error(ErrorCode::kIo, "the calls cannot be written (is the disk full?)");
  return lines;
}

Result<ImportReport> ImportJournal(std::istream& in, Journal* into, const Redactor* redactor) {
  ImportReport report;
  PendingImport pending(into, &report);
  std::string text;
  for (int64_t number = 1; std::getline(in, text); ++number) {
    if (Trim(text).empty()) continue;
    const auto read = [&]() -> Result<JournalLine> {
      HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
      HONE_ASSIGN_OR_RETURN(JournalLine line, JournalLineFromJson(json));
      if (redactor != nullptr) Redact(*redactor, &line);
      return line;
    };
    Result<JournalLine> line = read();
    if (!line.ok()) {
      HONE_RETURN_IF_ERROR(pending.Flush());
      return line.error().In(fmt::format("line {}", number));
    }
    HONE_RETURN_IF_ERROR(pending.Add(*std::move(line), number));
  }
  HONE_RETURN_IF_ERROR(pending.Flush());
  return report;
}

}  // namespace hone
