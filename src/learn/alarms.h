#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/recipe.h"

// What can go wrong in training, as data: what to watch, when it is bad, and what helps. What is
// watched and remembered over the steps: learn/alarm_controller.h.

namespace hone {

enum class Severity { kNotice, kWarning, kCritical };
std::string_view SeverityName(Severity severity);

// When a metric is bad. Means are over the last `window` values. The reference is the mean of its
// first five values, so it is what imitation could do.
struct Condition {
  enum class Kind {
    kNotFinite,  // the value itself is not a number
    kBelow,      // mean < bound
    kAbove,      // mean > bound
    kFallsTo,    // mean < bound * reference
    kRisesTo,    // mean > bound * reference
    kRisesBy,    // mean > reference + bound
    kDrops,      // mean < best mean so far - bound
    kDiverges,  // mean has risen by bound (its share) since `other` was best, and the last value of
                // `other` is below that by other_bound
    kOutruns,   // mean > bound + the mean of the last values of `other`, three at most
  };
  Kind kind = Kind::kBelow;
  std::string metric;
  double bound = 0;
  int64_t window = 5;
  std::string other = {};
  double other_bound = 0;
};

struct Remedy {
  enum class Kind {
    kNone,               // say it
    kLowerLearningRate,  // times `amount`
    kRaiseKl,            // `amount` more; where there is no reference: half the learning rate
    kRaiseEntropy,       // `amount` more per nat
    kMixDemonstrations,  // imitation on this share of a step's tokens besides
    kDynamicSampling,    // draw again for groups that say nothing
    kReweight,           // the reward term `term`, times `amount`
    kSkipUpdate,         // the weights stay as they are in this step
    kRollBack,           // to the last good checkpoint, with `amount` of the learning rate
    kStop,               // the run, with what it has
  };
  Kind kind = Kind::kNone;
  double amount = 0;
  std::string term = {};
};
// "lower the learning rate to 0.5 of it", for people.
std::string RemedyText(const Remedy& remedy);

struct Alarm {
  std::string name;
  Condition condition;
  Severity severity = Severity::kWarning;
  std::string advice;  // what it means, and what to do next
  Remedy remedy;
  int64_t hold = 20;  // steps until it may fire again, and until its remedy is eased
};

// Whose message a run ends with what to set (RolloutCounts::unread_note).
inline constexpr std::string_view kUnreadCallsAlarm = "unread-calls";

// All of them, in the order in which they are looked at.
std::vector<Alarm> BuiltInAlarms();
// The metrics that the built-in alarms watch, sorted; train/metrics_table.h says what each is.
// Those that a run does not have are no alarm.
std::vector<std::string> WatchedMetrics();

struct AlarmOptions {
  enum class Mode { kOff, kWarn, kApply };
  Mode mode = Mode::kWarn;
  std::vector<Alarm> alarms = BuiltInAlarms();
  bool has_reference = false;   // whether a KL can be raised: the trainer's to say
  int64_t most_roll_backs = 3;  // then the run stops instead
};
// [alarms] of a recipe: mode (off, warn, apply), ignore (names), most_roll_backs, and
// [[alarms.set]] with a name and the bound, window and hold that it gets.
AlarmOptions ReadAlarms(RecipeTable table);

}  // namespace hone
