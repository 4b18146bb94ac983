#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/players/player.h"
#include "tools/journal/journal.h"
#include "tools/toolbox.h"

namespace hone {

// A question that a real tool answered, as a simulator would see it.
struct RecordedCall {
  uint64_t environment_seed = 0;
  std::string tool;
  Json arguments;
  std::vector<Sessions::EarlierWrite> writes;  // those that concern it
  std::vector<KnownResult> known;              // as far as they can be told from the record
  PlayedResult answer;

  bool operator==(const RecordedCall&) const = default;
};

// What the real tools of a journal said, every question once. The order and the hash depend on what
// was recorded and not on when.
struct JournaledCalls {
  std::vector<RecordedCall> calls;
  std::string hash;      // of all of them
  int64_t left_out = 0;  // calls whose state could not be told from the record
};

// Reads all of a journal that concerns these tools: answers (ok and tool_error) of real tools
// without faults put in.
Result<JournaledCalls> ReadRecordedCalls(Journal* journal,
                                         const std::shared_ptr<const Toolbox>& toolbox);

// The `count` calls of a tool whose arguments are most like these; ties by the order of the record.
std::vector<const RecordedCall*> NearestCalls(const JournaledCalls& recorded,
                                              const std::string& tool, const Json& arguments,
                                              size_t count);

// Every question to one of two parts, by the environment it was asked in: `held_out` of them,
// about, to the second. Whoever is trained on the first has not seen the worlds of the second.
std::pair<JournaledCalls, JournaledCalls> SplitByEnvironment(const JournaledCalls& all,
                                                             double held_out);

// At most `count` calls of every tool. Since the order of the record has nothing to do with what
// was asked, those are a sample.
JournaledCalls AtMostPerTool(const JournaledCalls& all, size_t count);

// How many environments two records have in common.
size_t SharedEnvironments(const JournaledCalls& a, const JournaledCalls& b);

}  // namespace hone
