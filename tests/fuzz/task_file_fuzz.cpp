// Any bytes as a task file: tasks that can be written and read again, or problems with their lines.

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "envs/desk/desk.h"
#include "envs/environment.h"
#include "envs/plan.h"
#include "envs/task_file.h"
#include "record/record_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto desk = hone::desk::NewDesk({}).value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const int64_t lines = 1 + std::count(text.begin(), text.end(), '\n');
  for (const hone::Toolbox* tools : {desk->tools().get(), (const hone::Toolbox*)nullptr}) {
    const hone::TaskFile file = hone::ReadTaskFile(text, tools);
    CHECK(file.tasks.size() == file.lines.size());
    CHECK(!file.tasks.empty() || !file.problems.empty());
    for (const hone::TaskProblem& problem : file.problems) {
      CHECK(problem.line >= 1 && problem.line <= lines && !problem.text.empty());
    }
    std::string again;
    for (const hone::Task& task : file.tasks) {
      CHECK(hone::PlanOf(task).ok(), "a plan that was not looked at");
      again += hone::DumpJson(hone::TaskToJson(task)) + "\n";
    }
    if (!file.problems.empty()) continue;
    const hone::TaskFile read = hone::ReadTaskFile(again, tools);
    CHECK(read.problems.empty(), read.problems.empty() ? "" : read.problems[0].text);
    CHECK(read.tasks == file.tasks);
  }
  return 0;
}
