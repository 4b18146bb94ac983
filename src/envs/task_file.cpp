#include "envs/task_file.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/json_fields.h"
#include "base/json_lines.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "envs/benchmark_rows.h"
#include "envs/data_env.h"
#include "envs/plan_check.h"
#include "record/record_json.h"
#include "rewards/matching/answer.h"

namespace hone {
namespace {

// Reads one row; problems go through `add`.
class RowReader {
 public:
  RowReader(const Json& row, const RowContext& context, TaskFile* file)
      : row_(row), context_(context), tools_(context.tools), file_(file) {}

  void Read() {
    if (!row_.is_object()) {
      return Add(fmt::format("wants an object, not {}", row_.KindName()));
    }
    const size_t before = file_->problems.size();
    std::vector<std::string> problems;
    task_ = TaskFromRow(row_, context_, &problems);
    for (std::string& problem : problems) Add(std::move(problem));
    has_prompt_ = !task_.messages.is_null();
    if (!has_prompt_) task_.messages = Json::Array();
    CheckTask();
    if (file_->problems.size() == before) {
      file_->tasks.push_back(task_);
      file_->lines.push_back(context_.line);
    }
  }

  const std::string& id() const { return task_.id; }

 private:
  void Add(std::string text) { file_->problems.push_back({context_.line, std::move(text)}); }

  // --- what is read is looked at
  void CheckTask() {
    if (has_prompt_) CheckMessages();
    ReadTools();
    CheckReward();
    if (!task_.metadata.is_null() && !task_.metadata.is_object()) {
      Add(fmt::format("metadata: wants an object, not {}", task_.metadata.KindName()));
    }
    if (const Json* plan = task_.metadata.Find("plan")) CheckPlan(*plan);
  }

  void CheckMessages() {
    if (!task_.messages.is_array() || task_.messages.AsArray().empty()) {
      return Add("the messages must be a list that is not empty");
    }
    const Json::Array& messages = task_.messages.AsArray();
    for (size_t i = 0; i < messages.size(); ++i) {
      const Json* role = messages[i].Find("role");
      if (role == nullptr || !role->is_string()) {
        return Add(fmt::format("messages[{}]: \"role\" is missing", i));
      }
      const Json* content = messages[i].Find("content");
      const bool calls = messages[i].Find("tool_calls") != nullptr;
      if (!calls && (content == nullptr || !(content->is_string() || content->is_array()))) {
        return Add(fmt::format("messages[{}]: \"content\" must be a text", i));
      }
    }
    const Json* last = messages.back().Find("role");
    if (*last == Json("assistant") || *last == Json("system")) {
      Add(fmt::format("the last message must be what the agent replies to, not {}'s",
                      last->AsString()));
    }
  }

  void ReadTools() {
    if (task_.tools.is_null()) task_.tools = Json::Array();
    // Chat datasets carry them as text.
    if (task_.tools.is_string()) {
      Result<Json> parsed = ParseJson(task_.tools.AsString());
      if (!parsed.ok()) return Add("\"tools\" is text that is no JSON");
      task_.tools = std::move(*parsed);
    }
    Result<std::vector<ToolSpec>> specs = ToolSpecsFromJson(task_.tools);
    if (!specs.ok()) return Add("tools: " + specs.error().message());
    for (ToolSpec& spec : *specs) {
      Result<ArgumentChecker> checker = ArgumentChecker::For(spec);
      if (!checker.ok()) {
        Add(fmt::format("tools: {}: {}", spec.name, checker.error().message()));
        continue;
      }
      std::string name = spec.name;
      own_.emplace(std::move(name), OwnTool{std::move(spec), std::move(*checker)});
    }
  }

  const ArgumentChecker* FindTool(const std::string& name) const {
    if (const auto own = own_.find(name); own != own_.end()) return &own->second.checker;
    const Toolbox::Tool* tool = tools_ == nullptr ? nullptr : tools_->Find(name);
    return tool == nullptr ? nullptr : &tool->checker;
  }

