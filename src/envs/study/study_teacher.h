#pragma once

#include <memory>

#include "envs/registration.h"
#include "envs/study/library.h"
#include "envs/study/study_tools.h"
#include "envs/study/thoughts.h"

namespace hone::study {

// The demonstrator: knows the task's plan and is sloppy on purpose, so that what imitates it has
// the skills and bad habits beside them (docs/environments/study.md).
//
// With probability `teacher_error` a call of the plan goes wrong: it is made twice, or after a
// search for all words of the question, or it answers already with what it has read last, or it
// searches for somebody else or computes with another operation. From the last of these it recovers
// half of the time, else it answers with what came back. Where no call is needed it makes one with
// that probability, and believes it half of the time. Of answers a part goes wrong: the value from
// another line, a guess instead of "unknown", the first value instead of "disputed". A wrong answer
// is always of the right sort, if need be out of thin air: "unknown" is said only where it is
// right. With mixed thoughts some name a wrong thing, which is then done half of the time. The
// error says what is wrong with the task.
//
// `calls` of a plan are the most it makes; then it guesses, so that nobody sees how a longer task
// is done. 0: all of them.
TeacherMaker NewStudyTeacher(std::shared_ptr<const Library> library, const StudyToolNames& tools,
                             ThoughtStyle thoughts, int64_t calls = 0);

}  // namespace hone::study
