#pragma once

#include <memory>

#include "app/commands.h"

namespace hone {

// Adds `record` and `audit` to `hone simulate`: what needs an environment rather than a journal.
void AddWorldCommands(Command simulate, const std::shared_ptr<CommandContext>& context);

}  // namespace hone