  const ToolSpec* FindSpecOf(const std::string& name) const {
    if (const auto own = own_.find(name); own != own_.end()) return &own->second.spec;
    const Toolbox::Tool* tool = tools_ == nullptr ? nullptr : tools_->Find(name);
    return tool == nullptr ? nullptr : &tool->spec;
  }

  // Arguments are looked at where they are `concrete`.
  void CheckCall(const std::string& where, const Json& call, bool concrete) {
    const Json* name = call.Find("name");
    if (name == nullptr || !name->is_string()) return Add(where + ": \"name\" is missing");
    const bool any_known = !own_.empty() || tools_ != nullptr;
    const ArgumentChecker* checker = FindTool(name->AsString());
    if (checker == nullptr) {
      if (!any_known) return;  // a file that is looked at without its tools
      std::vector<std::string> names;
      for (const auto& [known, unused] : own_) names.push_back(known);
      if (tools_ != nullptr) {
        for (const Toolbox::Tool& tool : tools_->tools()) names.push_back(tool.spec.name);
      }
      return Add(fmt::format("{}: there is no tool \"{}\"{}", where, name->AsString(),
                             DidYouMean(name->AsString(), names)));
    }
    const Json* arguments = call.Find("arguments");
    if (arguments == nullptr || !concrete) return;
    if (const std::optional<std::string> problem = checker->Problem(*arguments)) {
      Add(fmt::format("{}: {}", where, *problem));
    }
  }

  void CheckReward() {
    const Json& reward = task_.reward;
    if (reward.is_string()) return CheckAnswer(reward.AsString());
    if (reward.is_null()) return;
    if (!reward.is_object()) {
      return Add(fmt::format("reward: wants an object or the kind of the answer, not {}",
                             reward.KindName()));
    }
    if (const Json* calls = reward.Find("calls")) {
      if (!calls->is_array()) {
        Add(fmt::format("reward.calls: wants a list, not {}", calls->KindName()));
      } else {
        for (size_t i = 0; i < calls->AsArray().size(); ++i) {
          CheckCall(fmt::format("reward.calls[{}]", i), calls->AsArray()[i], true);
        }
      }
    }
    const Json* answer = reward.Find("answer");
    if (answer == nullptr) return;
    const Json* kind = answer->is_object() ? answer->Find("kind") : answer;
    if (kind != nullptr && kind->is_string()) CheckAnswer(kind->AsString());
  }

  void CheckPlan(const Json& json) {
    const Result<Plan> plan = PlanFromJson(json);
    if (!plan.ok()) return Add("metadata." + plan.error().message());
    for (size_t i = 0; i < plan->calls.size(); ++i) {
      CheckCall(fmt::format("metadata.plan.calls[{}]", i),
                Json::Of({{"name", plan->calls[i].name}}), false);
    }
    for (const std::string& problem :
         PlanProblems(*plan, [this](const std::string& name) { return FindSpecOf(name); })) {
      Add("metadata.plan." + problem);
    }
    CheckAgreement(*plan);
    if (const Json* thoughts = task_.metadata.Find("thoughts")) CheckThoughts(*thoughts, *plan);
  }

  // Who plays the plan thinks them aloud.
  void CheckThoughts(const Json& thoughts, const Plan& plan) {
    const size_t wanted = plan.calls.size() + 1;
    const bool list = thoughts.is_array() && thoughts.AsArray().size() == wanted;
    if (list && std::all_of(thoughts.AsArray().begin(), thoughts.AsArray().end(),
                            [](const Json& one) { return one.is_string(); })) {
      return;
    }
    Add(
        fmt::format("metadata.thoughts: wants a list of {} text{}: one before each call of the "
                    "plan, and one before the answer",
                    wanted, wanted == 1 ? "" : "s"));
  }

