#include "credit/reward_values.h"

#include <algorithm>
#include <cmath>

#include "record/reward_terms.h"

namespace hone {
namespace {

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

// What the group's scores hold under one name.
struct NameUse {
  std::string_view name;
  bool has_value = false;  // somewhere
  bool on_action = false;  // somewhere with a value on an action
  bool whole = false;      // somewhere not on an action: then every trajectory must have it

  // Then every call must have it. A term that is the trajectory's as a whole may happen to stand on
  // the last turn's only action (a call that was cut off): it says nothing about calls.
  bool IsOfCalls() const {
    const std::vector<std::string>& calls = CallTermNames();
    return on_action && (!whole || std::find(calls.begin(), calls.end(), name) != calls.end());
  }
};

// A score all of whose terms are absent says nothing.
bool IsScored(const Trajectory& trajectory) {
  return trajectory.score != nullptr &&
         std::any_of(trajectory.score->terms.begin(), trajectory.score->terms.end(),
                     [](const RewardTerm& term) { return term.value.has_value(); });
}

class Summer {
 public:
  Summer(const Group& group, const Selection& selection) : selection_(selection) {
    for (const Trajectory& trajectory : group.trajectories) {
      if (trajectory.counts) Survey(trajectory);
    }
    calls_are_scored_ =
        std::any_of(uses_.begin(), uses_.end(), [](const NameUse& use) { return use.IsOfCalls(); });
  }

  std::optional<double> Sum(const Trajectory& trajectory) const {
    if (!trajectory.counts || !IsScored(trajectory) || !AnyUse()) return std::nullopt;
    double sum = 0;
    std::vector<bool> has(uses_.size(), false), scored(trajectory.actions.size(), false);
    for (const RewardTerm& term : trajectory.score->terms) {
      if (!term.value || !selection_.Has(term.name)) continue;
      sum += term.weight * *term.value;
      has[Use(term.name)] = true;
      const TermPlace place = PlaceOf(term, trajectory);
      if (place.action >= 0) scored[place.action] = true;
    }
    for (size_t i = 0; i < uses_.size(); ++i) {
      if (uses_[i].whole && uses_[i].has_value && !has[i]) return std::nullopt;
    }
    if (!calls_are_scored_) return sum;
    for (size_t a = 0; a < scored.size(); ++a) {
      if (!scored[a] && trajectory.actions[a].kind == ActionKind::kCall) return std::nullopt;
    }
    return sum;
  }

 private:
  void Survey(const Trajectory& trajectory) {
    if (trajectory.score == nullptr) return;
    for (const RewardTerm& term : trajectory.score->terms) {
      if (!selection_.Has(term.name)) continue;
      const bool on_action = PlaceOf(term, trajectory).action >= 0;
      size_t use = Use(term.name);
      if (use == uses_.size()) uses_.push_back({term.name});
      if (term.value) uses_[use].has_value = true;
      if (!on_action) uses_[use].whole = true;
      if (on_action && term.value) uses_[use].on_action = true;
    }
  }

  size_t Use(std::string_view name) const {
    size_t i = 0;
    while (i < uses_.size() && uses_[i].name != name) ++i;
    return i;
  }

  bool AnyUse() const {
    return std::any_of(uses_.begin(), uses_.end(),
                       [](const NameUse& use) { return use.has_value; });
  }

  const Selection& selection_;
  std::vector<NameUse> uses_;
  bool calls_are_scored_ = false;
};

}  // namespace

bool Selection::Has(std::string_view name) const {
  auto matches = [&](const std::string& pattern) { return Matches(pattern, name); };
  return std::any_of(names.begin(), names.end(), matches) &&
         std::none_of(except.begin(), except.end(), matches);
}

const std::vector<std::string>& CallTermNames() {
  static const std::vector<std::string> names = {
      kCallTerm, kWhenTerm, kWhichTerm, kSyntaxTerm, kExecutionTerm, kArgumentsTerm, kOmittedTerm};
  return names;
}

UnitValues TrajectorySums(const Group& group, const Selection& selection) {
  const Summer summer(group, selection);
  UnitValues values(group.trajectories.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = {summer.Sum(group.trajectories[i])};
  return values;
}

double LargestWeight(const Group& group, const Selection& selection) {
  double largest = 0;
  bool any = false;
  for (const Trajectory& trajectory : group.trajectories) {
    if (!trajectory.counts || trajectory.score == nullptr) continue;
    for (const RewardTerm& term : trajectory.score->terms) {
      if (!term.value || !selection.Has(term.name)) continue;
      if (!any || std::abs(term.weight) > std::abs(largest)) largest = term.weight;
      any = true;
    }
  }
  return any ? largest : 1;
}

UnitValues TurnSums(const Group& group, const Selection& selection) {
  const Summer summer(group, selection);
  UnitValues values(group.trajectories.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Trajectory& trajectory = group.trajectories[i];
    values[i].resize(trajectory.turns.size());
    if (!summer.Sum(trajectory) || trajectory.turns.empty()) continue;
    std::fill(values[i].begin(), values[i].end(), 0.0);
    for (const RewardTerm& term : trajectory.score->terms) {
      if (!term.value || !selection.Has(term.name)) continue;
      const TermPlace place = PlaceOf(term, trajectory);
      auto& value = place.turn < 0 ? values[i].back() : values[i][place.turn];
      *value += term.weight * *term.value;
    }
  }
  return values;
}

UnitValues ActionSums(const Group& group, const Selection& selection) {
  UnitValues values(group.trajectories.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Trajectory& trajectory = group.trajectories[i];
    values[i].resize(trajectory.actions.size());
    if (!trajectory.counts || trajectory.score == nullptr) continue;
    for (const RewardTerm& term : trajectory.score->terms) {
      if (!term.value || !selection.Has(term.name)) continue;
      const TermPlace place = PlaceOf(term, trajectory);
      if (place.action < 0) continue;
      auto& value = values[i][place.action];
      value = value.value_or(0) + term.weight * *term.value;
    }
  }
  return values;
}

UnitValues CallSums(const Group& group, const Selection& selection) {
  UnitValues values = ActionSums(group, selection);
  if (!selection.Has(kOmittedTerm)) return values;
  for (size_t i = 0; i < values.size(); ++i) {
    const Trajectory& trajectory = group.trajectories[i];
    if (!trajectory.counts || trajectory.score == nullptr || trajectory.turns.empty()) continue;
    for (const RewardTerm& term : trajectory.score->terms) {
      // A value of 0 says that nothing was left out.
      if (term.name != kOmittedTerm || !term.value || *term.value == 0) continue;
      values[i].push_back(term.weight * *term.value);
    }
  }
  return values;
}

bool AnyValue(const Group& group, const Selection& selection) {
  return std::any_of(
      group.trajectories.begin(), group.trajectories.end(), [&](const Trajectory& trajectory) {
        return trajectory.counts && trajectory.score != nullptr &&
               std::any_of(
                   trajectory.score->terms.begin(), trajectory.score->terms.end(),
                   [&](const RewardTerm& term) { return term.value && selection.Has(term.name); });
      });
}

std::optional<bool> IsCorrect(const Trajectory& trajectory, const Selection& outcome,
                              double threshold) {
  if (trajectory.score == nullptr) return std::nullopt;
  double sum = 0;
  int count = 0;
  for (const RewardTerm& term : trajectory.score->terms) {
    if (!term.value || !outcome.Has(term.name)) continue;
    sum += *term.value;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count > threshold;
}

}  // namespace hone
