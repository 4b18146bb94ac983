#include "learn/alarm_controller.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json_fields.h"

namespace hone {
namespace {

constexpr size_t kReference = 5;     // values
constexpr size_t kMostValues = 256;  // that are remembered of a metric
constexpr int64_t kHighestLevel = 3;

// Absent where there are fewer.
template <typename Values>
auto MeanOfLast(const Values& values, int64_t window) -> std::optional<double> {
  if (static_cast<int64_t>(values.size()) < window) return std::nullopt;
  double sum = 0;
  for (auto value = values.rbegin(); value != values.rbegin() + window; ++value) {
    sum += value->value;
  }
  return sum / static_cast<double>(window);
}

// How a list of values looks in a checkpoint.
template <typename Values>
Json StepsOf(const Values& values) {
  Json::Array steps;
  for (const auto& value : values) steps.emplace_back(value.step);
  return steps;
}
template <typename Values>
Json NumbersOf(const Values& values) {
  Json::Array numbers;
  for (const auto& value : values) numbers.emplace_back(value.value);
  return numbers;
}

// The metric whose values are when a condition is judged.
const std::string& Watched(const Condition& condition) {
  const bool follows =
      condition.kind == Condition::Kind::kDiverges || condition.kind == Condition::Kind::kOutruns;
  return follows ? condition.other : condition.metric;
}

}  // namespace

AlarmController::AlarmController(AlarmOptions options) : options_(std::move(options)) {}

// The mean of the last `window` values.
std::optional<double> AlarmController::Mean(const std::string& metric, int64_t window) const {
  const auto found = histories_.find(metric);
  if (found == histories_.end()) return std::nullopt;
  return MeanOfLast(found->second.values, window);
}

// Whether the metric went up since the other one, of which `observed` is the value of now, was at
// its best, while that one fell.
std::optional<std::string> AlarmController::JudgeFollowing(const Alarm& alarm, double mean,
                                                           double observed) {
  const Condition& condition = alarm.condition;
  std::optional<Peak>& peak = states_[alarm.name].peak;
  if (!peak || observed > peak->best.value) {
    peak = Peak{{histories_[condition.other].values.back().step, observed}, mean};
    return std::nullopt;
  }
  const bool rose = mean - peak->other > condition.bound * std::max(std::abs(peak->other), 1e-3);
  const bool fell = observed < peak->best.value - condition.other_bound;
  if (!rose || !fell) return std::nullopt;
  return fmt::format("{} is {:.4g}, up from {:.4g}, while {} fell from {:.4g} to {:.4g}",
                     condition.metric, mean, peak->other, condition.other, peak->best.value,
                     observed);
}

// What is bad, in words, where the alarm's condition is true and its metric is one of this
// observation.
std::optional<std::string> AlarmController::Judge(const Alarm& alarm,
                                                  const std::map<std::string, double>& now) {
  using Kind = Condition::Kind;
  const Condition& condition = alarm.condition;
  const auto observed = now.find(Watched(condition));
  if (observed == now.end()) return std::nullopt;
  if (condition.kind == Kind::kNotFinite) {
    if (std::isfinite(observed->second)) return std::nullopt;
    return fmt::format("{} is {}", condition.metric, observed->second);
  }
  if (!std::isfinite(observed->second)) return std::nullopt;
  const std::optional<double> mean = Mean(condition.metric, condition.window);
  if (!mean) return std::nullopt;
  History& history = histories_[condition.metric];
  const std::optional<double> before = MeanOfLast(history.first, static_cast<int64_t>(kReference));
  const double reference = before.value_or(0);
  const bool referenced = before.has_value();
  auto say = [&](bool bad, const std::string& text) {
    return bad ? std::optional(fmt::format("{} is {:.4g}, {}", condition.metric, *mean, text))
               : std::nullopt;
  };
  switch (condition.kind) {
    case Kind::kBelow:
      return say(*mean < condition.bound, fmt::format("below {:.4g}", condition.bound));
    case Kind::kAbove:
      return say(*mean > condition.bound, fmt::format("above {:.4g}", condition.bound));
    case Kind::kFallsTo:
      return say(
          referenced && *mean < condition.bound * reference,
          fmt::format("less than {:.3g} of what it was ({:.4g})", condition.bound, reference));
    case Kind::kRisesTo:
      return say(
          referenced && reference > 0 && *mean > condition.bound * reference,
          fmt::format("more than {:.3g} times what it was ({:.4g})", condition.bound, reference));
    case Kind::kRisesBy:
      return say(
          referenced && *mean > reference + condition.bound,
          fmt::format("more than {:.3g} above what it was ({:.4g})", condition.bound, reference));
    case Kind::kDrops: {
      const Value now_best{history.values.back().step, *mean};
      const auto [best, first] = history.best.emplace(condition.window, now_best);
      if (*mean > best->second.value) best->second = now_best;
      return say(*mean < best->second.value - condition.bound,
                 fmt::format("more than {:.3g} below its best ({:.4g})", condition.bound,
                             best->second.value));
    }
    case Kind::kOutruns: {
      constexpr size_t kLastOfOther = 3;
      const size_t count = std::min(kLastOfOther, histories_[condition.other].values.size());
      const double behind = *Mean(condition.other, static_cast<int64_t>(count));
      return say(*mean > behind + condition.bound,
                 fmt::format("and {} is {:.4g}", condition.other, behind));
    }
    case Kind::kDiverges: return JudgeFollowing(alarm, *mean, observed->second);
    case Kind::kNotFinite: break;
  }
  return std::nullopt;
}

std::vector<AlarmEvent> AlarmController::Observe(int64_t step,
                                                 const std::map<std::string, double>& metrics) {
  std::vector<AlarmEvent> events;
  if (observed_ != step) settings_.skip_update = settings_.roll_back = settings_.stop = false;
  observed_ = step;
  if (options_.mode == AlarmOptions::Mode::kOff) return events;
  for (const auto& [name, value] : metrics) {
    if (!std::isfinite(value)) continue;
    History& history = histories_[name];
    history.values.push_back({step, value});
    if (history.values.size() > kMostValues) history.values.pop_front();
    if (history.first.size() < kReference) history.first.push_back({step, value});
  }
  const bool applies = options_.mode == AlarmOptions::Mode::kApply;
  for (const Alarm& alarm : options_.alarms) {
    State& state = states_[alarm.name];
    const std::optional<std::string> bad = Judge(alarm, metrics);
    if (!bad) {
      // Where nobody looked, nothing got better.
      if (!metrics.contains(Watched(alarm.condition))) continue;
      if (state.level > 0 && step - *state.held >= alarm.hold) {
        --state.level;
        state.held = step;
      }
      continue;
    }
    state.held = step;
    if (state.fired && step - *state.fired < alarm.hold) continue;
    state.fired = step;
    AlarmEvent& event = events.emplace_back();
    event = {step, alarm.name, alarm.severity, fmt::format("{}: {}", *bad, alarm.advice), ""};
    if (!applies || alarm.remedy.kind == Remedy::Kind::kNone) continue;
    event.remedy = RemedyText(alarm.remedy);
    state.level = std::min(state.level + 1, kHighestLevel);
    settings_.skip_update |= alarm.remedy.kind == Remedy::Kind::kSkipUpdate;
    settings_.stop |= alarm.remedy.kind == Remedy::Kind::kStop;
    if (alarm.remedy.kind == Remedy::Kind::kRollBack) {
      if (roll_backs_ < options_.most_roll_backs) {
        settings_.roll_back = true;
      } else {
        settings_.stop = true;
        event.remedy = fmt::format("stop the run: it went back {} times already", roll_backs_);
      }
    }
    if (alarm.remedy.kind == Remedy::Kind::kRaiseKl && !options_.has_reference) {
      event.remedy = "halve the learning rate: there is no reference for a KL";
    }
    if (alarm.remedy.kind == Remedy::Kind::kReweight &&
        !histories_.contains("reward/" + alarm.remedy.term)) {
      event.remedy = fmt::format("nothing: the rewards of this run have no \"{}\" to weigh more",
                                 alarm.remedy.term);
    }
  }
  Settle();
  return events;
}

// The lasting settings, from the levels of all remedies.
void AlarmController::Settle() {
  const bool skip = settings_.skip_update, back = settings_.roll_back, stop = settings_.stop;
  settings_ = {};
  settings_.skip_update = skip;
  settings_.roll_back = back;
  settings_.stop = stop;
  for (const Alarm& alarm : options_.alarms) {
    for (int64_t level = 0; level < states_[alarm.name].level; ++level) {
      const Remedy& remedy = alarm.remedy;
      switch (remedy.kind) {
        case Remedy::Kind::kLowerLearningRate:
        case Remedy::Kind::kRollBack: settings_.learning_rate_scale *= remedy.amount; break;
        case Remedy::Kind::kRaiseKl:
          if (options_.has_reference) {
            settings_.kl_added += remedy.amount;
          } else {
            settings_.learning_rate_scale *= 0.5;
          }
          break;
        case Remedy::Kind::kRaiseEntropy: settings_.entropy_added += remedy.amount; break;
        case Remedy::Kind::kMixDemonstrations:
          settings_.demonstration_share =
              std::min(settings_.demonstration_share + remedy.amount, 0.5);
          break;
        case Remedy::Kind::kDynamicSampling: settings_.dynamic_sampling = true; break;
        case Remedy::Kind::kReweight: {
          const auto [scale, first] = settings_.reward_scale.emplace(remedy.term, 1.0);
          scale->second *= remedy.amount;
          break;
        }
        case Remedy::Kind::kNone:
        case Remedy::Kind::kSkipUpdate:
        case Remedy::Kind::kStop: break;
      }
    }
  }
}

void AlarmController::RolledBack(int64_t step) {
  ++roll_backs_;
  const auto ahead = [&](const Value& value) { return value.step >= step; };
  for (auto& [name, history] : histories_) {
    std::erase_if(history.values, ahead);
    std::erase_if(history.first, ahead);
    std::vector<int64_t> lost;  // windows whose best is of a step that never was
    for (const auto& [window, best] : history.best) {
      if (ahead(best)) lost.push_back(window);
    }
    for (const int64_t window : lost) {
      history.best.erase(window);
      std::deque<Value> seen;
      for (const Value& value : history.values) {
        seen.push_back(value);
        const std::optional<double> mean = MeanOfLast(seen, window);
        if (!mean) continue;
        const auto [best, first] = history.best.emplace(window, Value{value.step, *mean});
        if (*mean > best->second.value) best->second = {value.step, *mean};
      }
    }
  }
  for (auto& [name, state] : states_) {
    if (state.peak && ahead(state.peak->best)) state.peak.reset();  // the next one is taken anew
  }
  // Steps begin again at `step`: a time that lies ahead would keep an alarm silent until then.
  for (auto& [name, state] : states_) {
    if (state.fired) state.fired = std::min(*state.fired, step - 1);
    if (state.held) state.held = std::min(*state.held, step - 1);
  }
  settings_.skip_update = settings_.roll_back = settings_.stop = false;
  observed_.reset();
}

Json AlarmController::ToJson() const {
  Json::Object histories, states;
  for (const auto& [name, history] : histories_) {
    Json::Array windows;
    std::vector<Value> bests;
    for (const auto& [window, best] : history.best) {
      windows.emplace_back(window);
      bests.push_back(best);
    }
    histories.emplace_back(name, Json::Of({{"steps", StepsOf(history.values)},
                                           {"values", NumbersOf(history.values)},
                                           {"first_steps", StepsOf(history.first)},
                                           {"first", NumbersOf(history.first)},
                                           {"windows", std::move(windows)},
                                           {"best_steps", StepsOf(bests)},
                                           {"bests", NumbersOf(bests)}}));
  }
  for (const auto& [name, state] : states_) {
    if (!state.held && !state.peak) continue;
    Json one = Json::Of({{"level", state.level},
                         {"fired", state.fired ? Json(*state.fired) : Json()},
                         {"held", state.held ? Json(*state.held) : Json()}});
    if (state.peak) {
      one.Set("peak",
              Json::Array{state.peak->best.step, state.peak->best.value, state.peak->other});
    }
    states.emplace_back(name, std::move(one));
  }
  return Json::Of({{"histories", Json(std::move(histories))},
                   {"alarms", Json(std::move(states))},
                   {"roll_backs", roll_backs_}});
}

Result<void> AlarmController::Restore(const Json& state) {
  JsonErrors errors;
  Json histories, states;
  int64_t roll_backs = 0;
  {
    JsonFields fields(state, "alarms", &errors);
    fields.Required("histories", &histories);
    fields.Required("alarms", &states);
    fields.Required("roll_backs", &roll_backs);
  }
  if (!histories.is_object()) errors.Add("alarms.histories", "must be an object");
  if (!states.is_object()) errors.Add("alarms.alarms", "must be an object");
  HONE_RETURN_IF_ERROR(errors.Check());
  std::map<std::string, History> read;
  std::map<std::string, State> read_states;
  for (const auto& [name, member] : histories.AsObject()) {
    const std::string where = "alarms.histories." + name;
    std::vector<int64_t> steps, first_steps, windows, best_steps;
    std::vector<double> values, first, bests;
    {
      JsonFields fields(member, where, &errors);
      fields.Required("steps", &steps);
      fields.Required("values", &values);
      fields.Required("first_steps", &first_steps);
      fields.Required("first", &first);
      fields.Required("windows", &windows);
      fields.Required("best_steps", &best_steps);
      fields.Required("bests", &bests);
    }
    if (steps.size() != values.size() || first_steps.size() != first.size() ||
        windows.size() != bests.size() || windows.size() != best_steps.size()) {
      errors.Add(where, "its lists are not of one length");
    }
    HONE_RETURN_IF_ERROR(errors.Check());
    History& history = read[name];
    for (size_t i = 0; i < steps.size(); ++i) history.values.push_back({steps[i], values[i]});
    for (size_t i = 0; i < first.size(); ++i) history.first.push_back({first_steps[i], first[i]});
    for (size_t i = 0; i < windows.size(); ++i)
      history.best[windows[i]] = {best_steps[i], bests[i]};
  }
  for (const auto& [name, member] : states.AsObject()) {
    State& one = read_states[name];
    std::vector<double> peak;
    {
      JsonFields fields(member, "alarms.alarms." + name, &errors);
      fields.Required("level", &one.level);
      fields.Required("fired", &one.fired);
      fields.Required("held", &one.held);
      fields.Optional("peak", &peak);
    }
    if (one.level < 0 || one.level > kHighestLevel || (one.level > 0 && !one.held) ||
        (!peak.empty() && peak.size() != 3)) {
      errors.Add("alarms.alarms." + name, "cannot be");
    } else if (!peak.empty()) {
      one.peak = Peak{{static_cast<int64_t>(peak[0]), peak[1]}, peak[2]};
    }
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  histories_ = std::move(read);
  states_ = std::move(read_states);
  roll_backs_ = roll_backs;
  settings_ = {};
  observed_.reset();
  Settle();
  return {};
}

}  // namespace hone
