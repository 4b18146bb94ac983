#include "envs/plan.h"

#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/json_fields.h"

namespace hone {
namespace {

constexpr std::string_view kOpen = "${";
constexpr std::string_view kAsText = "|text";

// "12" as a number, or nothing.
std::optional<size_t> AsIndex(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Reference {
  size_t call = 0;
  std::vector<std::string_view> path;
};

// What stands between "${" and "}".
Result<Reference> ParseReference(std::string_view text) {
  if (text.ends_with(kAsText)) text.remove_suffix(kAsText.size());
  Reference reference;
  bool first = true;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (first) {
      const std::optional<size_t> call = AsIndex(part);
      if (!call) break;
      reference.call = *call;
      first = false;
    } else if (part.empty()) {
      first = true;
      break;
    } else {
      reference.path.push_back(part);
    }
    begin = end + 1;
  }
  if (first) {
    return Error(ErrorCode::kParse,
                 fmt::format("\"${{{}}}\" is not a reference; write ${{0.city}} for the member "
                             "\"city\" of what call 0 returned",
                             text));
  }
  return reference;
}

// Walks over the references of a text: calls `reference` for each, `plain` for what is between.
template <typename OnReference, typename OnPlain>
Result<void> WalkText(std::string_view text, OnReference on_reference, OnPlain on_plain) {
  while (true) {
    const size_t open = text.find(kOpen);
    const size_t close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) {
      on_plain(text);
      return {};
    }
    on_plain(text.substr(0, open));
    HONE_ASSIGN_OR_RETURN(const Reference reference,
                          ParseReference(text.substr(open + kOpen.size(), close - open - 2)));
    HONE_RETURN_IF_ERROR(on_reference(reference));
    text.remove_prefix(close + 1);
  }
}

// Whether the text is one reference and nothing else, so that it stands for the value itself.
bool IsValueReference(std::string_view text) {
  return text.starts_with(kOpen) && text.find('}') == text.size() - 1 &&
         !text.substr(0, text.size() - 1).ends_with(kAsText);
}

Result<Json> Lookup(const Reference& reference, const PlanResults& results) {
  if (reference.call >= results.size() || !results[reference.call]) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("call {} of the plan was not made", reference.call));
  }
  const Json* at = &*results[reference.call];
  for (const std::string_view part : reference.path) {
    const Json* next = at->Find(part);
    if (at->is_array()) {
      const std::optional<size_t> index = AsIndex(part);
      next = index && *index < at->AsArray().size() ? &at->AsArray()[*index] : nullptr;
    }
    if (next == nullptr) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("what call {} returned has no \"{}\": {}", reference.call, part,
                               DumpJson(*results[reference.call])));
    }
    at = next;
  }
  return *at;
}

Result<Json> ResolveText(const std::string& text, const PlanResults& results) {
  if (text.find(kOpen) == std::string::npos) return Json(text);
  const bool whole = IsValueReference(text);
  Json value;
  std::string written;
  HONE_RETURN_IF_ERROR(WalkText(
      text,
      [&](const Reference& reference) -> Result<void> {
        HONE_ASSIGN_OR_RETURN(value, Lookup(reference, results));
        written += PlainText(value);
        return {};
      },
      [&](std::string_view plain) { written += plain; }));
  return whole ? value : Json(std::move(written));
}

Result<Json> Resolve(const Json& form, const PlanResults& results) {
  if (form.is_string()) return ResolveText(form.AsString(), results);
  if (form.is_array()) {
    Json::Array array;
    for (const Json& value : form.AsArray()) {
      HONE_ASSIGN_OR_RETURN(Json resolved, Resolve(value, results));
      array.push_back(std::move(resolved));
    }
    return Json(std::move(array));
  }
  if (form.is_object()) {
    Json::Object object;
    for (const auto& [key, value] : form.AsObject()) {
      HONE_ASSIGN_OR_RETURN(Json resolved, Resolve(value, results));
      object.emplace_back(key, std::move(resolved));
    }
    return Json(std::move(object));
  }
  return form;
}

// The calls that a template refers to.
Result<void> CollectReferences(const Json& form, std::set<size_t>* calls) {
  if (form.is_string()) {
    return WalkText(
        form.AsString(),
        [&](const Reference& reference) -> Result<void> {
          calls->insert(reference.call);
          return {};
        },
        [](std::string_view) {});
  }
  if (form.is_array()) {
    for (const Json& value : form.AsArray()) HONE_RETURN_IF_ERROR(CollectReferences(value, calls));
  } else if (form.is_object()) {
    for (const auto& [key, value] : form.AsObject()) {
      HONE_RETURN_IF_ERROR(CollectReferences(value, calls));
    }
  }
  return {};
}

