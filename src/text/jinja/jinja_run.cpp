#include "text/jinja/jinja_run.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone {

Result<std::vector<std::optional<JinjaValue>>> BindArguments(
    std::string_view function, const JinjaArguments& arguments,
    const std::vector<std::string_view>& parameters, size_t required) {
  const auto bad = [&](std::string problem) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("{}() {}", function, problem));
  };
  if (arguments.positional.size() > parameters.size()) {
    return bad(fmt::format("takes at most {} arguments, not {}", parameters.size(),
                           arguments.positional.size()));
  }
  std::vector<std::optional<JinjaValue>> bound(arguments.positional.begin(),
                                               arguments.positional.end());
  bound.resize(parameters.size());
  for (const auto& [name, value] : arguments.named) {
    const auto parameter = std::find(parameters.begin(), parameters.end(), name);
    if (parameter == parameters.end()) {
      return bad(fmt::format("has no parameter '{}'", name));
    }
    std::optional<JinjaValue>& place = bound[static_cast<size_t>(parameter - parameters.begin())];
    if (place) return bad(fmt::format("got the argument '{}' twice", name));
    place = value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (!bound[i]) return bad(fmt::format("wants the argument '{}'", parameters[i]));
  }
  return bound;
}

}  // namespace hone
