#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Hands over every line of a file of JSON Lines that is not blank, with its number from 1: the
// value, or an error that says "not JSON: column 7: ...". For those who list all problems of a
// file; ParseJsonLines ends at the first. A byte order mark is passed over. Of a file that is
// Parquet there is one error, which says how to write it as lines.
void ForEachJsonLine(std::string_view text,
                     const std::function<void(int64_t line, const Result<Json>& json)>& take);

}  // namespace hone
