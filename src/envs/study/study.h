#pragma once

#include <memory>

#include "envs/environment.h"
#include "envs/rules.h"
#include "envs/study/library.h"
#include "envs/study/study_tasks.h"

namespace hone::study {

// The study (docs/environments/study.md): one question, searches in a library, code, an answer.
//
// Success: the answer is the right one but for case, blanks and punctuation around it; numbers by
// value. The final state says of each call whether it brought what the answer stands on and was not
// there before (call_scores, 0 or 1), where the task says what that is (metadata.needs).
//
// Tasks are those of NewStudyTasks, or any with an "answer". The error says what is missing on this
// machine to run code.
Result<std::shared_ptr<const Environment>> NewStudy(std::shared_ptr<const Library> library,
                                                    const StudyToolNames& tools, bool list_tools);

// At most 6 calls and 8 turns.
Rules StudyRules();

}  // namespace hone::study
