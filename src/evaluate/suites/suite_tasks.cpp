#include "evaluate/suites/suite_tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "envs/planned_gold.h"
#include "envs/task_file.h"
#include "evaluate/suites/suite_jsonl.h"
#include "evaluate/suites/suite_rows.h"
#include "rewards/labels.h"

namespace hone {
namespace {

// What one turn without answers can show of a task; nothing where it has to be played.
std::optional<SuiteCase> CaseOfTask(const Task& task, const Labels& labels) {
  SuiteCase one{.id = task.id, .messages = task.messages, .tools = task.tools};
  const bool shown = task.tools.is_array() && !task.tools.AsArray().empty();
  const Json* calls = task.reward.Find("calls");
  const bool open = labels.calls && std::any_of(labels.calls->calls.begin(),
                                                labels.calls->calls.end(), [](const GoldCall& c) {
                                                  return !c.any.empty() || !c.after.empty();
                                                });
  if (shown && calls != nullptr && !open) {
    one.scorer = SuiteScorer::kCalls;
    one.gold = *calls;
    return one;
  }
  const bool calls_wanted = labels.calls && !labels.calls->calls.empty();
  if (shown || calls_wanted || task.answer.is_null()) return std::nullopt;
  one.scorer = SuiteScorer::kAnswer;
  one.gold = task.answer;
  one.rule = AnswerKindName(labels.answer_kind.value_or(AnswerKind::kText));
  return one;
}

}  // namespace

Result<bool> IsTaskFile(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::vector<SuiteRow> rows, ReadSuiteRows(file));
  const std::vector<std::string>& known = SuiteKeys();
  const Json::Object& first = rows[0].value.AsObject();
  return std::any_of(first.begin(), first.end(), [&](const auto& member) {
    return std::find(known.begin(), known.end(), member.first) == known.end();
  });
}

Result<Suite> LoadTasksAsSuite(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  TaskFile tasks = ReadTaskFile(text, nullptr);
  HONE_RETURN_IF_ERROR(NoProblems(tasks, file.string()));
  Suite suite{.name = file.filename().string()};
  for (size_t i = 0; i < tasks.tasks.size(); ++i) {
    Task& task = tasks.tasks[i];
    TakeGoldFromPlan(&task);
    const std::string place = fmt::format("{}:{}", file.string(), tasks.lines[i]);
    const Result<Labels> labels = LabelsOf(task);
    if (!labels.ok()) return labels.error().In(place);
    std::optional<SuiteCase> one = CaseOfTask(task, *labels);
    if (!one) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: task \"{}\" has to be played where its tools answer: name the "
                               "recipe of its environment (--env RECIPE.toml), or a run in it",
                               place, task.id));
    }
    const Json* kind = task.metadata.Find("kind");
    one->category = kind != nullptr && kind->is_string() ? kind->AsString() : file.stem().string();
    if (const auto tried = JudgeCase(*one, {.text = "?"}); !tried.ok()) {
      return tried.error().In(place);
    }
    suite.cases.push_back(*std::move(one));
  }
  return suite;
}

}  // namespace hone