Result<void> CollectReferences(const std::optional<PlanCondition>& condition,
                               std::set<size_t>* calls) {
  if (!condition) return {};
  HONE_RETURN_IF_ERROR(CollectReferences(condition->left, calls));
  return CollectReferences(condition->right, calls);
}

Result<std::set<size_t>> ReferencesOf(const PlannedCall& call) {
  std::set<size_t> calls;
  HONE_RETURN_IF_ERROR(CollectReferences(call.arguments, &calls));
  HONE_RETURN_IF_ERROR(CollectReferences(call.only_if, &calls));
  HONE_RETURN_IF_ERROR(CollectReferences(call.accepted, &calls));
  return calls;
}

Result<bool> Holds(const std::optional<PlanCondition>& condition, const PlanResults& results) {
  if (!condition) return true;
  HONE_ASSIGN_OR_RETURN(const Json left, Resolve(condition->left, results));
  HONE_ASSIGN_OR_RETURN(const Json right, Resolve(condition->right, results));
  switch (condition->test) {
    case PlanCondition::Test::kEqual: return left == right;
    case PlanCondition::Test::kDifferent: return !(left == right);
    case PlanCondition::Test::kAbove: break;
  }
  if (!left.is_number() || !right.is_number()) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("\"above\" compares numbers, not {} with {}", DumpJson(left), DumpJson(right)));
  }
  return left.AsDouble() > right.AsDouble();
}

constexpr std::pair<std::string_view, PlanCondition::Test> kTests[] = {
    {"equal", PlanCondition::Test::kEqual},
    {"different", PlanCondition::Test::kDifferent},
    {"above", PlanCondition::Test::kAbove}};

Json ToJson(const PlanCondition& condition) {
  std::string_view name;
  for (const auto& [known, test] : kTests) {
    if (test == condition.test) name = known;
  }
  return Json::Of({{"left", condition.left}, {"test", name}, {"right", condition.right}});
}

void ReadCondition(const Json* json, const std::string& path, JsonErrors* errors,
                   std::optional<PlanCondition>* condition) {
  if (json == nullptr) return;
  PlanCondition& read = condition->emplace();
  JsonFields fields(*json, path, errors);
  fields.Required("left", &read.left);
  fields.Required("right", &read.right);
  std::string test = "equal";
  fields.Optional("test", &test);
  bool known = false;
  for (const auto& [name, value] : kTests) {
    if (name != test) continue;
    read.test = value;
    known = true;
  }
  if (!known) errors->Add(path + ".test", "must be \"equal\", \"different\" or \"above\"");
}

void ReadAccepted(const Json* json, const std::string& path, JsonErrors* errors,
                  PlannedCall* call) {
  if (json == nullptr) return;
  bool lists = json->is_object();
  if (lists) {
    for (const auto& [parameter, values] : json->AsObject()) lists = lists && values.is_array();
  }
  if (!lists) errors->Add(path, "wants an object of lists: {\"parameter\": [other right values]}");
  call->accepted = *json;
}

// Everything that is wrong with the references, in one error.
Result<void> CheckReferences(const Plan& plan) {
  std::string problems;
  const auto add = [&](const std::string& where, const std::string& text) {
    problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", where, text);
  };
  for (size_t i = 0; i < plan.calls.size(); ++i) {
    const Result<std::set<size_t>> references = ReferencesOf(plan.calls[i]);
    const std::string where = fmt::format("calls[{}]", i);
    if (!references.ok()) {
      add(where, references.error().message());
    } else if (!references->empty() && *references->rbegin() >= i) {
      add(where, fmt::format("refers to call {}, which is not before it", *references->rbegin()));
    }
  }
  std::vector<PlannedAnswer> said = plan.answers;
  for (const Json& output : plan.outputs) said.push_back({output, {}});
  for (size_t i = 0; i < said.size(); ++i) {
    std::set<size_t> calls;
    const std::string where = i < plan.answers.size() ? "answer" : "outputs";
    Result<void> read = CollectReferences(said[i].value, &calls);
    if (read.ok()) read = CollectReferences(said[i].only_if, &calls);
    if (!read.ok()) {
      add(where, read.error().message());
    } else if (!calls.empty() && *calls.rbegin() >= plan.calls.size()) {
      add(where, fmt::format("refers to call {}, but there are {} calls", *calls.rbegin(),
                             plan.calls.size()));
    }
  }
  if (problems.empty()) return {};
  return Error(ErrorCode::kInvalidArgument, std::move(problems));
}

