#include "learn/alarm_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

namespace hone {
namespace {

using Metrics = std::map<std::string, double>;

AlarmOptions Applying(bool reference = true) {
  AlarmOptions options;
  options.mode = AlarmOptions::Mode::kApply;
  options.has_reference = reference;
  return options;
}

// A run that goes well, as the desk's do: entropy falls to a quarter, success rises.
Metrics Healthy(int64_t step) {
  const double way = std::min(static_cast<double>(step) / 100, 1.0);
  return {{"loss", -0.01},
          {"grad_norm", 0.3 + 0.1 * std::sin(static_cast<double>(step))},
          {"ratio_one_share", 1},
          {"zero_advantage_groups", 0.3 + 0.4 * way},
          {"entropy", 0.12 - 0.09 * way},
          {"kl", 0.2 * way},
          {"approx_kl", 0.002},
          {"clip_fraction", 0.05},
          {"reward/mean", 5 + 5 * way},
          {"success", 0.5 + 0.4 * way},
          {"dev/success", 0.5 + 0.4 * way},
          {"response_length", 22 + 3 * way},
          {"truncated_rate", 0.02},
          {"tool_calls", 1.4 - 0.3 * way},
          {"needless_call_rate", 0.3 - 0.3 * way},
          {"unused_call_rate", 0.2},
          {"which_accuracy", 0.7 + 0.25 * way},
          {"valid_action_rate", 0.97},
          {"unread_call_rate", 0},
          {"execution_failure_rate", 0.1},
          {"fault_rate", 0.01}};
}

TEST(AlarmController, AHealthyRunIsLeftAlone) {
  AlarmController controller(Applying());
  for (int64_t step = 0; step < 200; ++step) {
    const auto events = controller.Observe(step, Healthy(step));
    EXPECT_TRUE(events.empty()) << events[0].message;
  }
  EXPECT_EQ(controller.settings(), RemedyOptions());
}

// A run made to fail in one way, and what the settings must be just after the alarm.
struct Failure {
  std::string alarm;
  Metrics bad;  // from step 30 on, instead of the healthy ones
  RemedyOptions settings;
};

RemedyOptions With(void (*change)(RemedyOptions*)) {
  RemedyOptions settings;
  change(&settings);
  return settings;
}

std::vector<Failure> Failures() {
  auto half = With([](RemedyOptions* s) { s->learning_rate_scale = 0.5; });
  auto skip = With([](RemedyOptions* s) { s->skip_update = true; });
  auto stop = With([](RemedyOptions* s) { s->stop = true; });
  auto back = With([](RemedyOptions* s) {
    s->roll_back = true;
    s->learning_rate_scale = 0.5;
  });
  auto kl = With([](RemedyOptions* s) { s->kl_added = 0.01; });
  auto mix = With([](RemedyOptions* s) { s->demonstration_share = 0.1; });
  const double infinity = std::numeric_limits<double>::infinity();
  return {
      {"loss-not-finite", {{"loss", std::nan("")}}, skip},
      {"gradient-not-finite", {{"grad_norm", infinity}}, back},
      {"off-policy", {{"ratio_one_share", 0.999}}, stop},
      {"engine-mismatch", {{"mismatch/kl", 0.2}}, {}},
      {"gradient-explosion", {{"grad_norm", 50}}, half},
      {"zero-gradient", {{"grad_norm", 0}}, stop},
      {"no-signal", {{"zero_advantage_groups", 1}}, With([](RemedyOptions* s) {
         s->dynamic_sampling = true;
       })},
      {"rewards-left-out", {{"left_out", 0.5}}, {}},
      {"entropy-collapse", {{"entropy", 0.001}}, With([](RemedyOptions* s) {
         s->entropy_added = 0.01;
       })},
      {"entropy-eruption", {{"entropy", 2}}, half},
      {"kl-explosion", {{"kl", 8}}, kl},
      {"large-updates", {{"approx_kl", 0.5}}, half},
      {"clip-saturation", {{"clip_fraction", 0.8}}, half},
      {"reward-hacking", {{"reward/mean", 14}, {"dev/success", 0.2}}, back},
      {"only-training-tasks", {{"dev/success", 0.17}, {"success", 0.98}}, {}},
      {"success-collapse", {{"success", 0.05}}, back},
      {"length-explosion", {{"response_length", 150}}, kl},
      {"truncation", {{"truncated_rate", 0.9}}, {}},
      {"call-collapse", {{"tool_calls", 0}}, mix},
      {"call-explosion", {{"tool_calls", 9}}, mix},
      {"needless-calls", {{"needless_call_rate", 0.9}}, With([](RemedyOptions* s) {
         s->reward_scale = {{"when", 1.5}};
       })},
      {"unused-calls", {{"unused_call_rate", 0.6}}, {}},
      {"wrong-tools", {{"which_accuracy", 0.2}}, With([](RemedyOptions* s) {
         s->reward_scale = {{"which", 1.5}};
       })},
      {"format-collapse", {{"valid_action_rate", 0.3}}, With([](RemedyOptions* s) {
         s->demonstration_share = 0.2;
       })},
      {"unread-calls", {{"unread_call_rate", 0.4}}, {}},
      {"execution-failures", {{"execution_failure_rate", 0.6}}, With([](RemedyOptions* s) {
         s->reward_scale = {{"execution", 1.5}};
       })},
      {"fault-spike", {{"fault_rate", 0.6}}, skip},
      {"faults-persist", {{"fault_rate", 0.6}}, stop},
  };
}

TEST(AlarmController, EveryAlarmIsFiredByARunMadeToFailThatWay) {
  std::set<std::string> fired;
  for (const Failure& failure : Failures()) {
    AlarmOptions options = Applying();
    if (failure.alarm == "faults-persist") {  // else the spike fires first
      std::erase_if(options.alarms, [](const Alarm& a) { return a.name == "fault-spike"; });
    }
    AlarmController controller(options);
    std::vector<AlarmEvent> events;
    int64_t step = 0;
    for (; step < 60 && events.empty(); ++step) {
      Metrics metrics = Healthy(step);
      if (step >= 30) {
        for (const auto& [name, value] : failure.bad) metrics[name] = value;
      }
      events = controller.Observe(step, metrics);
      ASSERT_TRUE(events.empty() || step >= 30) << failure.alarm;
    }
    ASSERT_EQ(events.size(), 1u) << failure.alarm;
    EXPECT_EQ(events[0].name, failure.alarm);
    EXPECT_EQ(events[0].step, step - 1);
    EXPECT_NE(events[0].message.find(failure.bad.begin()->first), std::string::npos)
        << events[0].message;
    EXPECT_EQ(controller.settings(), failure.settings) << failure.alarm;
    EXPECT_EQ(events[0].remedy.empty(), failure.settings == RemedyOptions());
    fired.insert(failure.alarm);
  }
  for (const Alarm& alarm : BuiltInAlarms()) {
    EXPECT_TRUE(fired.count(alarm.name)) << alarm.name << " is not tested";
  }
}

// One bad measurement of a small dev set is no alarm; several are.
TEST(AlarmController, OnlyTrainingTasksAreLearnedWhereDevStaysBehindForSeveralMeasurements) {
  AlarmController controller(AlarmOptions{});
  std::vector<int64_t> fired;
  for (int64_t step = 0; step < 40; ++step) {
    for (const auto& event : controller.Observe(step, {{"success", 0.9}})) {
      ADD_FAILURE() << event.name;
    }
    if (step % 5 != 4) continue;
    const double dev = step < 20 ? (step == 9 ? 0.4 : 0.85) : 0.17;
    for (const AlarmEvent& event : controller.Observe(step, {{"dev/success", dev}})) {
      EXPECT_EQ(event.name, "only-training-tasks");
      EXPECT_NE(event.message.find("success is 0.9, and dev/success is 0.3"), std::string::npos)
          << event.message;
      fired.push_back(step);
    }
  }
  EXPECT_EQ(fired, std::vector<int64_t>{29});
}

// A toy of a run: the learning rate blows the entropy up, and the remedy brings it back.
TEST(AlarmController, ARemedyRecoversARunAndIsEasedAfterwards) {
  AlarmController controller(Applying());
  double entropy = 0.12;
  std::vector<double> scales;
  for (int64_t step = 0; step < 120; ++step) {
    const double rate = 3e-4 * controller.settings().learning_rate_scale;
    if (step >= 10 && step < 40) entropy *= rate > 2e-4 ? 1.3 : 0.8;  // a bad stretch
    if (step >= 40) entropy = 0.12;
    Metrics metrics = Healthy(step);
    metrics["entropy"] = entropy;
    controller.Observe(step, metrics);
    scales.push_back(controller.settings().learning_rate_scale);
    EXPECT_LT(entropy, 3) << "without the remedy: 300";
  }
  EXPECT_EQ(*std::min_element(scales.begin(), scales.end()), 0.5);
  EXPECT_EQ(scales.back(), 1) << "eased";
}

// A run that fails in one way from step 30 on, for as long as the remedy does not act on it: it
// needs the second level of a lasting remedy, one skipped step, one roll-back, one pause.
class SickRun {
 public:
  SickRun(Failure failure, Remedy::Kind remedy) : failure_(std::move(failure)), remedy_(remedy) {}

