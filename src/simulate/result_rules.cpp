#include "simulate/result_rules.h"

#include <algorithm>
#include <set>

#include "base/json_fields.h"
#include "simulate/result_check.h"
#include "simulate/written_facts.h"

namespace hone {
namespace {

constexpr size_t kLeastCalls = 20;         // that a rule must be borne out by
constexpr double kLeastRightShare = 0.99;  // of those that it speaks of
// Of the calls that a reason to refuse speaks of. What is known can be out of date: an item may be
// in stock again since the product was looked at.
constexpr double kLeastRefused = 0.95;
constexpr size_t kMostValues = 12;  // of a fact that refusals may hang on

bool IsScalar(const Json& value) { return !value.is_object() && !value.is_array(); }

// The object of a list that the arguments name: by something that identifies it, or else the only
// one that has a value of theirs.
const Json* NamedIn(const Json::Array& list, const Json& arguments) {
  for (const bool identifying : {true, false}) {
    const Json* found = nullptr;
    bool several = false;
    for (const Json& item : list) {
      if (!item.is_object()) return nullptr;
      for (const auto& [name, value] : arguments.AsObject()) {
        const Json* member = item.Find(name);
        if (member == nullptr || !(*member == value)) continue;
        if (identifying != IsIdentifying(name, value)) continue;
        several |= found != nullptr && found != &item;
        found = &item;
      }
    }
    if (found != nullptr && !several) return found;
    // An argument that identifies such objects names one or none.
    const bool could = identifying && !list.empty() &&
                       std::any_of(arguments.AsObject().begin(), arguments.AsObject().end(),
                                   [&](const auto& argument) {
                                     return list[0].Find(argument.first) != nullptr &&
                                            IsIdentifying(argument.first, argument.second);
                                   });
    if (could) return nullptr;
  }
  return nullptr;
}

// Scalars of an object by path: "total", "item.price".
void FlattenScalars(const Json& object, const std::string& prefix,
                    std::map<std::string, Json>* out) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.AsObject()) {
    if (value.is_object()) {
      FlattenScalars(value, prefix + name + ".", out);
    } else if (IsScalar(value)) {
      (*out)[prefix + name] = value;
    }
  }
}

Json* FindPath(Json* object, const std::string& path) {
  const size_t dot = path.find('.');
  if (!object->is_object()) return nullptr;
  for (auto& [name, value] : object->AsObject()) {
    if (name == path.substr(0, dot)) {
      return dot == std::string::npos ? &value : FindPath(&value, path.substr(dot + 1));
    }
  }
  return nullptr;
}

// The sum of a member ("items[].price") over a list of an answer.
std::optional<int64_t> SumOver(const Json& answer, const std::string& place) {
  const size_t brackets = place.find("[].");
  const Json* list = answer.Find(place.substr(0, brackets));
  if (brackets == std::string::npos || list == nullptr || !list->is_array()) return std::nullopt;
  int64_t sum = 0;
  for (const Json& item : list->AsArray()) {
    const Json* member = item.Find(place.substr(brackets + 3));
    if (member == nullptr || !member->is_integer()) return std::nullopt;
    sum += member->AsInteger();
  }
  return sum;
}

// What a rule makes of facts; nothing when one is missing, or is no number to be added.
std::optional<Json> ValueBy(const AnswerRule& rule, const CallFacts& facts, const Json& answer) {
  if (!rule.sum.empty()) {
    const std::optional<int64_t> sum = SumOver(answer, rule.sum);
    return sum ? std::optional<Json>(*sum) : std::nullopt;
  }
  if (rule.plus.size() == 1 && rule.minus.empty()) {
    const auto found = facts.find(rule.plus[0]);
    return found == facts.end() ? std::nullopt : std::optional<Json>(found->second);
  }
  int64_t sum = 0;
  for (const bool plus : {true, false}) {
    for (const std::string& name : plus ? rule.plus : rule.minus) {
      const auto found = facts.find(name);
      if (found == facts.end() || !found->second.is_integer()) return std::nullopt;
      sum += plus ? found->second.AsInteger() : -found->second.AsInteger();
    }
  }
  return Json(sum);
}

// A recorded call with what was known.
struct Case {
  const RecordedCall* call = nullptr;
  CallFacts facts;
  Json answer;                          // of a call that was not refused
  std::map<std::string, Json> scalars;  // of the answer, by path
};

// Whether nearly all cases that the rule speaks of bear it out, and it speaks of half of them.
bool Holds(const AnswerRule& rule, const std::string& place,
           const std::vector<const Case*>& cases) {
  size_t spoken = 0, right = 0, all = 0;
  for (const Case* one : cases) {
    const auto said = one->scalars.find(place);
    if (said == one->scalars.end() || (!rule.sum.empty() && !one->call->writes.empty())) continue;
    ++all;
    const std::optional<Json> value = ValueBy(rule, one->facts, one->answer);
    if (!value) continue;
    ++spoken;
    right += *value == said->second;
  }
  return spoken >= kLeastCalls && 2 * spoken >= all &&
         static_cast<double>(right) >= kLeastRightShare * static_cast<double>(spoken);
}

