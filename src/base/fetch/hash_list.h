#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone {

// The lines "HASH  NAME" that sha256sum writes, as names with their hashes. A name that leads
// outside of the list's folder, or a line of another form, is an error that names the line.
Result<std::vector<std::pair<std::string, std::string>>> ParseHashList(std::string_view text);

}  // namespace hone
