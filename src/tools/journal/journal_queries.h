#pragma once

#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "tools/journal/journal.h"

// What Journal::List, ListBegun and Statistics ask of an open file.

namespace hone {

Result<std::vector<NumberedEntry>> ListCalls(const SqliteFile& file, const JournalFilter& filter,
                                             int64_t after_id, int64_t limit);
Result<std::vector<BegunCall>> ListBegunCalls(const SqliteFile& file, const JournalFilter& filter);
// All of it as of one moment.
Result<JournalStatistics> ReadStatistics(const SqliteFile& file);

}  // namespace hone
