#include "tools/toolbox.h"

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
    for (const ToolSpec& spec : kits[k].toolkit->tools()) {
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