// The rules that could explain one place of one case, the simplest first.
std::vector<AnswerRule> Candidates(const Case& one, const Json& value) {
  std::vector<AnswerRule> candidates;
  std::vector<std::string> numbers;
  for (const auto& [name, fact] : one.facts) {
    if (fact == value) candidates.push_back({.plus = {name}});
    if (fact.is_integer()) numbers.push_back(name);
  }
  if (!value.is_integer()) return candidates;
  for (const auto& [name, list] : one.answer.AsObject()) {
    if (!list.is_array() || list.AsArray().empty() || !list.AsArray()[0].is_object()) continue;
    for (const auto& [member, inner] : list.AsArray()[0].AsObject()) {
      if (inner.is_integer()) candidates.push_back({.sum = name + "[]." + member});
    }
  }
  for (const std::string& a : numbers) {
    for (const std::string& b : numbers) {
      candidates.push_back({.plus = {a}, .minus = {b}});
      for (const std::string& c : numbers) candidates.push_back({.plus = {a, c}, .minus = {b}});
    }
  }
  std::erase_if(candidates, [&](const AnswerRule& rule) {
    const std::optional<Json> made = ValueBy(rule, one.facts, one.answer);
    return !made || !(*made == value);
  });
  return candidates;
}

std::map<std::string, AnswerRule> PlacesOf(const std::vector<const Case*>& answered) {
  std::map<std::string, AnswerRule> rules;
  if (answered.empty()) return rules;
  // Two cases to take candidates from: the first may be one of the few exceptions.
  for (const Case* sample : {answered.front(), answered[answered.size() / 2]}) {
    for (const auto& [place, value] : sample->scalars) {
      if (rules.contains(place)) continue;
      for (const AnswerRule& rule : Candidates(*sample, value)) {
        if (!Holds(rule, place, answered)) continue;
        rules.emplace(place, rule);
        break;
      }
    }
  }
  return rules;
}

RefusalRules RefusalsOf(const std::vector<Case>& cases) {
  std::map<std::string, std::map<std::string, std::pair<size_t, size_t>>> counts;  // refused, all
  for (const Case& one : cases) {
    for (const auto& [name, value] : one.facts) {
      auto& [refused, all] = counts[name][DumpJson(value)];
      refused += one.call->answer.status != CallStatus::kOk;
      ++all;
    }
  }
  RefusalRules rules;
  for (const auto& [name, values] : counts) {
    if (values.size() > kMostValues) continue;
    RefusalRules::Values own;
    for (const auto& [value, count] : values) {
      const bool refused =
          count.second >= kLeastCalls &&
          static_cast<double>(count.first) >= kLeastRefused * static_cast<double>(count.second);
      (refused ? own.refused : own.others).push_back(*ParseJson(value));
    }
    if (!own.refused.empty()) rules.facts.emplace(name, std::move(own));
  }
  if (rules.facts.empty()) return rules;
  // What is left when none of them speaks.
  ResultRules trial;
  trial.refusals[""] = rules;
  trial.refusals[""].else_answered = true;
  size_t left = 0, answered = 0;
  for (const Case& one : cases) {
    if (trial.StatusOf("", one.facts) != CallStatus::kOk) continue;
    ++left;
    answered += one.call->answer.status == CallStatus::kOk;
  }
  rules.else_answered = left >= kLeastCalls &&
                        static_cast<double>(answered) >= kLeastRefused * static_cast<double>(left);
  return rules;
}

}  // namespace

CallFacts FactsOf(const std::string& tool, const Json& arguments,
                  std::span<const KnownResult> known) {
  CallFacts facts;
  if (!arguments.is_object()) return facts;
  for (const auto& [name, value] : arguments.AsObject()) {
    if (IsScalar(value)) facts["argument " + name] = value;
  }
  for (const KnownResult& answer : known) {
    if (answer.tool == tool) continue;  // what it said itself before it was written to
    if (answer.answer.status != CallStatus::kOk) {
      facts[answer.tool] = "refused";
      continue;
    }
    const Json shown = ValueOf(answer.answer.content);
    if (!shown.is_object()) continue;
    for (const auto& [name, value] : shown.AsObject()) {
      const std::string place = answer.tool + "." + name;
      if (IsScalar(value)) facts[place] = value;
      if (!value.is_array() || value.AsArray().empty() || !value.AsArray()[0].is_object()) continue;
      const Json* named = NamedIn(value.AsArray(), arguments);
      facts[place + "[*]"] = named != nullptr;
      if (named == nullptr) continue;
      for (const auto& [member, inner] : named->AsObject()) {
        if (IsScalar(inner)) facts[place + "[*]." + member] = inner;
      }
    }
  }
  return facts;
}

