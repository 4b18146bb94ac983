#include "learn/alarms.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/nearest.h"
#include "record/reward_terms.h"

namespace hone {

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNotice: return "notice";
    case Severity::kWarning: return "warning";
    case Severity::kCritical: return "critical";
  }
  return "unknown";
}

std::string RemedyText(const Remedy& remedy) {
  using Kind = Remedy::Kind;
  switch (remedy.kind) {
    case Kind::kNone: return "nothing is changed";
    case Kind::kLowerLearningRate:
      return fmt::format("lower the learning rate to {:g} of it", remedy.amount);
    case Kind::kRaiseKl: return fmt::format("raise the KL coefficient by {:g}", remedy.amount);
    case Kind::kRaiseEntropy: return fmt::format("raise the entropy bonus by {:g}", remedy.amount);
    case Kind::kMixDemonstrations:
      return fmt::format("mix {:g} % of demonstrations back in", 100 * remedy.amount);
    case Kind::kDynamicSampling: return "draw again for groups that say nothing";
    case Kind::kReweight:
      return fmt::format("weigh the reward \"{}\" {:g} times", remedy.term, remedy.amount);
    case Kind::kSkipUpdate: return "leave the weights as they are in this step";
    case Kind::kRollBack:
      return fmt::format("go back to the last good checkpoint with {:g} of the learning rate",
                         remedy.amount);
    case Kind::kStop: return "stop the run";
  }
  return "";
}

std::vector<Alarm> BuiltInAlarms() {
  using C = Condition::Kind;
  using R = Remedy::Kind;
  constexpr Severity kNotice = Severity::kNotice, kWarning = Severity::kWarning,
                     kCritical = Severity::kCritical;
  return {
      {"loss-not-finite",
       {C::kNotFinite, "loss", 0, 1},
       kCritical,
       "the loss is no number; look at the rewards and at the log-probabilities of this step",
       {R::kSkipUpdate},
       1},
      {"gradient-not-finite",
       {C::kNotFinite, "grad_norm", 0, 1},
       kCritical,
       "the gradient is no number and was not applied; lower the learning rate",
       {R::kRollBack, 0.5}},
      {"off-policy",
       {C::kBelow, "ratio_one_share", 1, 1},
       kCritical,
       "a first mini-batch has ratios that are not exactly 1: what trains is not what sampled; "
       "this is a bug, or records of other weights",
       {R::kStop},
       1},
      {"engine-mismatch",
       {C::kAbove, "mismatch/kl", 0.01, 3},
       kWarning,
       "what the endpoint says of its tokens is not what the policy says: it has other weights, or "
       "returns other log-probs; let it take the weights (policy.push), look at how it was started "
       "(docs/remote.md), and set objective.correction",
       {}},
      {"gradient-explosion",
       {C::kRisesTo, "grad_norm", 20, 3},
       kWarning,
       "gradients are twenty times what they were; lower the learning rate, or set "
       "objective.low_probability",
       {R::kLowerLearningRate, 0.5}},
      {"zero-gradient",
       {C::kBelow, "grad_norm", 1e-9, 5},
       kCritical,
       "nothing is learned: every advantage is 0 or masked; look at zero_advantage_groups and at "
       "the credit method's notes (hone credit explain)",
       {R::kStop}},
      {"no-signal",
       {C::kAbove, "zero_advantage_groups", 0.95, 5},
       kWarning,
       "nearly all groups have no signal: the tasks are too easy or too hard; change the "
       "curriculum, the group size or the temperature",
       {R::kDynamicSampling}},
      {"rewards-left-out",
       {C::kAbove, "left_out", 0.2, 5},
       kWarning,
       "a fifth of the trajectories is not compared with the others, because a reward is missing "
       "that others have; hone credit explain says which",
       {}},
      {"entropy-collapse",
       {C::kFallsTo, "entropy", 0.1, 5},
       kWarning,
       "the policy hardly varies any more and will stop learning; raise objective.entropy or "
       "clip_high, or the sampling temperature",
       {R::kRaiseEntropy, 0.01}},
      {"entropy-eruption",
       {C::kRisesTo, "entropy", 3, 5},
       kWarning,
       "the policy is coming apart; lower the learning rate, or the entropy bonus",
       {R::kLowerLearningRate, 0.5}},
      {"kl-explosion",
       {C::kAbove, "kl", 1, 3},
       kWarning,
       "the policy runs away from the reference; raise objective.kl.coefficient",
       {R::kRaiseKl, 0.01}},
      {"large-updates",
       {C::kAbove, "approx_kl", 0.1, 3},
       kWarning,
       "one step moves the policy far; lower the learning rate or take fewer epochs",
       {R::kLowerLearningRate, 0.5}},
      {"clip-saturation",
       {C::kAbove, "clip_fraction", 0.5, 3},
       kWarning,
       "half of the tokens are clipped; lower the learning rate or take fewer epochs",
       {R::kLowerLearningRate, 0.5}},
      {"reward-hacking",
       {C::kDiverges, "reward/mean", 0.1, 3, "dev/success", 0.1},
       kCritical,
       "the reward rises while success on dev falls: a reward is being gamed; read trajectories "
       "with a high reward, and lower the weight of what they earn it with",
       {R::kRollBack, 0.5}},
      {"only-training-tasks",
       {C::kOutruns, "success", 0.3, 5, "dev/success"},
       kWarning,
       "the tasks of training are learned, and dev does not follow: what is learned holds for them "
       "alone; bring more tasks or more varied ones, take fewer steps, or look whether dev asks "
       "for "
       "something else",
       {}},
      {"success-collapse",
       {C::kDrops, "success", 0.3, 5},
       kCritical,
       "success has fallen far below what it was; lower the learning rate",
       {R::kRollBack, 0.5}},
      {"length-explosion",
       {C::kRisesTo, "response_length", 3, 5},
       kWarning,
       "answers are three times as long as they were; penalise length, or look for repetition",
       {R::kRaiseKl, 0.01}},
      {"truncation",
       {C::kAbove, "truncated_rate", 0.5, 5},
       kNotice,
       "half of the trajectories are cut off; raise the limits of tokens and turns",
       {}},
      {"call-collapse",
       {C::kFallsTo, "tool_calls", 0.2, 5},
       kWarning,
       "the agent hardly calls tools any more; pay needed calls more, or punish calls less",
       {R::kMixDemonstrations, 0.1}},
      {"call-explosion",
       {C::kRisesTo, "tool_calls", 3, 5},
       kWarning,
       "the agent calls three times as much as it did; look whether calls are paid one by one",
       {R::kMixDemonstrations, 0.1}},
      {"needless-calls",
       {C::kRisesBy, "needless_call_rate", 0.2, 5},
       kWarning,
       "tools are called where none is needed; weigh \"when\" more, or use a method with a call "
       "channel",
       {R::kReweight, 1.5, kWhenTerm}},
      {"unused-calls",
       {C::kRisesBy, "unused_call_rate", 0.2, 5},
       kWarning,
       "more calls than before bring nothing that the task needs; look at hollow_reward, and pay "
       "calls for what they bring (docs/rewards.md)",
       {}},
      {"wrong-tools",
       {C::kFallsTo, "which_accuracy", 0.7, 5},
       kWarning,
       "the wrong tools are called; weigh \"which\" more",
       {R::kReweight, 1.5, kWhichTerm}},
      {"format-collapse",
       {C::kFallsTo, "valid_action_rate", 0.8, 3},
       kWarning,
       "actions can no longer be read; mix demonstrations back in, or punish bad syntax more",
       {R::kMixDemonstrations, 0.2}},
      {std::string(kUnreadCallsAlarm),
       {C::kAbove, "unread_call_rate", 0.02, 1},
       kWarning,
       "turns look like calls in a format that the dialect does not read, and count as answers or "
       "faults; set model.dialect to the model's own format (docs/dialects.md)",
       {}},
      {"execution-failures",
       {C::kRisesBy, "execution_failure_rate", 0.2, 5},
       kWarning,
       "calls fail when they are carried out; look at the tools first, then weigh \"execution\" "
       "more",
       {R::kReweight, 1.5, kExecutionTerm}},
      {"fault-spike",
       {C::kAbove, "fault_rate", 0.3, 1},
       kWarning,
       "many trajectories ended by others' fault; look at the tools, the simulator and the network",
       {R::kSkipUpdate},
       1},
      {"faults-persist",
       {C::kAbove, "fault_rate", 0.3, 10},
       kCritical,
       "trajectories go on ending by others' fault: what is trained on is a biased rest; mend the "
       "tools and resume",
       {R::kStop}},
  };
}

