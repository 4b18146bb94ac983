#include "rewards/labels.h"

#include <cmath>

#include <fmt/format.h>

#include "base/json_fields.h"

namespace hone {
namespace {

bool MustBeObject(const Json& json, const std::string& path, JsonErrors* errors) {
  if (json.is_object()) return true;
  errors->Add(path, fmt::format("wants an object, not {}", json.KindName()));
  return false;
}

void ReadGoldCall(const Json& json, const std::string& path, JsonErrors* errors, GoldCall* call) {
  JsonFields fields(json, path, errors);
  fields.Required("name", &call->name);
  if (const Json* arguments = fields.Take("arguments")) {
    if (MustBeObject(*arguments, fields.PathOf("arguments"), errors)) call->arguments = *arguments;
  }
  if (const Json* accepted = fields.Take("accepted")) {
    if (MustBeObject(*accepted, fields.PathOf("accepted"), errors)) {
      for (const auto& [parameter, values] : accepted->AsObject()) {
        ReadJson(values, fields.PathOf("accepted") + "." + parameter, errors,
                 &call->accepted[parameter]);
      }
    }
  }
  fields.Optional("optional", &call->optional);
  fields.Optional("any", &call->any);
  fields.Optional("after", &call->after);
  if (!call->arguments && !call->accepted.empty()) call->arguments = Json(Json::Object());
}

// Every edge must lead to another call, and no way along them back to where it began.
void CheckGraph(const std::vector<GoldCall>& calls, const std::string& path, JsonErrors* errors) {
  const auto count = static_cast<int32_t>(calls.size());
  for (int32_t i = 0; i < count; ++i) {
    for (const int32_t before : calls[i].after) {
      if (before < 0 || before >= count || before == i) {
        errors->Add(fmt::format("{}[{}].after", path, i),
                    fmt::format("{} is not the number of another call", before));
        return;
      }
    }
  }
  // Calls leave once all before them have left; what cannot leave is in a circle.
  std::vector<bool> gone(calls.size(), false);
  int32_t left = count;
  for (bool moved = true; moved && left > 0;) {
    moved = false;
    for (int32_t i = 0; i < count; ++i) {
      if (gone[i]) continue;
      bool ready = true;
      for (const int32_t before : calls[i].after) ready = ready && gone[before];
      if (!ready) continue;
      gone[i] = moved = true;
      --left;
    }
  }
  if (left > 0) errors->Add(path, "their \"after\" goes round in a circle");
}

void ReadCalls(const Json* json, const Json* order, JsonErrors* errors, Labels* labels) {
  if (json == nullptr) {
    if (order != nullptr) errors->Add("order", "there are no \"calls\" to be ordered");
    return;
  }
  if (!json->is_array()) {
    errors->Add("calls", fmt::format("wants an array, not {}", json->KindName()));
    return;
  }
  GoldCalls gold;
  bool edges = false;
  for (size_t i = 0; i < json->AsArray().size(); ++i) {
    GoldCall call;
    ReadGoldCall(json->AsArray()[i], fmt::format("calls[{}]", i), errors, &call);
    edges = edges || !call.after.empty();
    gold.calls.push_back(std::move(call));
  }
  gold.order = edges ? CallOrder::kGraph : CallOrder::kAny;
  if (order != nullptr) {
    if (*order == Json("any")) {
      gold.order = CallOrder::kAny;
    } else if (*order == Json("sequence")) {
      gold.order = CallOrder::kSequence;
    } else if (*order == Json("graph")) {
      gold.order = CallOrder::kGraph;
    } else {
      errors->Add("order", "must be \"any\", \"sequence\" or \"graph\"");
    }
    if (edges && gold.order != CallOrder::kGraph) {
      errors->Add("order", "calls with \"after\" are a \"graph\"");
    }
  }
  CheckGraph(gold.calls, "calls", errors);
  labels->calls = std::move(gold);
}

void ReadKind(const Json& json, const std::string& path, JsonErrors* errors, Labels* labels) {
  std::string name;
  ReadJson(json, path, errors, &name);
  if (!errors->ok()) return;
  const Result<AnswerKind> kind = AnswerKindNamed(name);
  if (kind.ok()) {
    labels->answer_kind = *kind;
  } else {
    errors->Add(path, kind.error().message());
  }
}

void ReadAnswerRule(const Json& json, JsonErrors* errors, Labels* labels) {
  if (json.is_string()) return ReadKind(json, "answer", errors, labels);
  JsonFields fields(json, "answer", errors);
  if (const Json* kind = fields.Take("kind")) ReadKind(*kind, "answer.kind", errors, labels);
  fields.Optional("absolute", &labels->answer_options.absolute);
  fields.Optional("relative", &labels->answer_options.relative);
  if (!(labels->answer_options.absolute >= 0) || !(labels->answer_options.relative >= 0)) {
    errors->Add("answer", "a tolerance must not be negative");
  }
}

void ReadMilestone(const Json& json, const std::string& path, JsonErrors* errors,
                   Milestone* milestone) {
  JsonFields fields(json, path, errors);
  fields.Required("name", &milestone->name);
  const std::optional<double> usual = UsualMilestoneWeight(milestone->name);
  milestone->weight = usual.value_or(-1);
  fields.Optional("weight", &milestone->weight);
  if (!(milestone->weight >= 0) || !std::isfinite(milestone->weight)) {
    errors->Add(path, fmt::format("the milestone \"{}\" needs a \"weight\" that is not negative",
                                  milestone->name));
  }
  if (const Json* call = fields.Take("call")) {
    ReadGoldCall(*call, fields.PathOf("call"), errors, &milestone->call.emplace());
  }
  if (const Json* state = fields.Take("state")) {
    if (MustBeObject(*state, fields.PathOf("state"), errors)) milestone->state = *state;
  }
}

void ReadMilestones(const Json& json, JsonErrors* errors, Labels* labels) {
  if (!json.is_array()) {
    errors->Add("milestones", fmt::format("wants an array, not {}", json.KindName()));
    return;
  }
  double sum = 0;
  for (size_t i = 0; i < json.AsArray().size(); ++i) {
    Milestone milestone;
    ReadMilestone(json.AsArray()[i], fmt::format("milestones[{}]", i), errors, &milestone);
    for (const Milestone& other : labels->milestones) {
      if (other.name == milestone.name) {
        errors->Add("milestones", fmt::format("\"{}\" is there twice", milestone.name));
      }
    }
    sum += milestone.weight;
    labels->milestones.push_back(std::move(milestone));
  }
  if (errors->ok() && sum > 1 + 1e-9) {
    errors->Add("milestones", fmt::format("their weights sum to {}, which is over 1", sum));
  }
}

void ReadBudget(const Json& json, JsonErrors* errors, Budget* budget) {
  JsonFields fields(json, "budget", errors);
  fields.Optional("calls", &budget->calls);
  fields.Optional("tokens", &budget->tokens);
  fields.Optional("money", &budget->money);
}

void ReadPreferences(const Json& json, JsonErrors* errors, std::map<std::string, double>* values) {
  if (!MustBeObject(json, "preferences", errors)) return;
  for (const auto& [feature, weight] : json.AsObject()) {
    ReadJson(weight, "preferences." + feature, errors, &(*values)[feature]);
  }
}

// `reward`, with what it does not say taken from `metadata.labels`.
Result<Json> Merged(const Task& task) {
  Json merged = Json(Json::Object());
  if (task.reward.is_string()) {
    merged.Set("answer", task.reward);
  } else if (task.reward.is_object()) {
    merged = task.reward;
  } else if (!task.reward.is_null()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("task.reward: wants an object or the name of an answer kind, not {}",
                             task.reward.KindName()));
  }
  if (const Json* labels = task.metadata.Find("labels")) {
    if (!labels->is_object()) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("task.metadata.labels: wants an object, not {}", labels->KindName()));
    }
    for (const auto& [key, value] : labels->AsObject()) {
      if (merged.Find(key) == nullptr) merged.Set(key, value);
    }
  }
  return merged;
}

}  // namespace

