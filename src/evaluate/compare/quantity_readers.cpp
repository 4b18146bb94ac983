#include "evaluate/compare/quantity_readers.h"

#include <set>

#include <fmt/format.h>

#include "evaluate/figure_text.h"
#include "evaluate/forgetting.h"

namespace hone {
namespace {

const Json* Find(const Json* json, std::string_view key) {
  return json == nullptr ? nullptr : json->Find(key);
}

Cells One(const Json* value) {
  if (value == nullptr || !value->is_number()) return {};
  return {value->AsDouble()};
}

// "10-1": done, not done, not known.
Cells CellsOf(const Json* outcomes) {
  Cells cells;
  if (outcomes == nullptr || !outcomes->is_string()) return cells;
  for (const char outcome : outcomes->AsString()) {
    cells.push_back(outcome == '-' ? std::nullopt : std::optional<double>(outcome == '1'));
  }
  return cells;
}

Cells Calls(const ComparedRun& run, const std::string& evaluation) {
  const Json* made = run.evaluations.Find(evaluation);
  const Json* calls = Find(made, "calls_by_task");
  const Json* outcomes = Find(made, "outcomes");
  if (calls == nullptr || !calls->is_array() || outcomes == nullptr || !outcomes->is_string() ||
      outcomes->AsString().size() != calls->AsArray().size()) {
    return OfAll(run, evaluation, "calls");
  }
  Cells cells;
  for (size_t i = 0; i < calls->AsArray().size(); ++i) {
    const bool known = outcomes->AsString()[i] != '-' && calls->AsArray()[i].is_number();
    cells.push_back(known ? std::optional<double>(calls->AsArray()[i].AsDouble()) : std::nullopt);
  }
  return cells;
}

// Calls that stand for no gold call. Older evaluations say what share of the calls does.
Cells Wasted(const ComparedRun& run, const std::string& evaluation) {
  if (const Cells said = OfAll(run, evaluation, "wasted_calls"); !said.empty()) return said;
  const Cells calls = OfAll(run, evaluation, "calls"), which = OfAll(run, evaluation, "which");
  if (calls.empty() || which.empty()) return {};
  return {*calls[0] * (1 - *which[0])};
}

// Names of families or environments (`groups`) that somebody was measured in.
std::set<std::string> NamesIn(const ComparedSection& section, std::string_view groups) {
  std::set<std::string> names;
  for (const ComparedArm& arm : section.arms) {
    for (const ComparedRun* run : arm.runs) {
      const auto found = GroupsIn(run->evaluations.Find("after/test/sampled"), groups);
      names.insert(found.begin(), found.end());
    }
  }
  names.erase("");
  return names;
}

// Of each of several environments what is done of it, and what was forgotten on the way.
void AddEnvironments(const ComparedSection& section, std::vector<QuantityReader>* readers) {
  constexpr auto kShare = QuantityKind::Unit::kShare;
  for (const std::string& name : NamesIn(section, "environments")) {
    readers->push_back({{"environment/" + name, name, kShare, true}, [=](const ComparedRun& run) {
                          const Json* test = run.evaluations.Find("after/test/sampled");
                          return CellsOf(Find(Find(Find(test, "environments"), name), "outcomes"));
                        }});
    readers->push_back(
        {{"forgotten/" + name, name + ", forgotten", kShare, true},
         [=](const ComparedRun& run) { return ForgottenByTask(run.evaluations, name); }});
  }
}

}  // namespace

Cells OfAll(const ComparedRun& run, const std::string& evaluation, std::string_view name) {
  const std::optional<FigureCell> figure = FigureIn(run.evaluations.Find(evaluation), name);
  return figure ? Cells{figure->value} : Cells();
}

Cells Outcomes(const ComparedRun& run, const std::string& evaluation) {
  const Json* made = run.evaluations.Find(evaluation);
  const Json* outcomes = Find(made, "outcomes");
  if (outcomes == nullptr || !outcomes->is_string()) return OfAll(run, evaluation, "success");
  return CellsOf(outcomes);
}

Cells MeanOfDev(const ComparedRun& run) {
  if (run.dev.empty() || run.dev.back().trajectories <= 0) return {};
  const Cells start = OfAll(run, "before/test/sampled", "success");
  DevPoint last{.sampled = start.empty() ? run.dev.front().sampled : *start[0]};
  double area = 0;
  for (const DevPoint& point : run.dev) {
    area += (point.trajectories - last.trajectories) * (point.sampled + last.sampled) / 2;
    last = point;
  }
  return {area / last.trajectories};
}

std::vector<QuantityReader> ReadersOf(const ComparedSection& section) {
  using Unit = QuantityKind::Unit;
  const auto success = [](std::string name, std::string label, std::string evaluation) {
    return QuantityReader{{std::move(name), std::move(label), Unit::kShare, true},
                          [=](const ComparedRun& run) { return Outcomes(run, evaluation); }};
  };
  const auto number = [](std::string name, std::string label, Unit unit,
                         double ComparedRun::*value) {
    return QuantityReader{{std::move(name), std::move(label), unit, false},
                          [=](const ComparedRun& run) { return Cells{run.*value}; }};
  };
  const std::string test = "after/test/sampled";
  std::vector<QuantityReader> readers = {
      success("start/sampled", "start, sampled", "before/test/sampled"),
      success("start/greedy", "start, greedy", "before/test/greedy"),
      success("test/sampled", "test, sampled", test),
      success("test/greedy", "test, greedy", "after/test/greedy"),
      {{"needless_calls", "needless calls", Unit::kShare, true},
       [=](const ComparedRun& run) { return OfAll(run, test, "needless_calls"); }},
      {{"calls", "calls per task", Unit::kNumber, true},
       [=](const ComparedRun& run) { return Calls(run, test); }},
      {{"wasted_calls", "wasted calls per task", Unit::kNumber, true},
       [=](const ComparedRun& run) { return Wasted(run, test); }},
      {{"start_calls/greedy", "calls per task, start, greedy", Unit::kNumber, false},
       [=](const ComparedRun& run) { return Calls(run, "before/test/greedy"); }},
      {{"calls/greedy", "calls per task, greedy", Unit::kNumber, true},
       [=](const ComparedRun& run) { return Calls(run, "after/test/greedy"); }}};
  readers[0].kind.paired = readers[1].kind.paired = false;
  AddEnvironments(section, &readers);
  for (const std::string& family : NamesIn(section, "families")) {
    readers.push_back(
        {{"family/" + family, family, Unit::kShare, true}, [=](const ComparedRun& run) {
           // Without an interval nothing of it could be measured.
           const Json* found = Find(Find(run.evaluations.Find(test), "families"), family);
           return Find(found, "low") == nullptr ? Cells() : One(Find(found, "success"));
         }});
  }
  for (const char* split : {"unseen-kinds", "unseen-phrases"}) {
    for (const char* how : {"sampled", "greedy"}) {
      readers.push_back(success(fmt::format("{}/{}", split, how), fmt::format("{}, {}", split, how),
                                fmt::format("after/{}/{}", split, how)));
    }
  }
  readers.push_back({{"dev/mean", "dev over the run, sampled", Unit::kShare, true}, MeanOfDev});
  readers.push_back(
      number("trajectories", "trajectories", Unit::kCount, &ComparedRun::trajectories));
  readers.push_back(
      number("sampled_tokens", "sampled tokens", Unit::kCount, &ComparedRun::sampled_tokens));
  readers.push_back(
      {{"real_calls", "real calls in rl", Unit::kCount, false},
       [](const ComparedRun& run) { return run.real_calls ? Cells{*run.real_calls} : Cells{}; }});
  const auto spent = [](std::string name, std::string label, auto ComparedRun::*value) {
    return QuantityReader{
        {std::move(name), std::move(label), Unit::kNumber, false},
        [=](const ComparedRun& run) { return run.*value ? Cells{*(run.*value)} : Cells{}; }};
  };
  readers.push_back(spent("dollars", "dollars", &ComparedRun::dollars));
  readers.push_back(spent("hours", "hours", &ComparedRun::hours));
  readers.push_back(
      number("ratio_tokens", "tokens of ratio 1", Unit::kCount, &ComparedRun::ratio_tokens));
  readers.push_back(number("seconds", "wall time of rl", Unit::kSeconds, &ComparedRun::seconds));
  return readers;
}

}  // namespace hone
