#include "rewards/component_pays.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "base/nearest.h"
#include "record/reward_terms.h"

namespace hone {
namespace {

// Those that a recipe's rules decide.
const std::vector<std::string>& Weighed() {
  static const std::vector<std::string> names = {kWhenTerm,      kWhichTerm,     kSyntaxTerm,
                                                 kExecutionTerm, kArgumentsTerm, kOutcomeTerm};
  return names;
}

}  // namespace

Result<std::map<std::string, double>> WeightsFrom(const std::vector<std::string>& texts) {
  std::map<std::string, double> weights;
  for (const std::string& text : texts) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    const char *begin = text.data() + std::min(equals + 1, text.size()),
               *end = text.data() + text.size();
    double weight = 0;
    const auto read = std::from_chars(begin, end, weight);
    if (std::find(Weighed().begin(), Weighed().end(), name) == Weighed().end()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("\"{}\" is none of the components that weigh: {}{}", name,
                               fmt::join(Weighed(), ", "), DidYouMean(name, Weighed())));
    }
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(weight) || weight < 0 ||
        !weights.emplace(name, weight).second) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("\"{}\" must be component=weight, with a weight from 0 on, each "
                               "component once",
                               text));
    }
  }
  return weights;
}

std::vector<std::string> ToTexts(const std::map<std::string, double>& weights) {
  std::vector<std::string> texts;
  for (const auto& [name, weight] : weights) {
    texts.push_back(fmt::format("{}={}", name, ShortestReal(weight)));
  }
  return texts;
}

}  // namespace hone
