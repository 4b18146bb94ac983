#pragma once

#include <map>
#include <memory>
#include <string>

#include "envs/environment.h"
#include "evaluate/suites/suite.h"

namespace hone {

// The tools of this program that a suite plays with ("calculator", "python", which runs confined),
// under the names that `names` gives them (real to shown; absent: their own). The error says why
// one cannot be had here.
Result<std::shared_ptr<const Toolbox>> SuiteTools(const Suite& suite,
                                                  const std::map<std::string, std::string>& names);

// A suite as a place to act in: a task's id is a case's. What a model says last is judged; the end
// has "verdict", "error_type", "text" and "calls" (SuiteOutput). A case that plays ends with the
// first turn that says something and calls nothing, or after `max_turns`; every other with its
// first turn. `names` are those of the tools.
std::shared_ptr<const Environment> NewSuiteEnvironment(
    std::shared_ptr<const Suite> suite, std::shared_ptr<const Toolbox> tools,
    const std::map<std::string, std::string>& names, int64_t max_turns);

// What the end of an episode of it says.
struct SuiteEnd {
  SuiteOutput output;
  SuiteVerdict verdict;
};
SuiteEnd SuiteEndOf(const Json& final_state);

// The task of a case.
Task SuiteTask(const SuiteCase& one);

}  // namespace hone
