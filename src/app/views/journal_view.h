#pragma once

#include <string>
#include <vector>

#include "app/terminal.h"
#include "base/json.h"
#include "tools/journal/journal.h"

// What `hone journal` prints, as text for people and as JSON for programs.

namespace hone {

std::string StatisticsView(const JournalStatistics& statistics, const Terminal& terminal);
Json StatisticsJson(const JournalStatistics& statistics);

// Calls as a table, those without outcome at its end.
std::string CallsView(const std::vector<NumberedEntry>& calls, const std::vector<BegunCall>& begun,
                      const Terminal& terminal);

// One call with all that is known of it. `lines` of its answer are shown; 0: all.
std::string CallView(const NumberedEntry& call, const Terminal& terminal, int lines);

}  // namespace hone
