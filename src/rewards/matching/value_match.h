#pragma once

#include "base/json.h"
#include "tools/same_value.h"

namespace hone {

// The share of equal parts in [0, 1]: scalars are equal or not; objects by key over all keys of
// both; arrays by position over the longer one. Two empty containers are equal.
double ValueShare(const Json& a, const Json& b);

// How near an argument is to the gold one, in [0, 1]: texts by edits after normalising, numbers by
// max(0, 1 - |a - b| / max(|b|, 1)), booleans and null equal or not, containers as in ValueShare.
// A number and a text that spells it are compared as numbers, worth half: the type is wrong.
double ValueSimilarity(const Json& value, const Json& gold);

}  // namespace hone