void ListReferences(const Json& form, const std::string& where, std::vector<PlanReference>* all) {
  if (form.is_string()) {
    std::string_view text = form.AsString();
    const bool whole = IsValueReference(text);
    for (size_t open = text.find(kOpen); open != std::string_view::npos; open = text.find(kOpen)) {
      const size_t close = text.find('}', open);
      if (close == std::string_view::npos) return;
      const Result<Reference> read =
          ParseReference(text.substr(open + kOpen.size(), close - open - kOpen.size()));
      if (read.ok()) {
        all->push_back({where,
                        std::string(text.substr(open, close + 1 - open)),
                        read->call,
                        {read->path.begin(), read->path.end()},
                        whole});
      }
      text.remove_prefix(close + 1);
    }
  } else if (form.is_array()) {
    for (size_t i = 0; i < form.AsArray().size(); ++i) {
      ListReferences(form.AsArray()[i], fmt::format("{}[{}]", where, i), all);
    }
  } else if (form.is_object()) {
    for (const auto& [key, value] : form.AsObject()) {
      ListReferences(value, where + "." + key, all);
    }
  }
}

void ListReferences(const std::optional<PlanCondition>& condition, const std::string& where,
                    std::vector<PlanReference>* all) {
  if (!condition) return;
  ListReferences(condition->left, where + ".if.left", all);
  ListReferences(condition->right, where + ".if.right", all);
}

}  // namespace

std::string PlainText(const Json& value) {
  return value.is_string() ? value.AsString() : DumpJson(value);
}

Json PlanToJson(const Plan& plan) {
  Json::Array calls;
  for (const PlannedCall& call : plan.calls) {
    Json json = Json::Of({{"name", call.name}, {"arguments", call.arguments}});
    if (call.only_if) json.Set("if", ToJson(*call.only_if));
    if (!call.accepted.is_null()) json.Set("accepted", call.accepted);
    calls.push_back(std::move(json));
  }
  Json json = Json::Of({{"calls", std::move(calls)}});
  if (plan.answers.size() == 1 && !plan.answers[0].only_if) {
    json.Set("answer", plan.answers[0].value);
  } else if (!plan.answers.empty()) {
    Json::Array answers;
    for (const PlannedAnswer& answer : plan.answers) {
      Json entry = Json::Of({{"value", answer.value}});
      if (answer.only_if) entry.Set("if", ToJson(*answer.only_if));
      answers.push_back(std::move(entry));
    }
    json.Set("answers", std::move(answers));
  }
  if (!plan.outputs.empty()) json.Set("outputs", Json(Json::Array(plan.outputs)));
  return json;
}

