#include "evaluate/forgetting.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/rng.h"

namespace hone {
namespace {

constexpr std::string_view kPrefix = "stage-", kSuffix = "/dev/sampled";

// "2 rl" of "stage-2-rl/dev/sampled"; nothing of other names.
std::optional<std::string> StageIn(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  std::string stage(name);
  if (const size_t dash = stage.find('-'); dash != std::string::npos) stage[dash] = ' ';
  return stage;
}

std::string OutcomesIn(const Json& evaluation, std::string_view environment) {
  const Json* groups = evaluation.Find("environments");
  const Json* one = groups == nullptr ? nullptr : groups->Find(environment);
  const Json* outcomes = one == nullptr ? nullptr : one->Find("outcomes");
  return outcomes != nullptr && outcomes->is_string() ? outcomes->AsString() : "";
}

// The evaluations after stages that tell environments apart, in the order of the stages.
std::vector<std::pair<std::string, const Json*>> AfterStages(const Json& evaluations) {
  std::vector<std::pair<std::string, const Json*>> made;
  if (!evaluations.is_object()) return made;
  for (const auto& [name, evaluation] : evaluations.AsObject()) {
    const std::optional<std::string> stage = StageIn(name);
    if (stage && !GroupsIn(&evaluation, "environments").empty()) {
      made.emplace_back(*stage, &evaluation);
    }
  }
  return made;
}

std::optional<FigureCell> MeanOfKnown(const std::vector<std::optional<double>>& values,
                                      const std::string& environment) {
  std::vector<double> known;
  for (const std::optional<double>& value : values) {
    if (value) known.push_back(*value);
  }
  const std::vector<double> ones(known.size(), 1);
  const std::optional<Interval> mean =
      BootstrapRatio(known, ones, Rng(0).Split("forgetting").Split(environment));
  if (!mean) return std::nullopt;
  return FigureCell{.value = mean->value, .interval = mean};
}

}  // namespace

std::string StageEvaluation(size_t number, std::string_view kind) {
  return fmt::format("{}{}-{}", kPrefix, number + 1, kind);
}

std::map<std::string, double> DevValues(const Json& evaluations) {
  std::map<std::string, double> values;
  for (const char* how : {"sampled", "greedy"}) {
    const Json* made = evaluations.Find(fmt::format("dev/dev/{}", how));
    const std::string name = fmt::format("dev/{}", how);
    if (const auto success = FigureIn(made, "success")) values[name] = success->value;
    for (const std::string& environment : GroupsIn(made, "environments")) {
      if (const auto success = GroupIn(made, "environments", environment)) {
        values[fmt::format("{}/{}", name, environment)] = success->value;
      }
    }
  }
  return values;
}

void KeepDevAs(std::string_view name, Json* evaluations) {
  for (const char* how : {"sampled", "greedy"}) {
    const Json* made = evaluations->Find(fmt::format("dev/dev/{}", how));
    if (made == nullptr) continue;
    Json copy = *made;
    evaluations->Set(fmt::format("{}/dev/{}", name, how), std::move(copy));
  }
}

std::vector<std::optional<double>> ForgottenByTask(const Json& evaluations,
                                                   std::string_view environment) {
  const auto made = AfterStages(evaluations);
  const Json* best = nullptr;
  double most = 0;
  for (size_t i = 0; i + 1 < made.size(); ++i) {
    const std::optional<FigureCell> cell = GroupIn(made[i].second, "environments", environment);
    if (!cell || (best != nullptr && cell->value <= most)) continue;
    best = made[i].second;
    most = cell->value;
  }
  if (best == nullptr) return {};
  const std::string before = OutcomesIn(*best, environment);
  const std::string after = OutcomesIn(*made.back().second, environment);
  std::vector<std::optional<double>> lost;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const bool known = before[i] != '-' && after[i] != '-';
    lost.push_back(known ? std::optional<double>(before[i] - after[i]) : std::nullopt);
  }
  return lost;
}

ForgettingTable ForgettingOf(const Json& evaluations) {
  ForgettingTable table;
  const auto made = AfterStages(evaluations);
  if (made.empty()) return table;
  for (const auto& [stage, evaluation] : made) table.stages.push_back(stage);
  const Json& last = *made.back().second;
  if (const Json* tasks = last.Find("tasks"); tasks != nullptr && tasks->is_integer()) {
    table.tasks = tasks->AsInteger();
  }
  for (const std::string& environment : GroupsIn(&last, "environments")) {
    ForgettingRow row{.environment = environment};
    for (const auto& [stage, evaluation] : made) {
      row.after.push_back(GroupIn(evaluation, "environments", environment));
    }
    row.forgotten = MeanOfKnown(ForgottenByTask(evaluations, environment), environment);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json ToJson(const ForgettingTable& table) {
  if (table.rows.empty()) return {};
  Json environments{Json::Object()};
  for (const ForgettingRow& row : table.rows) {
    Json::Array after;
    for (const auto& cell : row.after) after.push_back(cell ? Json(cell->value) : Json());
    environments.Set(
        row.environment,
        Json::Of({{"after", std::move(after)},
                  {"forgotten", IntervalJson(row.forgotten ? row.forgotten->interval
                                                           : std::optional<Interval>())}}));
  }
  return Json::Of({{"stages", Json::ArrayOf(table.stages)},
                   {"tasks", table.tasks},
                   {"environments", std::move(environments)}});
}

}  // namespace hone
