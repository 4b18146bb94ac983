#pragma once

#include <string>
#include <string_view>

namespace hone {

bool IsAscii(std::string_view text);

// Unicode normalisation form C. The text must be UTF-8.
std::string ToNfc(std::string_view text);

}  // namespace hone