std::optional<double> UsualMilestoneWeight(std::string_view name) {
  constexpr std::pair<std::string_view, double> kWeights[] = {
      {"navigation", 0.1}, {"element", 0.2}, {"fields", 0.2}, {"artefact", 0.3}, {"goal", 0.2}};
  for (const auto& [known, weight] : kWeights) {
    if (known == name) return weight;
  }
  return std::nullopt;
}

Result<Labels> LabelsOf(const Task& task) {
  HONE_ASSIGN_OR_RETURN(const Json json, Merged(task));
  Labels labels;
  labels.answer = task.answer;
  JsonErrors errors;
  {
    JsonFields fields(json, "task.reward", &errors);
    if (const Json* needed = fields.Take("tool_needed")) {
      ReadJson(*needed, "tool_needed", &errors, &labels.tool_needed);
    }
    const Json* calls = fields.Take("calls");
    ReadCalls(calls, fields.Take("order"), &errors, &labels);
    if (const Json* rule = fields.Take("answer")) ReadAnswerRule(*rule, &errors, &labels);
    if (const Json* list = fields.Take("milestones")) ReadMilestones(*list, &errors, &labels);
    fields.Optional("outputs", &labels.outputs);
    if (const Json* budget = fields.Take("budget")) ReadBudget(*budget, &errors, &labels.budget);
    fields.Optional("least_calls", &labels.least_calls);
    if (const Json* preferences = fields.Take("preferences")) {
      ReadPreferences(*preferences, &errors, &labels.preferences);
    }
    fields.Optional("origin", &labels.origin);
  }
  if (!errors.ok()) return errors.Check().error().In("the labels of task \"" + task.id + "\"");
  // Gold calls say whether a tool is needed.
  if (!labels.tool_needed && labels.calls) labels.tool_needed = !labels.calls->calls.empty();
  return labels;
}

}  // namespace hone