  Metrics At(int64_t step, const RemedyOptions& settings) {
    if (step >= 30 && Strength(settings) >= 2) cured_ = true;
    Metrics metrics = Healthy(step);
    if (step < 30 || cured_) return metrics;
    for (const auto& [name, value] : failure_.bad) metrics[name] = value;
    return metrics;
  }
  // What happens at once does so here.
  void After(const RemedyOptions& settings) {
    if (settings.skip_update || settings.roll_back || settings.stop) cured_ = true;
  }
  bool cured() const { return cured_; }

 private:
  double Strength(const RemedyOptions& settings) const {
    using Kind = Remedy::Kind;
    switch (remedy_) {
      case Kind::kLowerLearningRate: return settings.learning_rate_scale <= 0.25 ? 2 : 0;
      case Kind::kRaiseKl: return settings.kl_added / 0.01;
      case Kind::kRaiseEntropy: return settings.entropy_added / 0.01;
      case Kind::kMixDemonstrations: return settings.demonstration_share >= 0.2 ? 2 : 0;
      case Kind::kDynamicSampling: return settings.dynamic_sampling ? 2 : 0;
      case Kind::kReweight:
        return !settings.reward_scale.empty() && settings.reward_scale.begin()->second > 2 ? 2 : 0;
      default: return 0;
    }
  }

