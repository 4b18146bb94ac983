#pragma once

#include <string>

#include "app/command_line.h"

namespace hone {

// Manual pages, made of what the command line itself says: section 1, in roff's language for `man`.

// The page of the whole program: every command with its one line.
std::string ProgramManPage(const CommandDescription& program, const std::string& version);

// The page of one command of the program, with the commands below it.
std::string CommandManPage(const CommandDescription& program, const CommandDescription& command,
                           const std::string& version);

// "hone-train.1"
std::string ManPageFile(const CommandDescription& command);

}  // namespace hone
