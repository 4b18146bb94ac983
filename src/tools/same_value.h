#pragma once

#include <utility>
#include <vector>

#include "base/json.h"

namespace hone {

// Whether JSON Schema takes two values for the same: numbers by their mathematical value (1 and
// 1.0), members of objects in any order.
bool SameValue(const Json& a, const Json& b);

// The items that are the same as one before them, each with the first such: {later, earlier}. In
// time that grows with the size of the array.
std::vector<std::pair<size_t, size_t>> RepeatedItems(const Json::Array& array);

}  // namespace hone
