#pragma once

#include <memory>
#include <vector>

#include "tools/command/command_pool.h"

namespace hone {

// Tools of a program that keeps the state of many sessions apart: `processes` of it serve all
// sessions, each session in the process that it began in. A process answers one call at a time. One
// that hangs or dies is replaced, and the sessions that lived in it are lost: they are built again
// from their histories.
std::shared_ptr<Toolkit> NewManySessionsToolkit(std::shared_ptr<CommandPool> pool,
                                                std::vector<ToolSpec> tools, int64_t processes);

}  // namespace hone
