#include "envs/study/study_registration.h"

#include <algorithm>

#include <fmt/format.h>

#include "envs/study/study.h"
#include "envs/study/study_tasks.h"
#include "envs/study/study_teacher.h"

namespace hone::study {
namespace {

ThoughtStyle ReadThoughts(RecipeTable* table) {
  constexpr std::pair<std::string_view, ThoughtStyle> kStyles[] = {{"mixed", ThoughtStyle::kMixed},
                                                                   {"good", ThoughtStyle::kGood},
                                                                   {"wordy", ThoughtStyle::kWordy},
                                                                   {"none", ThoughtStyle::kNone}};
  std::string name = "mixed";
  table->ReadChoice("thoughts", &name, {"mixed", "good", "wordy", "none"},
                    "how the teacher thinks aloud");
  for (const auto& [known, style] : kStyles) {
    if (known == name) return style;
  }
  return ThoughtStyle::kMixed;
}

StudyToolNames ReadTools(RecipeTable* table) {
  StudyToolNames tools;
  std::vector<std::string> names = {"search", "python"};
  table->Read("tools", &names, "which tools there are");
  table->Read("python_name", &tools.python_name, "what the tool python is called");
  table->Read("keep_tasks", &tools.keep_tasks, "also tasks that need a tool that is not there");
  for (const std::string& name : names) {
    if (name != "search" && name != "python") {
      table->Problem("tools", fmt::format("there is no \"{}\"; there are search and python", name));
    }
  }
  if (tools.python_name.empty() || tools.python_name == "search") {
    table->Problem("python_name", "wants a name that no other tool has");
  }
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  tools.search = has("search");
  tools.python = has("python");
  return tools;
}

EnvironmentOptions ReadStudy(RecipeTable table, bool /*has_user*/) {
  bool list_tools = false;
  table.Read("list_tools", &list_tools, "show the tools to the agent");
  const StudyToolNames tools = ReadTools(&table);
  const LibraryOptions library_options = ReadLibraryOptions(table.Table("library"));
  TaskOptions tasks;
  RecipeTable task_table = table.Table("tasks");
  ReadTaskOptions(&task_table, &tasks);
  const ThoughtStyle thoughts = ReadThoughts(&task_table);
  int64_t shown = 0;
  task_table.Read("teacher_calls", &shown,
                  "that the teacher makes at most, before it answers with what it has read; 0: all",
                  AtLeast(0));
  const Rules rules = ReadRules(table.Table("rules"), StudyRules());
  EnvironmentOptions environment{.rules = rules};
  environment.make = [=](const std::shared_ptr<const Toolbox>&) -> Result<LoadedEnvironment> {
    const auto library = std::make_shared<const Library>(library_options);
    HONE_ASSIGN_OR_RETURN(auto made, NewStudy(library, tools, list_tools));
    const TeacherMaker teacher = NewStudyTeacher(library, tools, thoughts, shown);
    const TeacherMaker gold = NewStudyTeacher(library, tools, ThoughtStyle::kGood);
    return LoadedEnvironment{
        .environment = WithRules(std::move(made), rules),
        .tasks = NewStudyTasks(library, tasks, tools),
        .gold_agent = [=](const Task& task) { return gold(task, /*error=*/0, Rng(0)); },
        .rules = rules,
        .teacher = teacher,
        .recording = {.teacher = teacher}};
  };
  return environment;
}

}  // namespace

RegisteredEnvironment RegisterStudy() {
  return {"study", {.in_process = true, .has_teacher = true}, ReadStudy};
}

}  // namespace hone::study
