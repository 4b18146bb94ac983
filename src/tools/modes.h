#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/conditions.h"
#include "tools/executor.h"
#include "tools/faults.h"
#include "tools/journal/redact.h"

namespace hone {

// Who answers calls.
enum class ToolMode {
  kLive,                // the real tools; nothing is recorded
  kRecord,              // the journal for what it has of this run, else the real tools; recorded
  kReplay,              // the journal alone; what it has not is a fault
  kReplayElseSimulate,  // the journal, else the simulator
  kSimulate,            // the simulator
};
std::string_view ToolModeName(ToolMode mode);
std::vector<std::string> ToolModeNames();
std::optional<ToolMode> ToolModeFromName(std::string_view name);
bool Simulates(ToolMode mode);  // the last two

struct RoutingOptions {
  ToolMode mode = ToolMode::kLive;
  // Of every mode but live; simulate can do without, and so can replay-else-simulate with a record.
  std::shared_ptr<Journal> journal;
  std::shared_ptr<Responder> simulator;  // of the two that simulate
  std::vector<FaultRule> faults;
  std::shared_ptr<const Redactor> redactor;  // takes secrets out first of all; null: nothing
  uint64_t seed = 0;
  std::shared_ptr<Journal> recorded;  // a second one to look equal calls up in; may be null
  std::vector<ServingConditions> conditions = {};  // on which the real tools serve
  std::shared_ptr<Bill> bill = {};                 // of conditions; null where there are none
};

// The responders of these options, in order, and the journal to record to. Outcomes that a journal
// has under the very identity of a call are taken as they are, faults included; everything else
// goes through the fault rules. The timeline must outlive it.
Result<ExecutorOptions> OptionsFor(const RoutingOptions& routing, const Toolbox& toolbox,
                                   Timeline* timeline);

}  // namespace hone
