#include "envs/task_rows.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/strings.h"
#include "envs/benchmark_rows.h"
#include "envs/plan.h"
#include "rewards/matching/answer.h"

namespace hone {
namespace {

using Names = std::set<std::string, std::less<>>;

Json AsMessages(const Json& prompt) {
  if (!prompt.is_string()) return prompt;
  return Json::Array{Json::Of({{"role", "user"}, {"content", prompt}})};
}

// A column of this name, or else the member that the path leads to.
const Json* At(const Json& row, std::string_view path) {
  if (const Json* column = row.Find(path)) return column;
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const Json* inner = row.Find(path.substr(0, dot));
  return inner == nullptr || !inner->is_object() ? nullptr : At(*inner, path.substr(dot + 1));
}

std::string ColumnOf(std::string_view path, const Json& row) {
  if (row.Find(path) != nullptr) return std::string(path);
  return std::string(path.substr(0, path.find('.')));
}

std::string ColumnsOf(const Json& row) {
  std::string names;
  for (const auto& [name, value] : row.AsObject()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

class RowTask {
 public:
  RowTask(const Json& row, const RowContext& context, std::vector<std::string>* problems)
      : row_(row), context_(context), keys_(*context.keys), problems_(problems) {
    task_.messages = Json();  // until there are some
  }

  Task Read() {
    if (context_.shape == "hone") {
      ReadHone();
    } else if (context_.shape == "suite") {
      ReadSuite();
    } else if (context_.shape == "verl") {
      ReadVerl();
    } else if (context_.shape == "trl") {
      ReadTrl();
    } else {
      ReadBenchmark();
    }
    if (!keys_.id.empty()) TakeId();
    if (!keys_.after.empty()) CutAnswer();
    if (!keys_.kind.empty()) kind_ = keys_.kind;
    if (!kind_.empty()) NameKind();
    return std::move(task_);
  }

 private:
  void Add(std::string text) { problems_->push_back(std::move(text)); }

  void ReadHone() {
    OnlyKeys({"id", "prompt", "messages", "tools", "answer", "reward", "metadata"});
    if (keys_.id.empty()) TakeOwnId();
    TakePrompt();
    Take("tools", &task_.tools);
    Take("reward", &task_.reward);
    Take("metadata", &task_.metadata);
    TakeAnswer({"answer"});
  }

  // As `hone eval` reads cases (docs/suites.md).
  void ReadSuite() {
    OnlyKeys(
        {"id", "category", "prompt", "system", "messages", "tools", "calls", "answer", "scorer"});
    task_.id = fmt::format("line-{}", context_.line);
    if (row_.Find("id") != nullptr) TakeOwnId();
    TakePrompt();
    if (const Json* system = row_.Find("system"); system != nullptr && task_.messages.is_array()) {
      Json::Array messages = {Json::Of({{"role", "system"}, {"content", *system}})};
      for (const Json& message : task_.messages.AsArray()) messages.push_back(message);
      task_.messages = std::move(messages);
    }
    TakeNamedTools();
    TakeAnswer({"answer"});
    Json reward{Json::Object()};
    if (const Json* scorer = row_.Find("scorer")) reward.Set("answer", *scorer);
    if (const Json* calls = row_.Find("calls")) reward.Set("calls", *calls);
    if (!reward.AsObject().empty()) task_.reward = std::move(reward);
    if (const Json* category = row_.Find("category")) {
      task_.metadata = Json::Of({{"kind", *category}});
    }
  }

  void ReadVerl() {
    TakePrompt();
    const Json* source = row_.Find("data_source");
    const Json* index = At(row_, "extra_info.index");
    task_.id =
        fmt::format("{}-{}", source != nullptr && source->is_string() ? source->AsString() : "row",
                    index != nullptr ? PlainText(*index) : std::to_string(context_.line));
    if (keys_.answer.empty()) {
      const Json* truth = At(row_, "reward_model.ground_truth");
      if (truth == nullptr) {
        Add("\"reward_model.ground_truth\" is missing");
      } else {
        task_.answer = *truth;
      }
      taken_.insert("reward_model");
    } else {
      TakeAnswer({});
    }
    KeepOthers();
  }

  void ReadTrl() {
    task_.id = fmt::format("line-{}", context_.line);
    if (const Json* id = row_.Find("id"); id != nullptr && (id->is_string() || id->is_number())) {
      if (const std::string text = PlainText(*id); !text.empty()) task_.id = text;
    }
    TakePrompt();
    Take("tools", &task_.tools);
    TakeAnswer({"answer", "solution", "ground_truth", "completion"});
    // A completion as messages: its last text is the answer.
    if (task_.answer.is_array() && !task_.answer.AsArray().empty()) {
      if (const Json* content = task_.answer.AsArray().back().Find("content")) {
        const Json text = *content;
        task_.answer = text;
      }
    }
    KeepOthers();
  }

  void ReadBenchmark() {
    BenchmarkRow row = ReadBenchmarkRow(context_.shape, row_, problems_);
    task_.id = row.id.empty() ? fmt::format("line-{}", context_.line) : row.id;
    if (row.prompt.is_string()) task_.messages = AsMessages(row.prompt);
    task_.answer = std::move(row.answer);
    kind_ = std::move(row.kind);
    taken_ = std::move(row.taken);
    KeepOthers();
    if (row.solution.is_null()) return;
    if (task_.metadata.is_null()) task_.metadata = Json::Object();
    task_.metadata.Set("solution", std::move(row.solution));
  }

  // The kind of the answer, where the row itself does not say it.
  void NameKind() {
    const Json* labels = task_.metadata.Find("labels");
    if (labels != nullptr && labels->Find("answer") != nullptr) return;
    if (task_.answer.is_null()) return;
    if (task_.reward.is_null()) {
      task_.reward = kind_;
    } else if (task_.reward.is_object() && task_.reward.Find("answer") == nullptr) {
      task_.reward.Set("answer", kind_);
    }
  }

  void OnlyKeys(const Names& keys) {
    const std::vector<std::string> names(keys.begin(), keys.end());
    Names named;
    for (const std::string& path : {keys_.prompt, keys_.answer, keys_.id}) {
      if (!path.empty()) named.insert(ColumnOf(path, row_));
    }
    for (const auto& [key, value] : row_.AsObject()) {
      if (keys.contains(key) || named.contains(key)) continue;
      Add(fmt::format("unknown key \"{}\"{}", key, DidYouMean(key, names)));
    }
  }

  void Take(std::string_view key, Json* value) {
    taken_.emplace(key);
    if (const Json* found = row_.Find(key)) *value = *found;
  }

  // What the recipe says where it is; null, and a problem, when it is not there.
  const Json* Named(std::string_view what, const std::string& path) {
    const Json* found = At(row_, path);
    if (row_.Find(path) != nullptr) taken_.insert(path);  // the rest of a column is kept with it
    if (found == nullptr) {
      Add(fmt::format("environment.keys.{} is \"{}\", which this row does not have; it has {}",
                      what, path, ColumnsOf(row_)));
    }
    return found;
  }

  void TakeOwnId() {
    const Json* id = row_.Find("id");
    if (id == nullptr) {
      Add("\"id\" is missing");
    } else if (!id->is_string() || id->AsString().empty()) {
      Add("\"id\" must be a text that is not empty");
    } else {
      task_.id = id->AsString();
    }
  }

  void TakeId() {
    const Json* id = Named("id", keys_.id);
    if (id == nullptr) return;
    task_.id = PlainText(*id);
    if (task_.id.empty()) Add(fmt::format("\"{}\" is the id, and empty", keys_.id));
  }

  void TakePrompt() {
    for (const char* key : {"prompt", "messages"}) taken_.emplace(key);
    if (!keys_.prompt.empty()) {
      if (const Json* prompt = Named("prompt", keys_.prompt)) task_.messages = AsMessages(*prompt);
      return;
    }
    const Json* prompt = row_.Find("prompt");
    // As verifiers and GSM8K have it.
    if (prompt == nullptr && context_.shape == "trl") {
      prompt = row_.Find("question");
      taken_.emplace("question");
    }
    const Json* messages = row_.Find("messages");
    if (prompt != nullptr && messages != nullptr) {
      return Add("has both \"prompt\" and \"messages\"");
    }
    if (prompt == nullptr && messages == nullptr) {
      return Add("\"prompt\" or \"messages\" is missing");
    }
    task_.messages = AsMessages(prompt != nullptr ? *prompt : *messages);
  }

  // From where the recipe says, or the first of these that is there.
  void TakeAnswer(std::initializer_list<const char*> usual) {
    if (!keys_.answer.empty()) {
      if (const Json* answer = Named("answer", keys_.answer)) task_.answer = *answer;
      return;
    }
    for (const char* key : usual) {
      taken_.emplace(key);
      if (task_.answer.is_null()) Take(key, &task_.answer);
    }
  }

  void CutAnswer() {
    if (!task_.answer.is_string()) return;
    const std::string& whole = task_.answer.AsString();
    const size_t at = whole.rfind(keys_.after);
    if (at == std::string::npos) {
      return Add(
          fmt::format("the answer does not have \"{}\", which environment.keys.after says "
                      "it follows",
                      keys_.after));
    }
    const std::string rest(Trim(std::string_view(whole).substr(at + keys_.after.size())));
    task_.answer = rest;
  }

  // Names of tools become what the recipe's tools say of themselves.
  void TakeNamedTools() {
    Take("tools", &task_.tools);
    if (!task_.tools.is_array()) return;
    Json::Array described;
    for (const Json& tool : task_.tools.AsArray()) {
      if (!tool.is_string()) return;
      const Toolbox::Tool* found =
          context_.tools == nullptr ? nullptr : context_.tools->Find(tool.AsString());
      if (found != nullptr) {
        described.push_back(found->spec.ToJson());
      } else if (context_.tools != nullptr) {
        Add(fmt::format("{}; add it to [[tools]]", context_.tools->UnknownTool(tool.AsString())));
      }
    }
    task_.tools = std::move(described);
  }

  void KeepOthers() {
    Json::Object others;
    for (const auto& [key, value] : row_.AsObject()) {
      if (!taken_.contains(key)) others.emplace_back(key, value);
    }
    if (!others.empty()) task_.metadata = std::move(others);
  }

  const Json& row_;
  const RowContext& context_;
  const TaskKeys& keys_;
  std::vector<std::string>* problems_;
  Names taken_;       // columns that are not metadata
  std::string kind_;  // of the answer, where the row does not say it; empty: nobody does
  Task task_;
};

}  // namespace

TaskKeys ReadTaskKeys(RecipeTable table) {
  TaskKeys keys;
  table.Read("prompt", &keys.prompt, "column of the prompt, or a path into one");
  table.Read("answer", &keys.answer, "of the right answer");
  table.Read("id", &keys.id, "of the task's name");
  table.Read("after", &keys.after, "text that the answer follows in its column, such as ####");
  std::vector<std::string> kinds = {""};
  for (const AnswerKindNote& note : AnswerKinds()) kinds.push_back(note.name);
  table.ReadChoice("kind", &keys.kind, kinds, "of right answers, where a row names none");
  return keys;
}

// A row that has forgotten its id is still told by what only Hone's have.
std::string_view TaskShapeOf(const Json& row) {
  const auto has = [&](std::initializer_list<const char*> keys) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const char* key) { return row.Find(key) != nullptr; });
  };
  if (has({"reward_model", "reward_model.ground_truth", "data_source"})) return "verl";
  if (has({"reward", "metadata"})) return "hone";
  if (has({"scorer", "calls", "category", "system"})) return "suite";
  if (const std::string_view benchmark = BenchmarkOf(row); !benchmark.empty()) return benchmark;
  return has({"id"}) && !has({"question", "solution", "ground_truth", "completion"}) ? "hone"
                                                                                     : "trl";
}

Task TaskFromRow(const Json& row, const RowContext& context, std::vector<std::string>* problems) {
  return RowTask(row, context, problems).Read();
}

}  // namespace hone
