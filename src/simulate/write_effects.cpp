#include "simulate/write_effects.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/hash.h"
#include "base/json_fields.h"
#include "simulate/result_check.h"
#include "simulate/written_facts.h"

namespace hone {
namespace {

using EarlierWrite = Sessions::EarlierWrite;

constexpr int64_t kLeastPairs = 3;         // that a rule must be borne out by
constexpr double kLeastShownShare = 0.99;  // of the pairs that show the place

constexpr std::array<std::string_view, 6> kKindNames = {"same", "argument", "answer",
                                                        "plus", "minus",    "constant"};

// Members of an answer by place, and members inside members by path ("item.price").
using Members = std::map<std::string, Json>;

void FlattenMembers(const Json& object, const std::string& prefix, Members* out) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.AsObject()) {
    if (value.is_object()) FlattenMembers(value, prefix + name + ".", out);
    (*out)[prefix + name] = value;
  }
}

// Whether an argument of the write names this object.
bool Names(const Json& arguments, const Json& object) {
  for (const auto& [name, value] : arguments.AsObject()) {
    const Json* member = object.Find(name);
    if (member != nullptr && *member == value && IsIdentifying(name, value)) return true;
  }
  return false;
}

bool IsListOfObjects(const Json& value) {
  if (!value.is_array() || value.AsArray().empty()) return false;
  for (const Json& item : value.AsArray()) {
    if (!item.is_object()) return false;
  }
  return true;
}

// Visits every place of an answer with its value before and (where there is one) after. False when
// the two are not of one shape.
using VisitPlace = std::function<bool(const std::string& place, Json* now, const Json* after)>;
bool ForPlaces(const Json& arguments, Json* now, const Json* after, const VisitPlace& visit) {
  if (!now->is_object() ||
      (after != nullptr &&
       (!after->is_object() || after->AsObject().size() != now->AsObject().size()))) {
    return false;
  }
  for (auto& [name, value] : now->AsObject()) {
    const Json* later = after == nullptr ? nullptr : after->Find(name);
    if (after != nullptr && later == nullptr) return false;
    if (!IsListOfObjects(value)) {
      if (!visit(name, &value, later)) return false;
      continue;
    }
    if (later != nullptr &&
        (!IsListOfObjects(*later) || later->AsArray().size() != value.AsArray().size())) {
      return false;
    }
    for (size_t i = 0; i < value.AsArray().size(); ++i) {
      Json& item = value.AsArray()[i];
      const bool named = Names(arguments, item);
      for (auto& [member, inner] : item.AsObject()) {
        const Json* inner_later = later == nullptr ? nullptr : later->AsArray()[i].Find(member);
        if (later != nullptr && inner_later == nullptr) return false;
        if (!visit(name + (named ? "[*]." : "[-].") + member, &inner, inner_later)) return false;
      }
    }
  }
  return true;
}

// What a rule makes of a value; nothing when it does not apply.
std::optional<Json> Applied(const EffectRule& rule, const Json& before, const Json& arguments,
                            const Members& answer) {
  switch (rule.kind) {
    case EffectRule::Kind::kSame: return before;
    case EffectRule::Kind::kConstant: return rule.value;
    case EffectRule::Kind::kArgument: {
      const Json* value = arguments.Find(rule.name);
      if (value == nullptr) return std::nullopt;
      return *value;
    }
    default: break;
  }
  const auto found = answer.find(rule.name);
  if (found == answer.end()) return std::nullopt;
  if (rule.kind == EffectRule::Kind::kAnswer) return found->second;
  if (!found->second.is_integer() || !before.is_integer()) return std::nullopt;
  const int64_t by = found->second.AsInteger(), from = before.AsInteger();
  int64_t now = 0;
  const bool overflows = rule.kind == EffectRule::Kind::kPlus
                             ? __builtin_add_overflow(from, by, &now)
                             : __builtin_sub_overflow(from, by, &now);
  if (overflows) return std::nullopt;
  return Json(now);
}

// The rules that could explain one change, the simplest first.
std::vector<EffectRule> Candidates(const Json& arguments, const Members& answer,
                                   const Json& after) {
  using Kind = EffectRule::Kind;
  std::vector<EffectRule> candidates = {{.kind = Kind::kSame}};
  for (const auto& [name, value] : arguments.AsObject()) {
    candidates.push_back({.kind = Kind::kArgument, .name = name});
  }
  for (const Kind kind : {Kind::kAnswer, Kind::kMinus, Kind::kPlus}) {
    for (const auto& [name, value] : answer) candidates.push_back({.kind = kind, .name = name});
  }
  candidates.push_back({.kind = Kind::kConstant, .value = after});
  return candidates;
}

