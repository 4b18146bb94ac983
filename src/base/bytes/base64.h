#pragma once

#include <string>
#include <string_view>

namespace hone {

// RFC 4648's base 64, with padding.
std::string ToBase64(std::string_view bytes);

}  // namespace hone
