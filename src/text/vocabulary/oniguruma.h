#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// The patterns of tokenizer.json are written for Oniguruma. PCRE2 reads some of them otherwise:
// "&&" and classes inside classes, "{1,3}+" (an interval, repeated), "$" (the end of any line),
// "\h" (a hexadecimal digit), "\w", "\p{Han}" (the script without its extensions).

// The same pattern for PCRE2, to be compiled with UTF, UCP and MULTILINE. What has no counterpart,
// or none that is known to mean the same, is kUnsupported; the message names what it is.
Result<std::string> OnigurumaToPcre2(std::string_view pattern);

}  // namespace hone
