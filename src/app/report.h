#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "app/commands.h"
#include "base/json.h"
#include "base/result.h"

namespace hone {

// Says on standard error what went wrong (as JSON with --json) and sets the exit status to 1.
void Report(CommandContext* context, const Error& error);

// Writes to standard output; a failure to write is reported.
void Print(CommandContext* context, std::string_view text);

// What most commands end with: prints the output, or reports why there is none.
void Finish(CommandContext* context, const Result<std::string>& output);

// One event of a long work as a line of JSON, at once.
void WriteEvent(const Json& event, std::FILE* stream);

}  // namespace hone