  // A plan that says the answer outright must say the task's.
  void CheckAgreement(const Plan& plan) {
    if (plan.answers.size() != 1 || plan.answers[0].only_if || task_.answer.is_null()) return;
    const std::string said = PlainText(plan.answers[0].value);
    if (said.find("${") != std::string::npos) return;
    if (!IsRightAnswer(AnswerRule::kText, said, task_.answer)) {
      Add(fmt::format("answer: is {}, but the plan answers \"{}\"", DumpJson(task_.answer), said));
    }
  }

  void CheckAnswer(const std::string& kind) {
    std::vector<std::string> kinds;
    for (const AnswerKindNote& note : AnswerKinds()) kinds.push_back(note.name);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      return Add(fmt::format("reward.answer: no kind \"{}\"{}", kind, DidYouMean(kind, kinds)));
    }
    const Json& answer = task_.answer;
    if (kind == "verdict") return;
    if (answer.is_null()) return Add(fmt::format("answer: is missing, but is to be a {}", kind));
    if (kind == "number" && !IsNumber(answer)) {
      return Add(fmt::format("answer: wants a number, not {}", DumpJson(answer)));
    }
    if (kind == "set" && !answer.is_array()) {
      return Add(fmt::format("answer: wants a list, not {}", answer.KindName()));
    }
    const bool textual = kind != "json" && kind != "set" && kind != "program";
    if (textual && answer.is_object()) {
      Add(fmt::format("answer: wants a text or a number for \"{}\", not an object", kind));
    }
  }

  static bool IsNumber(const Json& answer) {
    if (answer.is_number()) return true;
    if (answer.is_array()) {
      return std::all_of(answer.AsArray().begin(), answer.AsArray().end(), IsNumber);
    }
    if (!answer.is_string()) return false;
    const std::string_view text = Trim(answer.AsString());
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }

  const Json& row_;
  const RowContext context_;
  const Toolbox* tools_;
  TaskFile* file_;
  Task task_;
  bool has_prompt_ = false;
  struct OwnTool {
    ToolSpec spec;
    ArgumentChecker checker;
  };
  std::map<std::string, OwnTool> own_;
};

}  // namespace

TaskFile ReadTaskFile(std::string_view text, const Toolbox* tools, const TaskKeys& keys) {
  TaskFile file;
  std::map<std::string, int64_t> first_line;
  ForEachJsonLine(text, [&](int64_t line, const Result<Json>& json) {
    if (!json.ok()) {
      file.problems.push_back({line, json.error().message()});
      return;
    }
    if (file.shape.empty() && json->is_object()) {
      file.shape = TaskShapeOf(*json);
      // Who says where the answer stands does not want a benchmark's own reading.
      if (keys.columns() && !BenchmarkOf(*json).empty() && file.shape == BenchmarkOf(*json)) {
        file.shape = "trl";
      }
    }
    RowReader reader(*json, {.shape = file.shape, .keys = &keys, .line = line, .tools = tools},
                     &file);
    reader.Read();
    if (reader.id().empty()) return;
    const auto [earlier, fresh] = first_line.emplace(reader.id(), line);
    if (fresh) return;
    file.problems.push_back(
        {line, fmt::format("the id \"{}\" is on line {} too", reader.id(), earlier->second)});
  });
  if (file.shape.empty()) file.shape = "hone";
  if (file.tasks.empty() && file.problems.empty()) {
    file.problems.push_back({1, "there are no tasks in it"});
  }
  return file;
}

Result<void> NoProblems(const TaskFile& file, std::string_view name) {
  if (file.problems.empty()) return {};
  std::string text;
  for (const TaskProblem& problem : file.problems) {
    text += fmt::format("{}{}:{}: {}", text.empty() ? "" : "\n", name, problem.line, problem.text);
  }
  return Error(ErrorCode::kInvalidArgument, std::move(text));
}

}  // namespace hone
