#include "tools/toolbox.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"

namespace hone {

bool MayRepeat(const ToolSpec& spec, Sharing sharing) {
  if (spec.effect == Effect::kPure || spec.effect == Effect::kReads) return true;
  return spec.resource == kSessionResource &&
         (sharing == Sharing::kClone || sharing == Sharing::kReplay);
}

Result<Toolbox> Toolbox::Of(std::vector<Kit> kits) {
  Toolbox box;
  for (size_t k = 0; k < kits.size(); ++k) {
    for (ToolSpec spec : kits[k].toolkit->tools()) {
      spec.assert_format = spec.assert_format || kits[k].limits.assert_format;
      HONE_ASSIGN_OR_RETURN(ArgumentChecker checker, ArgumentChecker::For(spec));
      if (!box.by_name_.emplace(spec.name, box.tools_.size()).second) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("two tools are called \"{}\"; give one of their toolkits a prefix",
                                 spec.name));
      }
      box.tools_.push_back(
          {spec, std::move(checker), k, MayRepeat(spec, kits[k].toolkit->sharing())});
    }
  }
  box.kits_ = std::move(kits);
  return box;
}

Toolbox Toolbox::Joined(const std::vector<std::shared_ptr<const Toolbox>>& boxes) {
  Toolbox all;
  std::map<const Toolkit*, size_t> places;
  for (const auto& box : boxes) {
    for (const Kit& kit : box->kits()) {
      if (places.emplace(kit.toolkit.get(), all.kits_.size()).second) all.kits_.push_back(kit);
    }
    for (Tool tool : box->tools()) {
      tool.kit = places.at(box->kits()[tool.kit].toolkit.get());
      const auto [known, fresh] = all.by_name_.emplace(tool.spec.name, all.tools_.size());
      if (fresh) {
        all.tools_.push_back(std::move(tool));
      } else if (all.tools_[known->second].kit != tool.kit) {
        all.ambiguous_.push_back(tool.spec.name);
      }
    }
  }
  return all;
}

Toolbox Toolbox::Only(const std::vector<std::string>& names) const {
  Toolbox some;
  some.kits_ = kits_;
  for (const Tool& tool : tools_) {
    const bool wanted = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      if (!name.ends_with('*')) return name == tool.spec.name;
      return tool.spec.name.starts_with(name.substr(0, name.size() - 1));
    });
    if (!wanted) continue;
    some.by_name_.emplace(tool.spec.name, some.tools_.size());
    some.tools_.push_back(tool);
  }
  return some;
}

const Toolbox::Tool* Toolbox::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tools_[found->second];
}

std::string Toolbox::UnknownTool(std::string_view name) const {
  if (tools_.empty()) return fmt::format("there is no tool \"{}\": there are no tools", name);
  std::vector<std::string> names;
  for (const Tool& tool : tools_) names.push_back(tool.spec.name);
  // A catalogue of thousands would drown the message.
  constexpr size_t kListed = 20;
  const std::string suggestion = DidYouMean(name, names);
  const size_t left = names.size() > kListed ? names.size() - kListed : 0;
  names.resize(std::min(names.size(), kListed));
  return fmt::format("there is no tool \"{}\"{}; there are: {}{}", name.substr(0, 100), suggestion,
                     fmt::join(names, ", "), left > 0 ? fmt::format(" and {} more", left) : "");
}

}  // namespace hone
