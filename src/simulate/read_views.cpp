#include "simulate/read_views.h"

#include <algorithm>
#include <tuple>

#include "simulate/result_check.h"
#include "simulate/written_facts.h"

namespace hone {
namespace {

bool Writes(const ToolSpec& spec) {
  return spec.effect == Effect::kWrites || spec.effect == Effect::kIrreversible;
}

std::vector<std::string> RequiredOf(const ToolSpec& spec) {
  std::vector<std::string> names;
  const Json* required = spec.parameters.Find("required");
  if (required == nullptr || !required->is_array()) return names;
  for (const Json& name : required->AsArray()) {
    if (name.is_string()) names.push_back(name.AsString());
  }
  return names;
}

// Reads before writes, the general before the particular.
std::tuple<bool, size_t, std::string> RankOf(const ToolSpec& spec) {
  return {Writes(spec), RequiredOf(spec).size(), spec.name};
}

// A member of this name in an object that an argument of the call names.
const Json* MemberOfNamed(const Json& value, const Json& arguments, const std::string& name) {
  if (value.is_array()) {
    for (const Json& item : value.AsArray()) {
      if (const Json* found = MemberOfNamed(item, arguments, name)) return found;
    }
  }
  if (!value.is_object()) return nullptr;
  for (const auto& [key, member] : value.AsObject()) {
    if (const Json* found = MemberOfNamed(member, arguments, name)) return found;
  }
  const Json* own = value.Find(name);
  if (own == nullptr) return nullptr;
  for (const auto& [key, argument] : arguments.AsObject()) {
    const Json* member = value.Find(key);
    if (member != nullptr && *member == argument && IsIdentifying(key, argument)) return own;
  }
  return nullptr;
}

}  // namespace

std::vector<const Toolbox::Tool*> ViewTools(const Toolbox& toolbox, const ToolSpec& spec) {
  std::vector<const Toolbox::Tool*> views;
  const Toolbox::Tool* own = toolbox.Find(spec.name);
  if (spec.effect == Effect::kPure || spec.resource.empty() || own == nullptr) return views;
  for (const Toolbox::Tool& tool : toolbox.tools()) {
    if (tool.spec.effect != Effect::kReads || tool.spec.resource != spec.resource) continue;
    if (spec.resource == kSessionResource && tool.kit != own->kit) continue;
    if (RequiredOf(tool.spec).empty() || !(RankOf(tool.spec) < RankOf(spec))) continue;
    views.push_back(&tool);
  }
  std::sort(views.begin(), views.end(), [](const Toolbox::Tool* a, const Toolbox::Tool* b) {
    return RankOf(a->spec) < RankOf(b->spec);
  });
  return views;
}

std::optional<Json> ViewArguments(const Toolbox::Tool& view, const Json& arguments,
                                  std::span<const KnownResult> known) {
  if (!arguments.is_object()) return std::nullopt;
  Json chosen = Json::Of({});
  for (const std::string& name : RequiredOf(view.spec)) {
    const Json* value = arguments.Find(name);
    for (size_t i = 0; value == nullptr && i < known.size(); ++i) {
      if (known[i].answer.status != CallStatus::kOk) continue;
      const Json shown = ValueOf(known[i].answer.content);
      if (const Json* found = MemberOfNamed(shown, arguments, name)) {
        chosen.Set(name, *found);
        break;
      }
    }
    if (value != nullptr) chosen.Set(name, *value);
    if (chosen.Find(name) == nullptr) return std::nullopt;
  }
  if (view.checker.Problem(chosen)) return std::nullopt;
  return chosen;
}

std::vector<KnownResult> AskViews(const Toolbox& toolbox, const ToolSpec& spec,
                                  const Json& arguments, const AskView& ask) {
  const std::vector<const Toolbox::Tool*> tools = ViewTools(toolbox, spec);
  std::vector<KnownResult> known;
  std::vector<bool> asked(tools.size(), false);
  // First what the arguments name, then what is named by what that showed.
  for (const bool by_arguments : {true, false}) {
    const std::vector<KnownResult> before = by_arguments ? std::vector<KnownResult>() : known;
    for (size_t i = 0; i < tools.size(); ++i) {
      if (asked[i]) continue;
      const std::optional<Json> chosen = ViewArguments(*tools[i], arguments, before);
      if (!chosen) continue;
      asked[i] = true;
      if (std::optional<PlayedResult> answer = ask(tools[i]->spec, *chosen)) {
        known.push_back({tools[i]->spec.name, *chosen, *std::move(answer)});
      }
    }
  }
  return known;
}

}  // namespace hone
