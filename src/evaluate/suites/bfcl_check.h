#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

// Whether outputs are right by the rules of the Berkeley Function-Calling Leaderboard (BFCL) for
// single turns. For comparing with published numbers; our own scoring of calls is elsewhere.

namespace hone {

struct BfclVerdict {
  bool valid = false;
  std::string error_type;  // "value_error:string" and the like; empty when valid

  bool operator==(const BfclVerdict&) const = default;
};

// What a model put out, as calls: [{"name": {arguments}}]. A text is read as Python
// (evaluate/suites/python_calls.h); a list is what function-calling models give, [{"name": "JSON
// text"}]. Null: it could not be read.
Json DecodeBfclOutput(const Json& output);

// Whether calls are the accepted ones: greedy, forgiving about punctuation in texts, strict about
// types. `category`: simple_python, live_multiple, parallel, simple_java, ... `functions`: the
// documented functions in that benchmark's own schema. `accepted`: one object per expected call,
// each parameter with a list of accepted values ("" among them: may be left out). `calls`: as
// DecodeBfclOutput gives them. `dots_as_underscores`: documented names were shown with their dots
// replaced. An error is about the functions or the accepted calls.
Result<BfclVerdict> CheckBfclCalls(const std::string& category, const Json& functions,
                                   const Json& accepted, const Json& calls,
                                   bool dots_as_underscores);

// Whether there is at least one call (`wanted`), or none: the relevance and irrelevance categories.
BfclVerdict CheckBfclRelevance(bool wanted, const Json& calls);

// Whether one of the accepted answers stands in the final message as whole words: the agentic
// categories.
BfclVerdict CheckBfclAnswer(std::string_view message, std::span<const std::string> accepted);

}  // namespace hone
