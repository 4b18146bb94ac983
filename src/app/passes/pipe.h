#pragma once

#include <iosfwd>

#include "app/passes/passes.h"

namespace hone {

// Runs a pass over JSON Lines: one line out per line in, in order, each written before the next is
// read. A line that cannot be processed gives {"error": {"code", "message"}}. Returns how many did;
// an Error means that the pass could not be opened or the output not be written.
Result<int64_t> RunPipe(const Pass& pass, const PassOptions& options, std::istream& in,
                        std::ostream& out);

// {"error": {"code", "message"}}
Json ErrorJson(const Error& error);

}  // namespace hone
