#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "tools/sessions.h"

namespace hone {

// Read-after-write, by names. A write and a later call are about the same thing when an argument of
// the same name has the same value in both. What such a write gave under a name (its arguments; its
// answer too, where the answer names the thing again) is what a later answer must show under that
// name, until another write gives it anew. Inside an answer, an object that carries an identifier
// of the write ("id", "..._id") is about the same thing as well. Only writes that succeeded count.

// The writes that the call may show, in their order: those about the same thing, and all of them
// for a call without arguments.
std::vector<Sessions::EarlierWrite> RelevantWrites(const Json& arguments,
                                                   std::span<const Sessions::EarlierWrite> writes);

// A place where an answer says something else than was written.
struct Contradiction {
  std::string path;  // "status", "orders[2].address"
  Json said;
  Json written;

  std::string Text() const;
};
std::vector<Contradiction> Contradictions(const Json& arguments, const Json& answer,
                                          std::span<const Sessions::EarlierWrite> writes);

// The answer with what was written in the place of what contradicts it.
Json WithoutContradictions(const Json& arguments, Json answer,
                           std::span<const Sessions::EarlierWrite> writes);

}  // namespace hone
