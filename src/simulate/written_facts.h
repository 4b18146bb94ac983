#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tools/sessions.h"

namespace hone {

// Read-after-write, by names. A write is about the things that its arguments identify; a later call
// is concerned when it has one of these arguments with the same value. What the write gave under a
// name, in its arguments or in its answer, is what a later answer must show under that name in the
// object about the same things, until another write gives it anew. Only writes that succeeded
// count.

// Whether a value looks like the name of one particular thing: "id" and "..._id", and texts with a
// digit or "@" in them, such as order numbers and addresses of mail.
bool IsIdentifying(std::string_view name, const Json& value);

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
