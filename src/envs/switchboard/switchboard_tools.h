#pragma once

#include <memory>

#include "envs/switchboard/board.h"
#include "tools/toolkit.h"

namespace hone::switchboard {

// The one tool: op {n, f, c}.
inline constexpr char kOperationTool[] = "op";

// What `op` answers: the next code. In a loud world a wrong form is an error.
Result<Json> AnswerOf(const Board& board, bool loud, bool drifted, const Json& arguments);

// The tool with its real backend. A session has the conventions of its seed
// (Board::SessionSeed), when this is the toolbox's first toolkit.
std::unique_ptr<Toolkit> NewSwitchboardToolkit(std::shared_ptr<const Board> board, bool loud);

}  // namespace hone::switchboard
