#include "rewards/presets.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "record/reward_terms.h"
#include "rewards/components.h"
#include "rewards/milestones.h"
#include "rewards/published_rewarders.h"
#include "rewards/switchboard_reward.h"

namespace hone {
namespace {

std::unique_ptr<Rewarder> NewDefaultReward(const PresetOptions& options) {
  ComponentOptions components{options.pays, {}};
  components.runner = options.runner;
  components.panels = options.panels;
  return NewComponents(std::move(components));
}

}  // namespace

std::vector<Preset> BuiltInPresets() {
  using Options = const PresetOptions&;
  return {
      {"default",
       "the seven components, success paid far more than failure costs",
       ComponentNames(),
       {"tool_needed", "calls", "answer"},
       [](Options options) { return NewDefaultReward(options); }},
      {"outcome",
       "the answer's score from 0 to 1",
       {kOutcomeTerm},
       {"answer"},
       [](Options options) { return NewOutcomeReward(options.runner); }},
      {"call-f1",
       "F1 of calls against the gold calls, each call's part on the call; junk calls cost",
       {kCallTerm},
       {"calls"},
       [](Options) { return NewCallF1Reward(); }},
      {"expert",
       "how like the expert's each step is",
       {kExpertTerm},
       {"calls", "answer"},
       [](Options) { return NewExpertReward(); }},
      {"milestones",
       "verifiable events, each paid once",
       {kMilestoneTerm},
       {"milestones"},
       [](Options) { return NewMilestones(); }},
      {"toolpo",
       "ToolPO: success, whether each call is right, whether folding shortened",
       {kOutcomeTerm, kCallTerm, kFoldTerm},
       {"answer", "calls"},
       [](Options options) { return NewToolPoReward(options.runner); }},
      {"desk",
       "the desk: success; +1 for a needed call, -0.25 for waste, -0.5 for an error",
       {kOutcomeTerm, kCallTerm},
       {"answer", "calls"},
       [](Options options) { return NewDeskReward(options.runner); }},
      {"switchboard",
       "the switchboard: success; +1 for a call that is right where it stands, -0.25 for any "
       "other, "
       "and for one that is missing",
       {kOutcomeTerm, kCallTerm, kOmittedTerm},
       {"answer", "calls"},
       [](Options options) { return NewSwitchboardReward(options.runner); }},
      {"toolrl",
       "ToolRL: format 0 or 1, graded match of calls from -3 to 3",
       {kFormatTerm, kCorrectnessTerm},
       {"calls"},
       [](Options) { return NewToolRlReward(); }},
      {"search-r1",
       "Search-R1: exact match, 0 or 1",
       {kOutcomeTerm},
       {"answer"},
       [](Options options) { return NewSearchR1Reward(options.runner); }},
      {"retool",
       "ReTool: right 1, wrong -1",
       {kOutcomeTerm},
       {"answer"},
       [](Options options) { return NewReToolReward(false, options.runner); }},
      {"retool-turns",
       "ReTool as trained in verl: a wrong answer costs less after more turns, at least 0.6",
       {kOutcomeTerm},
       {"answer"},
       [](Options options) { return NewReToolReward(true, options.runner); }},
      {"torl",
       "ToRL: right 1, wrong -1, and -0.5 once when code did not run",
       {kOutcomeTerm, kExecutionTerm},
       {"answer"},
       [](Options options) { return NewToRlReward(options.runner); }},
      {"tool-star",
       "Tool-Star and ARPO: bad format -1, else the answer's F1, +0.1 for several tools that ran",
       {kFormatTerm, kOutcomeTerm, kToolsTerm},
       {"answer"},
       [](Options options) { return NewToolStarReward(options.runner); }},
      {"tapo",
       "TAPO: bad format -1, else graded by kind of question; long responses lose",
       {kFormatTerm, kOutcomeTerm, kLengthTerm, kAccuracyTerm},
       {"answer"},
       [](Options) { return NewTapoReward(); }},
      {"otc-ppo",
       "OTC-PPO: right answers, worth less the more calls they took",
       {kOutcomeTerm},
       {"answer"},
       [](Options options) { return NewOtcReward(false, options.runner); }},
      {"otc-grpo",
       "OTC-GRPO: the same against the fewest calls of a right sibling",
       {kOutcomeTerm},
       {"answer"},
       [](Options options) { return NewOtcReward(true, options.runner); }},
      {"adareasoner",
       "AdaReasoner: bad format 0, right 8, else the mean worth of the calls (1 to 4)",
       {kOutcomeTerm, kCallTerm},
       {"answer"},
       [](Options options) { return NewAdaReasonerReward(options.runner); }},
      {"toolorchestra",
       "ToolOrchestra: wrong 0, else the user's preferences over features of the group",
       {kOutcomeTerm},
       {"answer", "preferences"},
       [](Options options) { return NewToolOrchestraReward(options.runner); }},
      {"toolorchestra-cost",
       "ToolOrchestra's other one: right 1, less 5 x money and 1/500 per second, at most 0.8",
       {kOutcomeTerm, kCostTerm},
       {"answer"},
       [](Options options) { return NewOrchestraCostReward(options.runner); }},
      {"mua-rl",
       "MUA-RL: the final state equals the gold one and the agent said what it had to",
       {kOutcomeTerm},
       {"outputs"},
       [](Options) { return NewMuaRlReward(); }},
      {"tgrl",
       "TGRL: the outcome, and half of it again when all calls were in order",
       {kOutcomeTerm, kCallTerm},
       {"answer"},
       [](Options options) { return NewTgrlReward(options.runner); }},
  };
}

Result<std::unique_ptr<Rewarder>> NewPreset(std::string_view name, const PresetOptions& options) {
  for (const auto& [component, panel] : options.panels) {
    const Result<void> sound = CheckPanel(panel);
    if (!sound.ok()) return sound.error().In(component);
  }
  std::vector<std::string> names;
  for (const Preset& preset : BuiltInPresets()) {
    if (preset.name == name) return preset.make(options);
    names.push_back(preset.name);
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("no reward is called \"{}\"{}; hone rewards list shows them", name,
                           DidYouMean(name, names)));
}

}  // namespace hone
