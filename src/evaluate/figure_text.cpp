#include "evaluate/figure_text.h"

#include <fmt/format.h>

#include "evaluate/measures.h"

namespace hone {
namespace {

std::optional<double> NumberIn(const Json* object, std::string_view name) {
  const Json* found = object == nullptr ? nullptr : object->Find(name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->AsDouble();
}

std::optional<Interval> IntervalIn(const Json* object, double value) {
  const auto low = NumberIn(object, "low"), high = NumberIn(object, "high");
  if (!low || !high) return std::nullopt;
  return Interval{value, *low, *high};
}

// On how many trajectories a figure rests; nothing: on all that count.
std::optional<int64_t> UnitsIn(const Json& evaluation, const Json* figure) {
  const auto units = NumberIn(figure, "trajectories");
  const auto tasks = NumberIn(&evaluation, "tasks"), samples = NumberIn(&evaluation, "samples");
  if (!units || !tasks || !samples) return std::nullopt;
  const double all = *tasks * *samples - NumberIn(&evaluation, "broken").value_or(0);
  return *units < all ? std::optional(static_cast<int64_t>(*units)) : std::nullopt;
}

bool IsShare(std::string_view name) {
  for (const FigureInfo& figure : KnownFigures()) {
    if (figure.name == name) return figure.part != "cost";
  }
  return false;
}

// What "all" calls a figure.
std::string_view ShortName(std::string_view name) {
  if (name == "calls") return "calls_per_task";
  if (name == "gold_calls") return "gold_calls_per_task";
  if (name == "wasted_calls") return "wasted_calls_per_task";
  return name;
}

}  // namespace

std::string FigureCell::Text() const {
  const double scale = share ? 100 : 1;
  const int digits = share ? 1 : 2;
  std::string text = fmt::format("{:.{}f}{}", scale * value, digits, share ? " %" : "");
  if (interval) {
    text += fmt::format(" [{:.{}f}, {:.{}f}]", scale * interval->low, digits,
                        scale * interval->high, digits);
  }
  if (of) text += fmt::format(" of {}", *of);
  return text;
}

std::optional<FigureCell> FigureIn(const Json* evaluation, std::string_view name) {
  if (evaluation == nullptr) return std::nullopt;
  if (const Json* figures = evaluation->Find("figures")) {
    const Json* figure = figures->Find(name);
    const std::optional<double> value = NumberIn(figure, "value");
    if (!value) return std::nullopt;
    const bool share = IsShare(name);
    return FigureCell{*value, IntervalIn(figure, *value), share,
                      share ? UnitsIn(*evaluation, figure) : std::nullopt};
  }
  const std::optional<double> value = NumberIn(evaluation->Find("all"), ShortName(name));
  if (!value) return std::nullopt;
  return FigureCell{*value, std::nullopt, IsShare(name)};
}

std::optional<FigureCell> GroupIn(const Json* evaluation, std::string_view groups,
                                  std::string_view name) {
  const Json* all = evaluation == nullptr ? nullptr : evaluation->Find(groups);
  const Json* group = all == nullptr ? nullptr : all->Find(name);
  const std::optional<double> value = NumberIn(group, "success");
  if (!value) return std::nullopt;
  return FigureCell{*value, IntervalIn(group, *value), true};
}

std::vector<std::string> GroupsIn(const Json* evaluation, std::string_view groups) {
  std::vector<std::string> names;
  const Json* all = evaluation == nullptr ? nullptr : evaluation->Find(groups);
  if (all == nullptr || !all->is_object()) return names;
  for (const auto& [name, group] : all->AsObject()) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

std::string TextOf(const std::optional<FigureCell>& cell) { return cell ? cell->Text() : "-"; }

}  // namespace hone
