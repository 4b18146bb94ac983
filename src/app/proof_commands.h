#pragma once

#include <memory>

#include "app/commands.h"

namespace hone {

// What lets others check a claim: `hone replay` derives a run again, `hone prove` answers the
// founding question.
void AddReplay(Command program, std::shared_ptr<CommandContext> context);
void AddProve(Command program, std::shared_ptr<CommandContext> context);

}  // namespace hone
