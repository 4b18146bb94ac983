#include "envs/split_files.h"

#include <map>

#include "base/file.h"
#include "envs/data_env.h"
#include "envs/planned_gold.h"
#include "envs/task_file.h"

namespace hone {

SplitFiles ReadSplitFiles(RecipeTable* table) {
  SplitFiles files;
  for (const Split split : kAllSplits) {
    std::string key(SplitName(split));
    for (char& c : key) c = c == '-' ? '_' : c;
    std::string file;
    table->ReadPath(key, &file, "task file of this split (JSON Lines)", PathUse::kInput);
    if (!file.empty()) files.emplace_back(split, file);
  }
  if (files.empty()) table->Problem("train", "names no task file; write train = \"tasks.jsonl\"");
  return files;
}

Result<std::shared_ptr<const TaskSource>> LoadSplitFiles(const SplitFiles& files,
                                                         const TaskKeys& keys,
                                                         const Toolbox& tools) {
  std::map<Split, std::vector<Task>> tasks;
  std::string problems;
  for (const auto& [split, name] : files) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
    TaskFile file = ReadTaskFile(text, &tools, keys);
    if (const Result<void> fine = NoProblems(file, name); !fine.ok()) {
      problems += (problems.empty() ? "" : "\n") + fine.error().message();
    }
    for (Task& task : file.tasks) TakeGoldFromPlan(&task);
    tasks[split] = std::move(file.tasks);
  }
  if (!problems.empty()) return Error(ErrorCode::kInvalidArgument, std::move(problems));
  return std::shared_ptr<const TaskSource>(NewListedTasks(std::move(tasks)));
}

}  // namespace hone