// A read before and after one write.
struct Change {
  const EarlierWrite* write = nullptr;
  Json before, after;
};

// What was seen at one place.
struct Evidence {
  Json before, after, arguments;
  Members answer;
};

// The simplest rule that bears out, tried in the order in which candidates come up.
std::optional<EffectRule> RuleFor(const std::vector<Evidence>& evidence) {
  auto share = [&](const EffectRule& rule) {
    int64_t right = 0;
    for (const Evidence& seen : evidence) {
      const auto made = Applied(rule, seen.before, seen.arguments, seen.answer);
      right += made && *made == seen.after;
    }
    return static_cast<double>(right) / static_cast<double>(evidence.size());
  };
  for (const Evidence* sample : {&evidence.front(), &evidence[evidence.size() / 2]}) {
    for (const EffectRule& rule : Candidates(sample->arguments, sample->answer, sample->after)) {
      const auto made = Applied(rule, sample->before, sample->arguments, sample->answer);
      if (made && *made == sample->after && share(rule) >= kLeastShownShare) return rule;
    }
  }
  return std::nullopt;
}

// The rules of one write tool and one read tool; empty when they are not known for every place.
std::map<std::string, EffectRule> RulesFor(std::vector<Change>& changes) {
  std::map<std::string, std::vector<Evidence>> places;
  for (Change& change : changes) {
    Members answer;
    FlattenMembers(ValueOf(change.write->content), "", &answer);
    const bool same_shape =
        ForPlaces(change.write->arguments, &change.before, &change.after,
                  [&](const std::string& place, Json* before, const Json* after) {
                    places[place].push_back({*before, *after, change.write->arguments, answer});
                    return true;
                  });
    if (!same_shape) return {};
  }
  std::map<std::string, EffectRule> rules;
  for (const auto& [place, evidence] : places) {
    std::optional<EffectRule> rule = RuleFor(evidence);
    if (!rule) return {};
    rules.emplace(place, *std::move(rule));
  }
  return rules;
}

}  // namespace

std::string QuestionHash(uint64_t environment_seed, const std::string& tool, const Json& arguments,
                         std::span<const EarlierWrite> writes) {
  std::string text = std::to_string(environment_seed) + " " + tool + " " +
                     DumpJson(arguments, JsonStyle::kCanonical);
  for (const EarlierWrite& write : writes) {
    text += "\n" + write.tool + " " + DumpJson(write.arguments, JsonStyle::kCanonical) + " " +
            std::string(CallStatusName(write.status)) + " " + write.content;
  }
  return Sha256Hex(text);
}

RecordedStates::RecordedStates(std::span<const RecordedCall> calls) {
  for (const RecordedCall& call : calls) {
    by_question_.emplace(
        QuestionHash(call.environment_seed, call.tool, call.arguments, call.writes), &call.answer);
  }
}

const PlayedResult* RecordedStates::Find(uint64_t environment_seed, const std::string& tool,
                                         const Json& arguments,
                                         std::span<const EarlierWrite> writes) const {
  const auto found = by_question_.find(QuestionHash(environment_seed, tool, arguments, writes));
  return found == by_question_.end() ? nullptr : found->second;
}

std::optional<PlayedResult> RecordedStates::Now(uint64_t environment_seed, const std::string& tool,
                                                const Json& arguments,
                                                std::span<const EarlierWrite> writes,
                                                const WriteEffects& effects) const {
  for (size_t known = writes.size() + 1; known-- > 0;) {
    const PlayedResult* answer = Find(environment_seed, tool, arguments, writes.first(known));
    if (answer != nullptr) return effects.After(tool, *answer, writes.subspan(known));
  }
  return std::nullopt;
}

