#pragma once

#include <memory>

#include "envs/switchboard/board.h"
#include "tools/toolkit.h"

namespace hone::switchboard {

// The one tool: op {n, f, c}.
inline constexpr char kOperationTool[] = "op";

// What `op` answers: the next code. In a loud world a wrong form is an error.
Result<Json> AnswerOf(const Board& board, bool loud, bool drifted, const Json& arguments);

// What a wrong form gets.
enum class Refusals {
  kNone,      // another code: a silent world
  kPlain,     // an error
  kWithCode,  // an error that names the code that was not taken, and still holds
};

// The tool with its real backend. A session has the conventions of its seed
// (Board::SessionSeed), when this is the toolbox's first toolkit.
std::unique_ptr<Toolkit> NewSwitchboardToolkit(std::shared_ptr<const Board> board,
                                               Refusals refusals);

}  // namespace hone::switchboard
