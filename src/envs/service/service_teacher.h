#pragma once

#include <memory>

#include "base/rng.h"
#include "envs/play.h"

namespace hone::service {

// The demonstrator: knows how customers are served, but of this one only what was said and what the
// tools answered. Asks for the order, looks, asks for what the change needs and then "shall I?",
// follows second thoughts, tells. The gold clerk (service.h) has read the plan, and who imitates it
// learns to guess what nobody told.
//
// Sloppy on purpose, so that what imitates it has bad habits beside the skills. With probability
// `teacher_error` each thing it does goes wrong: it guesses instead of asking, looks at another
// order of the customer's, neither looks at the product nor asks before it changes something,
// changes the wrong thing, or tells what it saw before the change. With a tenth of that probability
// it gives up instead. After a call that failed it gives up, 7 times in 10, or sets to work again,
// carefully. The error says what is wrong with the task.
Result<std::unique_ptr<Agent>> NewTeacher(const Task& task, double teacher_error, Rng rng);

}  // namespace hone::service