Result<Plan> PlanFromJson(const Json& json) {
  Plan plan;
  JsonErrors errors;
  {
    JsonFields fields(json, "plan", &errors);
    std::vector<Json> calls, answers;
    fields.Required("calls", &calls);
    fields.Optional("answers", &answers);
    fields.Optional("outputs", &plan.outputs);
    if (const Json* answer = fields.Take("answer")) plan.answers.push_back({*answer, {}});
    for (size_t i = 0; i < calls.size(); ++i) {
      PlannedCall& call = plan.calls.emplace_back();
      JsonFields call_fields(calls[i], fmt::format("plan.calls[{}]", i), &errors);
      call_fields.Required("name", &call.name);
      call_fields.Optional("arguments", &call.arguments);
      if (!call.arguments.is_object()) {
        errors.Add(call_fields.PathOf("arguments"), "wants an object");
      }
      ReadCondition(call_fields.Take("if"), call_fields.PathOf("if"), &errors, &call.only_if);
      ReadAccepted(call_fields.Take("accepted"), call_fields.PathOf("accepted"), &errors, &call);
    }
    for (size_t i = 0; i < answers.size(); ++i) {
      PlannedAnswer& answer = plan.answers.emplace_back();
      JsonFields answer_fields(answers[i], fmt::format("plan.answers[{}]", i), &errors);
      answer_fields.Required("value", &answer.value);
      ReadCondition(answer_fields.Take("if"), answer_fields.PathOf("if"), &errors, &answer.only_if);
    }
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (const Result<void> checked = CheckReferences(plan); !checked.ok()) {
    return checked.error().In("plan");
  }
  return plan;
}

std::vector<PlanReference> ReferencesIn(const Plan& plan) {
  std::vector<PlanReference> all;
  for (size_t i = 0; i < plan.calls.size(); ++i) {
    const std::string where = fmt::format("calls[{}]", i);
    ListReferences(plan.calls[i].arguments, where + ".arguments", &all);
    ListReferences(plan.calls[i].only_if, where, &all);
    ListReferences(plan.calls[i].accepted, where + ".accepted", &all);
  }
  for (const PlannedAnswer& answer : plan.answers) {
    ListReferences(answer.value, "answer", &all);
    ListReferences(answer.only_if, "answer", &all);
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    ListReferences(plan.outputs[i], fmt::format("outputs[{}]", i), &all);
  }
  return all;
}

Result<std::optional<Call>> ResolveCall(const Plan& plan, size_t n, const PlanResults& results) {
  const PlannedCall& planned = plan.calls[n];
  HONE_ASSIGN_OR_RETURN(const bool holds, Holds(planned.only_if, results));
  if (!holds) return std::optional<Call>();
  HONE_ASSIGN_OR_RETURN(Json arguments, Resolve(planned.arguments, results));
  return std::optional<Call>(Call{planned.name, std::move(arguments), {}});
}

Result<std::optional<std::string>> ResolveAnswer(const Plan& plan, const PlanResults& results) {
  for (const PlannedAnswer& answer : plan.answers) {
    HONE_ASSIGN_OR_RETURN(const bool holds, Holds(answer.only_if, results));
    if (!holds) continue;
    HONE_ASSIGN_OR_RETURN(const Json value, Resolve(answer.value, results));
    return std::optional<std::string>(PlainText(value));
  }
  return std::optional<std::string>();
}

Result<std::optional<Call>> PlanRun::Next() {
  while (results_.size() < plan_->calls.size()) {
    HONE_ASSIGN_OR_RETURN(std::optional<Call> call, ResolveCall(*plan_, results_.size(), results_));
    if (call) {
      place_[results_.size()] = static_cast<int32_t>(resolved_.calls.size());
      resolved_.calls.push_back({*call, {}, {}});
      return call;
    }
    results_.emplace_back();
  }
  return std::optional<Call>();
}

Result<void> PlanRun::Give(Json result) {
  const PlannedCall& planned = plan_->calls[results_.size()];
  ResolvedPlan::Made& made = resolved_.calls.back();
  HONE_ASSIGN_OR_RETURN(const std::set<size_t> references, ReferencesOf(planned));
  for (const size_t reference : references) {
    if (place_[reference] >= 0) made.after.push_back(place_[reference]);
  }
  HONE_ASSIGN_OR_RETURN(made.accepted, Resolve(planned.accepted, results_));
  made.result = result;
  results_.emplace_back(std::move(result));
  return {};
}

Result<ResolvedPlan> PlanRun::Finish() {
  CHECK(results_.size() == plan_->calls.size(), "a plan that has calls to make");
  HONE_ASSIGN_OR_RETURN(resolved_.answer, ResolveAnswer(*plan_, results_));
  for (const Json& output : plan_->outputs) {
    HONE_ASSIGN_OR_RETURN(const Json value, Resolve(output, results_));
    resolved_.outputs.push_back(PlainText(value));
  }
  return std::move(resolved_);
}

Result<ResolvedPlan> CarryOut(const Plan& plan, const PerformCall& perform) {
  PlanRun run(&plan);
  while (true) {
    HONE_ASSIGN_OR_RETURN(const std::optional<Call> call, run.Next());
    if (!call) return run.Finish();
    HONE_ASSIGN_OR_RETURN(Json result, perform(*call));
    HONE_RETURN_IF_ERROR(run.Give(std::move(result)));
  }
}

void SetGold(const ResolvedPlan& gold, Task* task) {
  Json::Array calls;
  for (const ResolvedPlan::Made& made : gold.calls) {
    Json call = Json::Of({{"name", made.call.name}, {"arguments", made.call.arguments}});
    if (!made.accepted.is_null()) call.Set("accepted", made.accepted);
    if (!made.after.empty()) call.Set("after", Json::ArrayOf(made.after));
    calls.push_back(std::move(call));
  }
  // "reward": "number" is short for {"answer": "number"}.
  if (task->reward.is_string()) task->reward = Json::Of({{"answer", task->reward}});
  if (!task->reward.is_object()) task->reward = Json::Object();
  task->reward.Set("calls", std::move(calls));
  if (!gold.outputs.empty()) task->reward.Set("outputs", Json::ArrayOf(gold.outputs));
  task->answer = gold.answer ? Json(*gold.answer) : Json();
}

Result<std::optional<Plan>> PlanOf(const Task& task) {
  const Json* json = task.metadata.Find("plan");
  if (json == nullptr) return std::optional<Plan>();
  HONE_ASSIGN_OR_RETURN(Plan plan, PlanFromJson(*json));
  return std::optional<Plan>(std::move(plan));
}

}  // namespace hone
