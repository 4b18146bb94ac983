#pragma once

#include <string_view>

namespace hone {

// Whether a path that somebody else wrote stays below the folder that it is put to: it is relative,
// has no "..", no backslash and no control characters.
bool StaysInside(std::string_view path);

}  // namespace hone
