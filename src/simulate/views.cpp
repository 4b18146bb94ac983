#include "simulate/views.h"

#include <algorithm>
#include <tuple>

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

}  // namespace

std::vector<View> ViewsOf(const Toolbox& toolbox, const ToolSpec& spec, const Json& arguments,
                          bool itself) {
  std::vector<View> views;
  const Toolbox::Tool* own = toolbox.Find(spec.name);
  if (spec.effect == Effect::kPure || own == nullptr) return views;
  for (const Toolbox::Tool& tool : toolbox.tools()) {
    const ToolSpec& other = tool.spec;
    if (other.effect != Effect::kReads || other.resource != spec.resource) continue;
    if (spec.resource == kSessionResource && tool.kit != own->kit) continue;
    if (spec.resource.empty() || !(RankOf(other) < RankOf(spec))) continue;
    const std::vector<std::string> required = RequiredOf(other);
    if (required.empty()) continue;
    Json chosen = Json::Of({});
    for (const std::string& name : required) {
      const Json* value = arguments.Find(name);
      if (value == nullptr) break;
      chosen.Set(name, *value);
    }
    // A value that the other tool would refuse shows nothing.
    if (chosen.AsObject().size() != required.size() || tool.checker.Problem(chosen)) continue;
    views.push_back({&other, std::move(chosen)});
  }
  std::sort(views.begin(), views.end(),
            [](const View& a, const View& b) { return RankOf(*a.spec) < RankOf(*b.spec); });
  if (itself) views.push_back({&spec, arguments});
  return views;
}

}  // namespace hone
