#pragma once

#include <memory>

#include "base/rng.h"
#include "envs/play.h"

namespace hone::desk {

// The demonstrator: knows the task's plan and is sloppy on purpose, so that what imitates it has
// the skills and bad habits beside them (docs/environments/desk.md).
//
// With probability `teacher_error` a call of the plan goes wrong: one in five is made twice; else a
// confusable tool (3 in 10) or a wrong argument, preferably something that stands in the request.
// Then it recovers (3 in 10) and makes the right call, or gives up and answers with the first value
// it saw. Before each call it answers too early with a tenth of that probability. Where no call is
// needed it makes one with that probability, and believes it (7 in 10). The error says what is
// wrong with the task.
Result<std::unique_ptr<Agent>> NewTeacher(const Task& task, double teacher_error, Rng rng);

}  // namespace hone::desk
