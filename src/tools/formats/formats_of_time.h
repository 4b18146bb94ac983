#pragma once

#include <string_view>

namespace hone {

// The formats of RFC 3339, as formats.h tells them: "2024-02-29T23:20:50.52+01:00", its two halves,
// and "P1Y2M3DT4H5M6S". A second of 60 is a leap second: the last of a day at UTC.
bool IsDateTime(std::string_view text);
bool IsDate(std::string_view text);
bool IsTime(std::string_view text);
bool IsDuration(std::string_view text);

}  // namespace hone
