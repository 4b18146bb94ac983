#pragma once

#include <string>
#include <string_view>

#include "app/commands.h"
#include "base/result.h"

namespace hone {

// Says on standard error what went wrong (as JSON with --json) and sets the exit status to 1.
void Report(CommandContext* context, const Error& error);

// Writes to standard output; a failure to write is reported.
void Print(CommandContext* context, std::string_view text);

// What most commands end with: prints the output, or reports why there is none.
void Finish(CommandContext* context, const Result<std::string>& output);

}  // namespace hone