std::vector<std::string> WatchedMetrics() {
  std::set<std::string> names;
  for (const Alarm& alarm : BuiltInAlarms()) {
    names.insert(alarm.condition.metric);
    if (!alarm.condition.other.empty()) names.insert(alarm.condition.other);
  }
  return {names.begin(), names.end()};
}

AlarmOptions ReadAlarms(RecipeTable table) {
  AlarmOptions options;
  std::string mode = "warn";
  table.ReadChoice("mode", &mode, {"off", "warn", "apply"}, "what alarms do");
  options.mode = mode == "off"    ? AlarmOptions::Mode::kOff
                 : mode == "warn" ? AlarmOptions::Mode::kWarn
                                  : AlarmOptions::Mode::kApply;
  table.Read("most_roll_backs", &options.most_roll_backs, "then the run stops instead", AtLeast(0));
  std::vector<std::string> known;
  for (const Alarm& alarm : options.alarms) known.push_back(alarm.name);
  auto find = [&](const std::string& name) {
    return std::find_if(options.alarms.begin(), options.alarms.end(),
                        [&](const Alarm& alarm) { return alarm.name == name; });
  };
  for (RecipeTable set : table.Tables("set")) {
    std::string name;
    set.Read("name", &name, "of the alarm");
    Alarm unknown;
    const auto found = find(name);
    Alarm* alarm = found == options.alarms.end() ? &unknown : &*found;
    if (alarm == &unknown) {
      set.Problem("name", fmt::format("there is no alarm \"{}\"{}", name, DidYouMean(name, known)));
    }
    set.Read("bound", &alarm->condition.bound, "at which it fires");
    set.Read("window", &alarm->condition.window, "steps that are averaged", Between(1, 64));
    set.Read("hold", &alarm->hold, "steps until it may fire again", AtLeast(1));
  }
  std::vector<std::string> ignored;
  table.Read("ignore", &ignored, "alarms that are not looked at");
  for (const std::string& name : ignored) {
    const auto found = find(name);
    if (found == options.alarms.end()) {
      table.Problem("ignore",
                    fmt::format("there is no alarm \"{}\"{}", name, DidYouMean(name, known)));
    } else {
      options.alarms.erase(found);
    }
  }
  return options;
}

}  // namespace hone