  const Failure failure_;
  const Remedy::Kind remedy_;
  bool cured_ = false;
};

TEST(AlarmController, EveryRemedyBringsItsRunBackAndIsTakenBackAfterwards) {
  for (const Failure& failure : Failures()) {
    AlarmOptions options = Applying();
    std::erase_if(options.alarms, [&](const Alarm& a) { return a.name != failure.alarm; });
    const Alarm alarm = options.alarms.at(0);
    if (alarm.remedy.kind == Remedy::Kind::kNone) continue;  // it only says so
    SickRun run(failure, alarm.remedy.kind);
    AlarmController controller(options);
    std::vector<AlarmEvent> events;
    bool went_back = false;
    for (int64_t step = 0; step < 160; ++step) {
      const auto more = controller.Observe(step, run.At(step, controller.settings()));
      events.insert(events.end(), more.begin(), more.end());
      run.After(controller.settings());
      if (controller.settings().roll_back) {
        ASSERT_FALSE(went_back) << failure.alarm << " goes back again and again";
        went_back = true;
        controller.RolledBack(step = 20);
        --step;
      }
    }
    EXPECT_TRUE(run.cured()) << failure.alarm;
    EXPECT_GE(events.size(), 1u) << failure.alarm;
    EXPECT_LE(events.size(), 2u) << failure.alarm;
    EXPECT_EQ(controller.settings(), RemedyOptions()) << failure.alarm << " is not taken back";
  }
}

TEST(AlarmController, WhatOnePartOfAStepDemandsTheNextDoesNotForget) {
  AlarmController controller(Applying());
  for (int64_t step = 0; step < 20; ++step) {
    Metrics before = {{"success", step < 10 ? 0.9 : 0.1}};
    controller.Observe(step, before);
    if (!controller.settings().roll_back) continue;
    controller.Observe(step, {{"grad_norm", 0.3}, {"loss", 0.1}});  // after the update
    EXPECT_TRUE(controller.settings().roll_back);
    controller.Observe(step + 1, {{"grad_norm", 0.3}});
    EXPECT_FALSE(controller.settings().roll_back);
    return;
  }
  FAIL() << "it never went back";
}

TEST(AlarmController, AnAlarmThatStaysIsSaidOncePerHoldAndTakenFurther) {
  AlarmController controller(Applying());
  std::vector<int64_t> steps;
  for (int64_t step = 0; step < 110; ++step) {
    Metrics metrics = Healthy(step);
    if (step >= 10) metrics["clip_fraction"] = 0.9;
    for (const AlarmEvent& event : controller.Observe(step, metrics)) steps.push_back(event.step);
  }
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[1] - steps[0], 20);
  EXPECT_EQ(controller.settings().learning_rate_scale, 0.125) << "three levels at most";
}

TEST(AlarmController, ARemedyIsEasedOnlyWhenItsMetricIsLookedAtAgain) {
  AlarmController controller(Applying());
  for (int64_t step = 0; step < 15; ++step) {
    Metrics metrics = Healthy(step);
    if (step >= 10) metrics["clip_fraction"] = 0.9;
    controller.Observe(step, metrics);
  }
  const double turned = controller.settings().learning_rate_scale;
  ASSERT_LT(turned, 1);
  Metrics without = Healthy(15);
  without.erase("clip_fraction");
  for (int64_t step = 15; step < 100; ++step) controller.Observe(step, without);
  EXPECT_EQ(controller.settings().learning_rate_scale, turned);
  for (int64_t step = 100; step < 160; ++step) controller.Observe(step, Healthy(step));
  EXPECT_EQ(controller.settings().learning_rate_scale, 1);
}

TEST(AlarmController, WarningDoesNotTouchTheSettingsAndOffSaysNothing) {
  AlarmOptions options = Applying();
  options.mode = AlarmOptions::Mode::kWarn;
  AlarmController warns(options);
  options.mode = AlarmOptions::Mode::kOff;
  AlarmController off(options);
  Metrics metrics = Healthy(0);
  metrics["fault_rate"] = 1;
  metrics["loss"] = std::nan("");
  EXPECT_EQ(warns.Observe(0, metrics).size(), 2u);
  EXPECT_EQ(warns.settings(), RemedyOptions());
  EXPECT_TRUE(off.Observe(0, metrics).empty());
}

TEST(AlarmController, WithoutAReferenceTheLearningRateIsLoweredInstead) {
  AlarmController controller(Applying(false));
  for (int64_t step = 0; step < 3; ++step) controller.Observe(step, {{"kl", 9}});
  EXPECT_EQ(controller.settings().kl_added, 0);
  EXPECT_EQ(controller.settings().learning_rate_scale, 0.5);
}

TEST(AlarmController, GoingBackIsBoundedAndDoesNotForgetWhatWasTurned) {
  AlarmOptions options = Applying();
  options.most_roll_backs = 2;
  AlarmController controller(options);
  int64_t step = 0, backs = 0;
  for (int guard = 0; guard < 500 && !controller.settings().stop; ++guard) {
    Metrics metrics = Healthy(step);
    if (step >= 30) metrics["success"] = 0.05;  // the same every time
    controller.Observe(step, metrics);
    if (controller.settings().roll_back) {
      ++backs;
      const double scale = controller.settings().learning_rate_scale;
      controller.RolledBack(20);
      EXPECT_FALSE(controller.settings().roll_back);
      EXPECT_EQ(controller.settings().learning_rate_scale, scale);
      EXPECT_LT(scale, 1);
      step = 20;
    } else {
      ++step;
    }
  }
  EXPECT_EQ(backs, 2);
  EXPECT_TRUE(controller.settings().stop);
}

// A best that never was must not make what is healthy look like a fall.
TEST(AlarmController, WhatWasObservedBehindARollBackIsForgotten) {
  AlarmController controller(Applying());
  for (int64_t step = 0; step < 40; ++step) {
    Metrics metrics = Healthy(step);
    metrics["success"] = step < 20 ? 0.55 : step < 30 ? 0.95 : 0.05;
    controller.Observe(step, metrics);
    if (controller.settings().roll_back) break;
  }
  ASSERT_TRUE(controller.settings().roll_back);
  controller.RolledBack(20);
  for (int64_t step = 20; step < 60; ++step) {
    Metrics metrics = Healthy(step);
    metrics["success"] = 0.55;
    EXPECT_TRUE(controller.Observe(step, metrics).empty()) << step;
  }
}

TEST(AlarmController, AGamedRewardIsNoticedHoweverLongAgoDevWasBest) {
  AlarmController controller(Applying());
  bool fired = false;
  for (int64_t step = 0; step < 700; ++step) {
    Metrics metrics = Healthy(step);
    metrics["reward/mean"] = step < 600 ? 1.0 : 5.0;
    metrics["dev/success"] = step == 100 ? 0.9 : step < 600 ? 0.85 : 0.3;
    for (const AlarmEvent& event : controller.Observe(step, metrics)) {
      fired = fired || event.name == "reward-hacking";
      EXPECT_GE(event.step, 600) << event.name;
    }
    if (fired) break;
  }
  EXPECT_TRUE(fired);
}

TEST(AlarmController, ARemedyThatHasNothingToTurnSaysSo) {
  for (const bool there : {true, false}) {
    AlarmController controller(Applying());
    std::string remedy;
    for (int64_t step = 0; step < 60 && remedy.empty(); ++step) {
      Metrics metrics = Healthy(step);
      if (there) metrics["reward/when"] = 0.1;
      if (step >= 20) metrics["needless_call_rate"] = 0.9;
      for (const AlarmEvent& event : controller.Observe(step, metrics)) {
        if (event.name == "needless-calls") remedy = event.remedy;
      }
    }
    EXPECT_EQ(remedy.starts_with("weigh the reward"), there) << remedy;
    EXPECT_EQ(remedy.starts_with("nothing:"), !there) << remedy;
  }
}

TEST(AlarmController, MetricsOfAStepMayComeInParts) {
  AlarmController whole(Applying()), parts(Applying());
  for (int64_t step = 0; step < 60; ++step) {
    Metrics metrics = Healthy(step), first;
    if (step >= 20) metrics["grad_norm"] = 80;
    first["fault_rate"] = metrics["fault_rate"];
    const auto expected = whole.Observe(step, metrics);
    metrics.erase("fault_rate");
    EXPECT_TRUE(parts.Observe(step, first).empty());
    EXPECT_EQ(parts.Observe(step, metrics).size(), expected.size()) << step;
    EXPECT_EQ(parts.settings(), whole.settings()) << step;
  }
}

TEST(AlarmController, ResumedEqualsUninterrupted) {
  AlarmController whole(Applying());
  auto cut = std::make_unique<AlarmController>(Applying());
  for (int64_t step = 0; step < 120; ++step) {
    Metrics metrics = Healthy(step);
    if (step % 50 > 30) metrics["entropy"] = 1e-4;
    if (step % 40 > 25) metrics["dev/success"] = 0.1;
    if (step % 17 == 3) metrics["grad_norm"] = std::nan("");
    const auto expected = whole.Observe(step, metrics);
    const auto events = cut->Observe(step, metrics);
    ASSERT_EQ(events.size(), expected.size()) << step;
    for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].message, expected[i].message);
    EXPECT_EQ(cut->settings(), whole.settings()) << step;
    if (step % 7 == 0) {
      const std::string state = DumpJson(cut->ToJson());
      cut = std::make_unique<AlarmController>(Applying());
      ASSERT_TRUE(cut->Restore(*ParseJson(state)).ok());
      EXPECT_EQ(DumpJson(cut->ToJson()), state);
    }
  }
  for (const char* bad :
       {"{}", "[]", R"({"histories":{"a":{}},"alarms":{},"roll_backs":0})",
        R"({"histories":{},"alarms":{"x":{"level":9,"fired":1,"held":1}},"roll_backs":0})"}) {
    EXPECT_FALSE(cut->Restore(*ParseJson(bad)).ok()) << bad;
  }
}

}  // namespace
}  // namespace hone
