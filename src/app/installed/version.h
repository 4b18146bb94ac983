#pragma once

#include <string>

#include "base/json.h"

namespace hone {

// Which Hone this is: its version, and the commit that it was built from where that is known (a
// checkout, or an archive that git wrote).

// "0.1.0", as CMakeLists.txt has it.
std::string VersionNumber();
// "hone 0.1.0 (commit 0123456789ab, with changes)"
std::string VersionLine();
// {"version", "commit", "changed"}; commit is null where it is not known.
Json VersionJson();

}  // namespace hone
