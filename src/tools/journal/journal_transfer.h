#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <vector>

#include "base/result.h"
#include "tools/journal/journal.h"
#include "tools/journal/redact.h"

// Calls from one journal to another, directly or as JSON Lines (docs/formats/journal.md). What is
// in the journal already is never changed, so that everything here may be done again.

namespace hone {

// Adds everything of one journal to another.
Result<AddReport> MergeJournal(Journal* from, Journal* into);

// Writes the calls that are meant: those without outcome by identity, then the others in the order
// of recording. The same journal gives the same bytes. Returns how many.
Result<int64_t> ExportJournal(Journal* journal, const JournalFilter& filter, std::ostream& out);

struct ImportReport {
  AddReport added;
  std::vector<int64_t> conflict_lines;  // of added.conflicts, in their order; the first line is 1
};

// Adds every line of a text; blank lines are passed over. A line that is no call is an error which
// names it; the lines before it have been added. Secrets are taken out first if there is a
// redactor.
Result<ImportReport> ImportJournal(std::istream& in, Journal* into,
                                   const Redactor* redactor = nullptr);

}  // namespace hone