std::optional<CallStatus> ResultRules::StatusOf(const std::string& tool,
                                                const CallFacts& facts) const {
  const auto found = refusals.find(tool);
  if (found == refusals.end()) return std::nullopt;
  const auto among = [](const std::vector<Json>& values, const Json& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  bool nothing_new = true;
  for (const auto& [name, values] : found->second.facts) {
    const auto fact = facts.find(name);
    if (fact != facts.end() && among(values.refused, fact->second)) return CallStatus::kToolError;
    nothing_new &= fact != facts.end() && among(values.others, fact->second);
  }
  if (nothing_new && found->second.else_answered) return CallStatus::kOk;
  return std::nullopt;
}

PlayedResult ResultRules::PutRight(const std::string& tool, const CallFacts& facts, bool written,
                                   PlayedResult answer) const {
  const auto found = places.find(tool);
  if (found == places.end() || answer.status != CallStatus::kOk || !answer.problem.empty()) {
    return answer;
  }
  Json value = ValueOf(answer.content);
  bool changed = false;
  for (const auto& [place, rule] : found->second) {
    if (!rule.sum.empty() && written) continue;
    Json* said = FindPath(&value, place);
    const std::optional<Json> right = ValueBy(rule, facts, value);
    if (said == nullptr || !right || *said == *right) continue;
    *said = *right;
    changed = true;
  }
  if (changed) answer.content = DumpJson(value);
  return answer;
}

ResultRules LearnAnswerRules(std::span<const RecordedCall> calls) {
  std::map<std::string, std::vector<Case>> by_tool;
  for (const RecordedCall& call : calls) {
    Case one{.call = &call, .facts = FactsOf(call.tool, call.arguments, call.known)};
    if (call.answer.status == CallStatus::kOk) {
      one.answer = ValueOf(call.answer.content);
      FlattenScalars(one.answer, "", &one.scalars);
    }
    by_tool[call.tool].push_back(std::move(one));
  }
  ResultRules rules;
  for (const auto& [tool, cases] : by_tool) {
    std::vector<const Case*> answered;
    for (const Case& one : cases) {
      if (one.answer.is_object()) answered.push_back(&one);
    }
    auto places = PlacesOf(answered);
    if (!places.empty()) rules.places.emplace(tool, std::move(places));
    RefusalRules refusals = RefusalsOf(cases);
    if (!refusals.facts.empty()) rules.refusals.emplace(tool, std::move(refusals));
  }
  return rules;
}

Json ResultRules::ToJson() const {
  Json::Array place_list, refusal_list;
  for (const auto& [tool, rules] : places) {
    for (const auto& [place, rule] : rules) {
      place_list.push_back(Json::Of({{"tool", tool},
                                     {"place", place},
                                     {"plus", Json::ArrayOf(rule.plus)},
                                     {"minus", Json::ArrayOf(rule.minus)},
                                     {"sum", rule.sum}}));
    }
  }
  for (const auto& [tool, rules] : refusals) {
    Json::Object facts;
    for (const auto& [name, values] : rules.facts) {
      facts.emplace_back(
          name, Json::Of({{"refused", Json(values.refused)}, {"others", Json(values.others)}}));
    }
    refusal_list.push_back(Json::Of(
        {{"tool", tool}, {"facts", std::move(facts)}, {"else_answered", rules.else_answered}}));
  }
  return Json::Of({{"places", std::move(place_list)}, {"refusals", std::move(refusal_list)}});
}

Result<ResultRules> ResultRules::FromJson(const Json& json) {
  ResultRules rules;
  std::vector<Json> place_list, refusal_list;
  JsonErrors errors;
  {
    JsonFields fields(json, "rules", &errors);
    fields.Required("places", &place_list);
    fields.Required("refusals", &refusal_list);
  }
  for (size_t i = 0; i < place_list.size(); ++i) {
    std::string tool, place;
    AnswerRule rule;
    JsonFields fields(place_list[i], "rules.places[" + std::to_string(i) + "]", &errors);
    fields.Required("tool", &tool);
    fields.Required("place", &place);
    fields.Required("plus", &rule.plus);
    fields.Required("minus", &rule.minus);
    fields.Required("sum", &rule.sum);
    rules.places[tool][place] = std::move(rule);
  }
  for (size_t i = 0; i < refusal_list.size(); ++i) {
    std::string tool;
    Json facts;
    RefusalRules own;
    const std::string path = "rules.refusals[" + std::to_string(i) + "]";
    JsonFields fields(refusal_list[i], path, &errors);
    fields.Required("tool", &tool);
    fields.Required("facts", &facts);
    fields.Required("else_answered", &own.else_answered);
    if (facts.is_object()) {
      for (const auto& [name, values] : facts.AsObject()) {
        JsonFields value_fields(values, path + ".facts." + name, &errors);
        value_fields.Required("refused", &own.facts[name].refused);
        value_fields.Required("others", &own.facts[name].others);
      }
    }
    rules.refusals[tool] = std::move(own);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  return rules;
}

}  // namespace hone
