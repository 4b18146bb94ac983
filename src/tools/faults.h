#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/recipe.h"
#include "tools/responder.h"
#include "tools/timeline.h"

namespace hone {

// What can be made to go wrong between the agent and a tool.
enum class InjectedFault {
  kTimeout,         // no reply ever comes
  kRateLimit,       // refused with 429 and a Retry-After
  kServerError,     // a 5xx
  kReset,           // the connection breaks
  kTruncatedJson,   // the answer is cut off
  kWrongType,       // a value of the answer has another type
  kSchemaDrift,     // a field of the answer has another name
  kStale,           // the answer that an equal call of an earlier turn got
  kSlow,            // the answer comes after a while
  kLateReply,       // the answer comes when the call is over
  kDuplicateReply,  // the answer comes twice
  kInstruction,     // the answer holds instructions to the agent
};
std::string_view InjectedFaultName(InjectedFault fault);
std::vector<std::string> InjectedFaultNames();

// When a fault is put in, and how. All conditions must hold.
struct FaultRule {
  InjectedFault kind = InjectedFault::kTimeout;
  std::string tool = "*";  // a name, or with '*' for any characters
  double probability = 1;  // drawn for each attempt, from its identity
  bool outage = false;     // drawn for each task instead: all its calls fail together, or none
  std::vector<int64_t>
      calls;              // which calls of the tool in a trajectory, counted from 1; empty: all
  int64_t every = 1;      // every n-th of them
  std::string arguments;  // a regular expression that their JSON must contain; empty: any
  int64_t attempts = 0;   // only the first n attempts of a call; 0: all
  bool after = false;     // timeout, server_error, reset: the tool did carry the call out
  int64_t status = 503;   // of server_error
  int64_t retry_after_ms = 1000;  // of rate_limit
  int64_t delay_ms = 2000;        // of slow, late_reply and duplicate_reply
  std::string text;               // of instruction; empty: a stock one
};

// A wrong plan is a problem of the recipe's, reported by Recipe::Finish. `[[faults]]` of the table.
std::vector<FaultRule> ReadFaultRules(RecipeTable table);
// "kind" or "kind,key=value,...": what a command-line flag says.
Result<FaultRule> ParseFaultRule(std::string_view flag);

// Puts faults between the asker and `inner`. The first rule that holds decides. What is drawn
// depends on the seed and the call's identity alone, never on the order of calls. Each fault is
// noted on the attempt. The timeline must outlive it.
Result<std::unique_ptr<Responder>> NewFaultyResponder(std::shared_ptr<Responder> inner,
                                                      std::vector<FaultRule> rules, uint64_t seed,
                                                      Timeline* timeline);

}  // namespace hone
