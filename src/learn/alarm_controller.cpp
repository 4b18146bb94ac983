#include "learn/alarm_controller.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/json_fields.h"

namespace hone {
namespace {

constexpr int64_t kReference = 5;    // values
constexpr size_t kMostValues = 256;  // that are remembered of a metric
constexpr int64_t kHighestLevel = 3;
constexpr int64_t kEver = std::numeric_limits<int64_t>::max();

}  // namespace

AlarmController::AlarmController(AlarmOptions options) : options_(std::move(options)) {}

// The mean of the last `window` values that are not of a step after `until`.
std::optional<double> AlarmController::Mean(const std::string& metric, int64_t window,
                                            int64_t until) const {
  const auto found = histories_.find(metric);
  if (found == histories_.end()) return std::nullopt;
  const std::deque<Value>& values = found->second.values;
  double sum = 0;
  int64_t count = 0;
  for (auto value = values.rbegin(); value != values.rend() && count < window; ++value) {
    if (value->step > until) continue;
    sum += value->value;
    ++count;
  }
  if (count < window) return std::nullopt;
  return sum / static_cast<double>(window);
}

// What is bad, in words, where the alarm's condition is true and its metric is one of this
// observation.
std::optional<std::string> AlarmController::Judge(const Alarm& alarm,
                                                  const std::map<std::string, double>& now) {
  using Kind = Condition::Kind;
  const Condition& condition = alarm.condition;
  const std::string& watched =
      condition.kind == Kind::kDiverges ? condition.other : condition.metric;
  const auto observed = now.find(watched);
  if (observed == now.end()) return std::nullopt;
  if (condition.kind == Kind::kNotFinite) {
    if (std::isfinite(observed->second)) return std::nullopt;
    return fmt::format("{} is {}", condition.metric, observed->second);
  }
  if (!std::isfinite(observed->second)) return std::nullopt;
  const std::optional<double> mean = Mean(condition.metric, condition.window, kEver);
  if (!mean) return std::nullopt;
  History& history = histories_[condition.metric];
  const double reference =
      history.first_sum / static_cast<double>(std::max<int64_t>(history.first_count, 1));
  const bool referenced = history.first_count >= kReference;
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
      const auto [best, first] = history.best.emplace(condition.window, *mean);
      best->second = std::max(best->second, *mean);
      return say(
          *mean < best->second - condition.bound,
          fmt::format("more than {:.3g} below its best ({:.4g})", condition.bound, best->second));
    }
    case Kind::kDiverges: {
      const std::deque<Value>& others = histories_[condition.other].values;
      const auto best =
          std::max_element(others.begin(), others.end(),
                           [](const Value& a, const Value& b) { return a.value < b.value; });
      const std::optional<double> then = Mean(condition.metric, condition.window, best->step);
      if (!then) return std::nullopt;
      const bool rose = *mean - *then > condition.bound * std::max(std::abs(*then), 1e-3);
      const bool fell = others.back().value < best->value - condition.other_bound;
      return say(rose && fell,
                 fmt::format("up from {:.4g}, while {} fell from {:.4g} to {:.4g}", *then,
                             condition.other, best->value, others.back().value));
    }
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
    if (history.first_count < kReference) {
      history.first_sum += value;
      ++history.first_count;
    }
  }
  const bool applies = options_.mode == AlarmOptions::Mode::kApply;
  for (const Alarm& alarm : options_.alarms) {
    State& state = states_[alarm.name];
    const std::optional<std::string> bad = Judge(alarm, metrics);
    if (!bad) {
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
  for (auto& [name, history] : histories_) {
    while (!history.values.empty() && history.values.back().step >= step) {
      history.values.pop_back();
    }
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
    Json::Array steps, values, windows, bests;
    for (const Value& value : history.values) {
      steps.emplace_back(value.step);
      values.emplace_back(value.value);
    }
    for (const auto& [window, best] : history.best) {
      windows.emplace_back(window);
      bests.emplace_back(best);
    }
    histories.emplace_back(name, Json::Of({{"steps", std::move(steps)},
                                           {"values", std::move(values)},
                                           {"first_sum", history.first_sum},
                                           {"first_count", history.first_count},
                                           {"windows", std::move(windows)},
                                           {"bests", std::move(bests)}}));
  }
  for (const auto& [name, state] : states_) {
    if (!state.held) continue;
    states.emplace_back(name, Json::Of({{"level", state.level},
                                        {"fired", state.fired ? Json(*state.fired) : Json()},
                                        {"held", *state.held}}));
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
    std::vector<int64_t> steps, windows;
    std::vector<double> values, bests;
    {
      JsonFields fields(member, where, &errors);
      fields.Required("steps", &steps);
      fields.Required("values", &values);
      fields.Required("first_sum", &read[name].first_sum);
      fields.Required("first_count", &read[name].first_count);
      fields.Required("windows", &windows);
      fields.Required("bests", &bests);
    }
    if (steps.size() != values.size() || windows.size() != bests.size()) {
      errors.Add(where, "its lists are not of one length");
    }
    HONE_RETURN_IF_ERROR(errors.Check());
    for (size_t i = 0; i < steps.size(); ++i) read[name].values.push_back({steps[i], values[i]});
    for (size_t i = 0; i < windows.size(); ++i) read[name].best[windows[i]] = bests[i];
  }
  for (const auto& [name, member] : states.AsObject()) {
    JsonFields fields(member, "alarms.alarms." + name, &errors);
    fields.Required("level", &read_states[name].level);
    fields.Required("fired", &read_states[name].fired);
    fields.Required("held", &read_states[name].held);
    if (read_states[name].level < 0 || read_states[name].level > kHighestLevel ||
        (read_states[name].level > 0 && !read_states[name].held)) {
      errors.Add("alarms.alarms." + name, "cannot be");
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
