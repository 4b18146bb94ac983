#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "learn/alarms.h"

namespace hone {

// An alarm that fired.
struct AlarmEvent {
  int64_t step = 0;
  std::string name;
  Severity severity = Severity::kWarning;
  std::string message;  // the numbers, what it means and what to do, in one line
  std::string remedy;   // what was done about it; empty: nothing
};

// What remedies have made of the run's settings.
struct RemedyOptions {
  double learning_rate_scale = 1;
  double kl_added = 0;             // to the coefficient
  double entropy_added = 0;        // to the bonus
  double demonstration_share = 0;  // of a step's tokens, imitated besides
  bool dynamic_sampling = false;
  std::map<std::string, double> reward_scale;  // of reward terms' weights; absent: 1
  bool skip_update = false;                    // of this step, where it has not been made yet
  bool roll_back = false;                      // then: RolledBack
  bool stop = false;

  bool operator==(const RemedyOptions&) const = default;
};

// Watches the metrics of a run step by step, fires alarms and, where it may, turns the settings. A
// function of what it observed: the same metrics give the same alarms. Not synchronised.
//
// A remedy is taken one level further each time its alarm fires, up to three; each time its hold
// has passed without the condition being true, it is eased by one level.
class AlarmController {
 public:
  explicit AlarmController(AlarmOptions options);

  // The metrics of a step, by name; may be called several times per step (before the update with
  // what rollout measured, after it with the rest), with each metric once. Steps ascend.
  std::vector<AlarmEvent> Observe(int64_t step, const std::map<std::string, double>& metrics);

  // As of the last observation. skip_update, roll_back and stop are of all observations of that
  // step, and of that step alone.
  const RemedyOptions& settings() const { return settings_; }

  // The run went back to the state before `step`: what was observed from then on is forgotten, what
  // was turned stays turned, or the same would happen again. For the same reason this state, and
  // not the one of the old checkpoint, is to be saved with the run at once.
  void RolledBack(int64_t step);
  int64_t roll_backs() const { return roll_backs_; }  // so far

  Json ToJson() const;
  Result<void> Restore(const Json& state);

 private:
  struct Value {
    int64_t step = 0;
    double value = 0;
  };
  struct History {
    std::deque<Value> values;       // the last ones
    std::vector<Value> first;       // the reference
    std::map<int64_t, Value> best;  // of window means, by window
  };
  // Of a metric that another one is to follow: its best value, and what the other one was then.
  struct Peak {
    Value best;
    double other = 0;
  };
  struct State {
    int64_t level = 0;
    std::optional<int64_t> fired;  // the last time
    std::optional<int64_t> held;   // the last step in which the condition was true, or it was eased
    std::optional<Peak> peak;      // of kDiverges
  };

  std::optional<std::string> Judge(const Alarm& alarm, const std::map<std::string, double>& now);
  std::optional<std::string> JudgeFollowing(const Alarm& alarm, double mean, double observed);
  std::optional<double> Mean(const std::string& metric, int64_t window) const;
  void Settle();

  AlarmOptions options_;
  std::map<std::string, History> histories_;
  std::map<std::string, State> states_;  // by alarm
  int64_t roll_backs_ = 0;
  std::optional<int64_t> observed_;  // the last step
  RemedyOptions settings_;
};

}  // namespace hone
