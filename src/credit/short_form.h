#pragma once

#include "base/json.h"
#include "base/result.h"
#include "credit/group.h"

namespace hone {

// A group written by hand, to try a method on:
//
//   {"group": [{"terms": {"outcome": 1.0},
//               "turns": [{"tokens": 5, "author": "policy",
//                          "calls": [{"begin": 1, "end": 4, "terms": {"call": 1}}]}]}]}
//
// One member per trajectory, in the order of the answer. A term is a number, or null: not scored. A
// member with no term at all is not scored either. Besides:
//
//   member  "ending" ("answered"), "blame" ("none")
//   turn    "tokens" may be a list of ids; "author" ("policy"); "terms" of the turn as a whole;
//           "faults": [{"begin", "end", "terms"}]; per token "values" (a critic's), "logprobs",
//           "entropies"; "greedy": true for temperature 0
//
// A tool's turn answers all calls of the turn before it without an error.
struct ShortGroup {
  ScoredTree record;    // valid
  CriticValues values;  // per node
  bool has_values = false;
};

bool IsShortForm(const Json& json);

// Errors name the place. At most ten million tokens.
Result<ShortGroup> ReadShortForm(const Json& json);

// {"advantages": [[...] per member]}
Json AdvantagesToShortForm(const std::vector<Advantages>& advantages);

}  // namespace hone
