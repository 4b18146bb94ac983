#pragma once

#include <string>

#include "app/command_line.h"

namespace hone {

// Scripts that teach a shell the commands, options and choices of the program. They are made of
// what the command line itself says, hold all of it, and start nothing while somebody types.
std::string BashCompletion(const CommandDescription& program);
std::string ZshCompletion(const CommandDescription& program);

}  // namespace hone
