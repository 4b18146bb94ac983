#pragma once

#include <memory>

#include "envs/registration.h"
#include "envs/switchboard/board.h"

namespace hone::switchboard {

// How often the teacher takes the right form: where a habit is at work, and elsewhere. The habit
// itself has four fifths of what is left.
inline constexpr double kRightWithHabit = 0.2, kRightWithout = 0.95, kHabitual = 0.64;

// The form that the teacher takes for an operation: by its habits, and by the conventions that held
// before the drift, of which nobody told it.
size_t TaughtForm(const Board& board, size_t operation, Rng* rng);

// The demonstrator: makes the calls of the request one after the other, each with TaughtForm and
// the code that it was given last, and tells the last code. A call that is refused is made again
// with a form drawn anew, or given up after so many tries (`skip_after`; 0: never). How often it
// errs is the board's: `error` is not looked at. The error says what is wrong with the task.
TeacherMaker NewSwitchboardTeacher(std::shared_ptr<const Board> board, int64_t skip_after = 0);

}  // namespace hone::switchboard
