#pragma once

#include <filesystem>

#include "evaluate/suites/suite.h"

namespace hone {

// Whether a file of JSON Lines has tasks (envs/task_file.h) and not cases: its first row has a key
// that no case has. An error: it cannot be read.
Result<bool> IsTaskFile(const std::filesystem::path& file);

// The tasks of a file as cases that need nobody to answer calls: those without tools by their
// answer, those that bring the schemas of their tools by the calls of the first turn. The error
// names every problem with its line, or a task that has to be played in its environment.
Result<Suite> LoadTasksAsSuite(const std::filesystem::path& file);

}  // namespace hone
