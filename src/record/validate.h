#pragma once

#include <string>
#include <vector>

#include "record/score.h"

namespace hone {

// Everything that is wrong with the record, in words that say where ("nodes[3].calls[0]: ..."), or
// nothing. Every pass's output goes through this, so that a broken record is found where it was
// made and not ten steps later. At most 100 problems are listed.
std::vector<std::string> Validate(const ScoredTree& record);

}  // namespace hone
