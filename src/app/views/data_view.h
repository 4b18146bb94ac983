#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/terminal.h"
#include "base/json.h"
#include "data/conversation_file.h"

namespace hone {

// A few numbers in order of size.
struct Spread {
  int64_t sum = 0, median = 0, high = 0, most = 0;  // high: nine of ten are no larger
  static Spread Of(std::vector<int64_t> values);
};

// What a file of conversations amounts to.
struct DataStatistics {
  int64_t rows = 0, repeated = 0;  // repeated: rows that say what an earlier one says
  std::map<RowShape, int64_t> shapes;
  int64_t problems = 0;
  Spread turns;                                                     // of the assistant, per row
  Spread characters;                                                // per row
  int64_t imitated = 0, calling = 0, parallel = 0, thoughtful = 0;  // turns of the assistant
  std::map<std::string, int64_t> calls;                             // by tool
  std::optional<Spread> tokens;                                     // per row, in a model's tokens
};
DataStatistics StatisticsOf(const ConversationFile& file);

Json DataJson(const DataStatistics& statistics);
std::string DataView(const DataStatistics& statistics, const Terminal& terminal);

}  // namespace hone
