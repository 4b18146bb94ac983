// What is compared, as JSON: reports for programs, and runs that a ledger keeps.

#include <fmt/format.h>

#include "base/json_fields.h"
#include "evaluate/compare/comparison.h"

namespace hone {
namespace {

Json Number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json Numbers(const std::vector<std::optional<double>>& values) {
  Json::Array array;
  for (const std::optional<double>& value : values) array.push_back(Number(value));
  return array;
}

Json KnownIntervalJson(const std::optional<Interval>& interval, bool known) {
  if (!interval) return Json();
  return Json::Of({{"value", interval->value},
                   {"low", known ? Json(interval->low) : Json()},
                   {"high", known ? Json(interval->high) : Json()}});
}

Json GoalJson(const GoalTimes& goal) {
  Json::Array seeds;
  for (const std::optional<Reached>& run : goal.by_seed) {
    seeds.push_back(run ? Json::Of({{"at", Number(run->at)}, {"watched", run->watched}}) : Json());
  }
  Json json = Json::Of({{"by_seed", std::move(seeds)}, {"ratio", Number(goal.ratio)}});
  if (goal.median) {
    json.Set("median", Json::Of({{"value", goal.median->value},
                                 {"later", goal.median->later},
                                 {"reached", goal.median->reached},
                                 {"runs", goal.median->runs}}));
  }
  if (goal.race) {
    json.Set("race", Json::Of({{"first", goal.race->a_first},
                               {"baseline_first", goal.race->b_first},
                               {"ties", goal.race->ties},
                               {"p", goal.race->p}}));
  }
  if (goal.log_rank) {
    json.Set("log_rank", Json::Of({{"observed", goal.log_rank->observed},
                                   {"expected", goal.log_rank->expected},
                                   {"variance", goal.log_rank->variance},
                                   {"chi_square", goal.log_rank->chi_square},
                                   {"p", goal.log_rank->p},
                                   {"swaps", goal.log_rank->swaps},
                                   {"exact", goal.log_rank->exact}}));
  }
  return json;
}

Json ControlsJson(const ComparedSection& section, const SectionReport& report) {
  Json::Array controls;
  for (size_t i = 0; i < section.controls.size(); ++i) {
    const Quantity& quantity = report.controls[i];
    Json::Object over;
    for (size_t arm = 0; arm < section.arms.size(); ++arm) {
      const Difference& difference = report.over_controls[arm][i];
      if (!difference.mean) continue;
      over.emplace_back(section.arms[arm].name,
                        KnownIntervalJson(difference.mean, difference.has_interval));
    }
    controls.push_back(
        Json::Of({{"name", section.controls[i].name},
                  {"label", section.controls[i].label},
                  {"greedy", section.controls[i].greedy},
                  {"success",
                   KnownIntervalJson(quantity.mean, quantity.has_interval)},  // null: not measured
                  {"by_seed", Numbers(quantity.by_seed)},
                  {"over", std::move(over)}}));
  }
  return controls;
}

}  // namespace

Json ToJson(const ComparedSection& section, const SectionReport& report) {
  Json::Array arms;
  for (size_t i = 0; i < section.arms.size(); ++i) {
    Json::Object quantities, differences;
    for (size_t k = 0; k < report.kinds.size(); ++k) {
      const Quantity& quantity = report.quantities[i][k];
      if (!quantity.mean) continue;
      Json value = KnownIntervalJson(quantity.mean, quantity.has_interval);
      value.Set("by_seed", Numbers(quantity.by_seed));
      value.Set("lowest", Number(quantity.lowest));
      quantities.emplace_back(report.kinds[k].name, std::move(value));
      if (i == section.baseline || !report.kinds[k].paired) continue;
      const Difference& difference = report.differences[i][k];
      if (!difference.mean) continue;
      Json paired = KnownIntervalJson(difference.mean, difference.has_interval);
      paired.Set("by_seed", Numbers(difference.by_seed));
      paired.Set("more", difference.more);
      paired.Set("less", difference.less);
      paired.Set("equal", difference.equal);
      paired.Set("no_effect_shown", difference.NoEffectShown());
      differences.emplace_back(report.kinds[k].name, std::move(paired));
    }
    arms.push_back(Json::Of({{"name", section.arms[i].name},
                             {"label", section.arms[i].label},
                             {"baseline", i == section.baseline},
                             {"quantities", std::move(quantities)},
                             {"differences", std::move(differences)},
                             {"goal", GoalJson(report.goals[i])}}));
  }
  Json::Array seeds;
  for (const uint64_t seed : section.seeds) seeds.emplace_back(seed);
  return Json::Of({{"title", section.title},
                   {"question", section.question},
                   {"seeds", std::move(seeds)},
                   {"goal", section.goal},
                   {"gold_calls_per_task", Number(report.gold_calls)},
                   {"arms", std::move(arms)},
                   {"controls", ControlsJson(section, report)},
                   {"warnings", Json::ArrayOf(report.warnings)}});
}

Json ToJson(const ComparedRun& run) {
  Json::Array dev;
  for (const DevPoint& point : run.dev) {
    Json one = Json::Of({{"trajectories", point.trajectories},
                         {"sampled", point.sampled},
                         {"greedy", point.greedy}});
    if (run.dollars) one.Set("dollars", point.dollars);
    if (run.hours) one.Set("hours", point.hours);
    dev.push_back(std::move(one));
  }
  Json json = Json::Of({{"arm", run.arm},
                        {"seed", run.seed},
                        {"status", StatusName(run.status)},
                        {"why", run.why},
                        {"steps", run.steps},
                        {"trajectories", run.trajectories},
                        {"sampled_tokens", run.sampled_tokens},
                        {"real_calls", Number(run.real_calls)},
                        {"ratio_one_tokens", run.ratio_tokens},
                        {"seconds", run.seconds},
                        {"start", run.start},
                        {"start_key", run.start_key},
                        {"weights", run.weights},
                        {"folder", run.folder},
                        {"dev", std::move(dev)},
                        {"evaluations", run.evaluations}});
  // Ledgers of runs without conditions stay as they are.
  if (run.dollars) json.Set("dollars", *run.dollars);
  if (run.hours) json.Set("hours", *run.hours);
  if (run.recorded_dollars > 0) json.Set("recorded_dollars", run.recorded_dollars);
  if (run.recorded_hours > 0) json.Set("recorded_hours", run.recorded_hours);
  if (run.alarms.empty()) return json;
  Json alarms = Json::Object();
  for (const FirstAlarm& alarm : run.alarms) alarms.Set(alarm.name, alarm.trajectories);
  json.Set("alarms", std::move(alarms));
  return json;
}

Result<ComparedRun> ComparedRunFromJson(const Json& json) {
  ComparedRun run;
  JsonErrors errors;
  std::string status;
  std::vector<Json> dev;
  std::optional<Json> alarms;
  {
    JsonFields fields(json, "", &errors);
    fields.Required("arm", &run.arm);
    fields.Required("seed", &run.seed);
    fields.Required("status", &status);
    fields.Required("why", &run.why);
    fields.Required("steps", &run.steps);
    fields.Required("trajectories", &run.trajectories);
    fields.Required("sampled_tokens", &run.sampled_tokens);
    fields.Required("real_calls", &run.real_calls);
    fields.Required("ratio_one_tokens", &run.ratio_tokens);
    fields.Required("seconds", &run.seconds);
    fields.Required("start", &run.start);
    fields.Required("start_key", &run.start_key);
    fields.Required("weights", &run.weights);
    fields.Required("folder", &run.folder);
    fields.Required("dev", &dev);
    fields.Required("evaluations", &run.evaluations);
    fields.Optional("dollars", &run.dollars);
    fields.Optional("hours", &run.hours);
    fields.Optional("recorded_dollars", &run.recorded_dollars);
    fields.Optional("recorded_hours", &run.recorded_hours);
    fields.Optional("alarms", &alarms);
  }
  if (alarms && !alarms->is_object()) errors.Add("alarms", "must be an object");
  for (const auto& [name, at] :
       alarms && alarms->is_object() ? alarms->AsObject() : Json::Object()) {
    FirstAlarm& alarm = run.alarms.emplace_back();
    alarm.name = name;
    ReadJson(at, "alarms." + name, &errors, &alarm.trajectories);
  }
  for (size_t i = 0; i < dev.size(); ++i) {
    JsonFields fields(dev[i], fmt::format("dev[{}]", i), &errors);
    DevPoint& point = run.dev.emplace_back();
    fields.Required("trajectories", &point.trajectories);
    fields.Required("sampled", &point.sampled);
    fields.Required("greedy", &point.greedy);
    fields.Optional("dollars", &point.dollars);
    fields.Optional("hours", &point.hours);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  using Status = ComparedRun::Status;
  for (const Status one :
       {Status::kFinished, Status::kUnfinished, Status::kFailed, Status::kMissing}) {
    if (status != StatusName(one)) continue;
    run.status = one;
    return run;
  }
  return Error(ErrorCode::kInvalidArgument, fmt::format("status: there is no \"{}\"", status));
}

}  // namespace hone
