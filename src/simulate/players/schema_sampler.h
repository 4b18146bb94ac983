#pragma once

#include <optional>

#include "base/json.h"
#include "base/rng.h"

namespace hone {

// A value drawn from a JSON Schema: any of its enumerated values, numbers uniform between their
// bounds (0 to 100 where none are given), strings by pattern, format or length, arrays of a few
// items, required members and half of the others. It reads what schemas of tools' answers are made
// of; whether the value fits all of the schema is for the caller to check. Nothing when the schema
// allows no value, or is nested too deeply.
std::optional<Json> SampleFromSchema(const Json& schema, Rng* rng);

}  // namespace hone
