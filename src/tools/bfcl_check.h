#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Whether calls are the accepted ones, by the rule of the Berkeley Function-Calling Leaderboard
// for single turns: greedy, forgiving about punctuation in texts, strict about types. For comparing
// with published numbers; our own scoring of calls is elsewhere.
struct BfclVerdict {
  bool valid = false;
  std::string error_type;  // "value_error:string" and the like; empty when valid
};

// `category`: simple_python, live_multiple, parallel, simple_java, ... `functions`: the documented
// functions in that benchmark's own schema. `accepted`: one object per expected call, each
// parameter with a list of accepted values ("" among them: may be left out). `calls`: what the
// model called, [{"name": {arguments}}]. `dots_as_underscores`: documented names were shown with
// their dots replaced.
Result<BfclVerdict> CheckBfclCalls(const std::string& category, const Json& functions,
                                   const Json& accepted, const Json& calls,
                                   bool dots_as_underscores);

}  // namespace hone