WriteEffects LearnEffects(std::span<const RecordedCall> calls) {
  const RecordedStates states(calls);
  std::map<std::pair<std::string, std::string>, std::vector<Change>> changes;
  std::map<std::string, std::map<std::string, std::pair<int64_t, int64_t>>> echoes;  // right, all
  for (const RecordedCall& call : calls) {
    if (call.answer.status != CallStatus::kOk || !call.arguments.is_object()) continue;
    const Json shown = ValueOf(call.answer.content);
    for (const auto& [name, value] : call.arguments.AsObject()) {
      const Json* member = shown.Find(name);
      auto& [right, all] = echoes[call.tool][name];
      ++all;
      right += member != nullptr && *member == value;
    }
    if (call.writes.empty()) continue;
    const std::span<const EarlierWrite> earlier =
        std::span(call.writes).first(call.writes.size() - 1);
    const PlayedResult* before =
        states.Find(call.environment_seed, call.tool, call.arguments, earlier);
    if (before == nullptr || before->status != CallStatus::kOk) continue;
    changes[{call.writes.back().tool, call.tool}].push_back(
        {&call.writes.back(), ValueOf(before->content), shown});
  }
  WriteEffects effects;
  for (auto& [tools, seen] : changes) {
    if (static_cast<int64_t>(seen.size()) < kLeastPairs) continue;
    std::map<std::string, EffectRule> rules = RulesFor(seen);
    if (!rules.empty()) effects.rules.emplace(tools, std::move(rules));
  }
  for (const auto& [tool, names] : echoes) {
    for (const auto& [name, count] : names) {
      if (count.second >= kLeastPairs && static_cast<double>(count.first) >=
                                             kLeastShownShare * static_cast<double>(count.second)) {
        effects.echoes[tool].push_back(name);
      }
    }
  }
  return effects;
}

std::optional<PlayedResult> WriteEffects::After(const std::string& read, const PlayedResult& before,
                                                std::span<const EarlierWrite> writes) const {
  PlayedResult answer = before;
  if (before.status != CallStatus::kOk) return answer;
  Json value = ValueOf(before.content);
  for (const EarlierWrite& write : writes) {
    const auto found = rules.find({write.tool, read});
    if (found == rules.end() || !write.arguments.is_object()) return std::nullopt;
    Members members;
    FlattenMembers(ValueOf(write.content), "", &members);
    const bool explained = ForPlaces(
        write.arguments, &value, nullptr, [&](const std::string& place, Json* now, const Json*) {
          const auto rule = found->second.find(place);
          if (rule == found->second.end()) return false;
          std::optional<Json> made = Applied(rule->second, *now, write.arguments, members);
          if (made) *now = *std::move(made);
          return made.has_value();
        });
    if (!explained) return std::nullopt;
  }
  if (!writes.empty()) answer.content = DumpJson(value);
  return answer;
}

PlayedResult WriteEffects::Echoed(const std::string& tool, const Json& arguments,
                                  PlayedResult answer) const {
  const auto found = echoes.find(tool);
  if (found == echoes.end() || answer.status != CallStatus::kOk) return answer;
  Json value = ValueOf(answer.content);
  bool changed = false;
  for (const std::string& name : found->second) {
    const Json *said = value.Find(name), *given = arguments.Find(name);
    if (said == nullptr || given == nullptr || *said == *given) continue;
    value.Set(name, *given);
    changed = true;
  }
  if (changed) answer.content = DumpJson(value);
  return answer;
}

Json WriteEffects::ToJson() const {
  Json::Array list;
  for (const auto& [tools, places] : rules) {
    for (const auto& [place, rule] : places) {
      list.push_back(Json::Of({{"write", tools.first},
                               {"read", tools.second},
                               {"place", place},
                               {"kind", kKindNames[static_cast<size_t>(rule.kind)]},
                               {"name", rule.name},
                               {"value", rule.value}}));
    }
  }
  Json repeated = Json::Of({});
  for (const auto& [tool, names] : echoes) repeated.Set(tool, Json::ArrayOf(names));
  return Json::Of({{"rules", std::move(list)}, {"echoes", std::move(repeated)}});
}

Result<WriteEffects> WriteEffects::FromJson(const Json& json) {
  WriteEffects effects;
  std::vector<Json> list;
  Json repeated;
  JsonErrors errors;
  {
    JsonFields fields(json, "effects", &errors);
    fields.Required("rules", &list);
    fields.Required("echoes", &repeated);
  }
  for (size_t i = 0; i < list.size(); ++i) {
    std::string write, read, place, kind;
    EffectRule rule;
    JsonFields fields(list[i], "effects.rules[" + std::to_string(i) + "]", &errors);
    fields.Required("write", &write);
    fields.Required("read", &read);
    fields.Required("place", &place);
    fields.Required("kind", &kind);
    fields.Required("name", &rule.name);
    fields.Required("value", &rule.value);
    const auto named = std::find(kKindNames.begin(), kKindNames.end(), kind);
    if (named == kKindNames.end()) {
      errors.Add(fields.PathOf("kind"), "is not a kind of rule");
      continue;
    }
    rule.kind = static_cast<EffectRule::Kind>(named - kKindNames.begin());
    effects.rules[{write, read}][place] = std::move(rule);
  }
  if (repeated.is_object()) {
    for (const auto& [tool, names] : repeated.AsObject()) {
      ReadJson(names, "effects.echoes." + tool, &errors, &effects.echoes[tool]);
    }
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  return effects;
}

}  // namespace hone
