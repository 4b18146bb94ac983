#include "learn/shares.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/nearest.h"

namespace hone {

bool ReadShare(std::string_view text, bool zero, Shares* shares) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  double weight = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + equals + 1, end, weight);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(weight) || weight < 0 ||
      (weight == 0 && !zero)) {
    return false;
  }
  return shares->emplace(text.substr(0, equals), weight).second;
}

Shares ReadShares(RecipeTable* table, std::string_view key, std::string_view comment,
                  const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  table->Read(key, &texts, comment);
  Shares shares;
  for (const std::string& text : texts) {
    if (!ReadShare(text, false, &shares)) {
      table->Problem(key, fmt::format("\"{}\" must be name=weight, with a weight above 0, each "
                                      "name once",
                                      text));
    }
  }
  for (const auto& [name, weight] : shares) {
    if (names.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    table->Problem(key, fmt::format("there is no \"{}\"{}", name, DidYouMean(name, names)));
  }
  return shares;
}

}  // namespace hone
