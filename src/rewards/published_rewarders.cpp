#include "rewards/published_rewarders.h"

#include <algorithm>
#include <set>

#include "record/economy.h"
#include "record/final_state.h"
#include "record/reward_terms.h"
#include "rewards/cost.h"
#include "rewards/matching/plain_text.h"
#include "rewards/outcome.h"
#include "rewards/published.h"

namespace hone {
namespace {

using Terms = std::vector<RewardTerm>;

// The constants of the published rewards that have no place in a task.
constexpr double kOtcSmoothing = 4;     // calls, where the task has no budget
constexpr int64_t kTapoMost = 2048;     // tokens
constexpr int64_t kTapoBuffer = 1024;   // tokens
constexpr double kTapoRight = 0.9;      // a score above it counts as right
constexpr double kToRlFailure = 0.5;    // lost when code did not run
constexpr double kToolStarBonus = 0.1;  // for using several kinds of tools
constexpr double kAdaReasonerRight = 8;
constexpr double kTgrlTools = 0.5;     // weight of the tool reward
constexpr int64_t kTgrlMostCalls = 4;  // where the task has no budget
constexpr double kDeskRight = 1, kDeskWaste = -0.25, kDeskError = -0.5;

// The outcome, with the term for a fault put down already; nothing to be paid when no match.
std::optional<AnswerMatch> MatchOf(const TrajectoryView& trajectory, const Labels& labels,
                                   std::optional<AnswerKind> usual, ProgramRunner* runner,
                                   Terms* terms) {
  const Outcome outcome = OutcomeOf(trajectory, labels, usual, runner);
  if (outcome.fault) {
    RewardTerm term = trajectory.AtAnswer(kOutcomeTerm, std::nullopt);
    term.fault = outcome.fault;
    terms->push_back(std::move(term));
  }
  return outcome.match;
}

// A reward of the outcome alone: `value` of the match.
template <typename Value>
std::unique_ptr<Rewarder> NewMatchReward(std::optional<AnswerKind> usual, ProgramRunner* runner,
                                         Value value) {
  return NewLeafRewarder([=](const TrajectoryView& trajectory, const Labels& labels) {
    Terms terms;
    if (const auto match = MatchOf(trajectory, labels, usual, runner, &terms)) {
      terms.push_back(trajectory.AtAnswer(kOutcomeTerm, value(*match, trajectory)));
    }
    return terms;
  });
}

bool WasAnError(CallRun run) { return run == CallRun::kFailed || run == CallRun::kNeverRan; }

// What broke by somebody else's fault is no error of the agent's.
bool NoneWasAnError(const TrajectoryView& trajectory) {
  return std::none_of(trajectory.calls.begin(), trajectory.calls.end(),
                      [](const auto& call) { return WasAnError(RunOf(call)); });
}

}  // namespace

std::unique_ptr<Rewarder> NewOutcomeReward(ProgramRunner* runner) {
  return NewMatchReward(std::nullopt, runner, [](const AnswerMatch& match, const TrajectoryView&) {
    return match.score;
  });
}

// 2 * sum of similarities / (calls + gold calls), each call's part on the call itself.
std::unique_ptr<Rewarder> NewCallF1Reward() {
  return NewLeafRewarder([](const TrajectoryView& trajectory, const Labels& labels) -> Terms {
    if (!labels.calls) return {};
    const CallScore score = ScoreCalls(trajectory.bare_calls(), *labels.calls);
    const double order = score.order.value_or(1);
    if (trajectory.calls.empty()) return {trajectory.AtAnswer(kCallTerm, score.f1 * order)};
    const auto both = static_cast<double>(trajectory.calls.size() + labels.calls->calls.size());
    Terms terms;
    for (size_t i = 0; i < trajectory.calls.size(); ++i) {
      terms.push_back(trajectory.AtCall(kCallTerm, order * 2 * score.similarity[i] / both,
                                        trajectory.calls[i]));
    }
    return terms;
  });
}

std::unique_ptr<Rewarder> NewExpertReward() {
  return NewLeafRewarder([](const TrajectoryView& trajectory, const Labels& labels) {
    Terms terms;
    if (labels.calls) {
      const auto alike = ExpertSimilarity(trajectory.bare_calls(), labels.calls->calls);
      for (size_t i = 0; i < alike.size(); ++i) {
        terms.push_back(trajectory.AtCall(kExpertTerm, alike[i], trajectory.calls[i]));
      }
    }
    if (labels.answer.is_string() && trajectory.answer().is_string()) {
      terms.push_back(trajectory.AtAnswer(
          kExpertTerm, TextSimilarity(NormalisedText(trajectory.answer().AsString()),
                                      NormalisedText(labels.answer.AsString()))));
    }
    return terms;
  });
}

std::unique_ptr<Rewarder> NewToolPoReward(ProgramRunner* runner) {
  return NewGroupRewarder([=](const std::vector<TrajectoryView>& group, const Labels& labels,
                              const Task&) {
    // The length without folding is that of the siblings that did not fold.
    double direct_tokens = 0, direct = 0;
    for (const TrajectoryView& trajectory : group) {
      if (trajectory.folded) continue;
      direct_tokens += static_cast<double>(trajectory.all_tokens);
      ++direct;
    }
    std::vector<Terms> all;
    for (const TrajectoryView& trajectory : group) {
      Terms terms;
      if (const auto match = MatchOf(trajectory, labels, std::nullopt, runner, &terms)) {
        terms.push_back(trajectory.AtAnswer(kOutcomeTerm, match->match ? 1 : 0));
      }
      std::optional<CallScore> score;
      if (labels.calls) score = ScoreCalls(trajectory.bare_calls(), *labels.calls);
      for (size_t i = 0; i < trajectory.calls.size(); ++i) {
        const TrajectoryView::MadeCall& call = trajectory.calls[i];
        std::optional<bool> right;
        if (score) {
          const int32_t gold = score->gold_of[i];
          right = gold >= 0 && IsRightCall(*call.call, labels.calls->calls[gold]);
        } else if (const CallRun run = RunOf(call); run != CallRun::kUnknown) {
          right = run == CallRun::kRan;
        }
        if (right) terms.push_back(trajectory.AtCall(kCallTerm, *right ? 1 : 0, call));
      }
      if (trajectory.folded && direct > 0) {
        terms.push_back(trajectory.Overall(
            kFoldTerm,
            FoldPreference(direct_tokens / direct, static_cast<double>(trajectory.all_tokens))));
      }
      all.push_back(std::move(terms));
    }
    return all;
  });
}

std::unique_ptr<Rewarder> NewDeskReward(ProgramRunner* runner) {
  return NewLeafRewarder([=](const TrajectoryView& trajectory, const Labels& labels) {
    Terms terms;
    if (const auto match = MatchOf(trajectory, labels, AnswerKind::kExact, runner, &terms)) {
      terms.push_back(trajectory.AtAnswer(kOutcomeTerm, match->match ? 1 : 0));
    }
    for (const TrajectoryView::MadeFault& fault : trajectory.faults) {
      terms.push_back(trajectory.AtFault(kCallTerm, kDeskError, fault));
    }
    if (!labels.calls) return terms;
    const CallScore score = ScoreCalls(trajectory.bare_calls(), *labels.calls);
    for (size_t i = 0; i < trajectory.calls.size(); ++i) {
      const TrajectoryView::MadeCall& call = trajectory.calls[i];
      const int32_t gold = score.gold_of[i];
      const bool right = gold >= 0 && IsRightCall(*call.call, labels.calls->calls[gold]);
      const double value = right ? kDeskRight : WasAnError(RunOf(call)) ? kDeskError : kDeskWaste;
      terms.push_back(trajectory.AtCall(kCallTerm, value, call));
    }
    return terms;
  });
}

std::unique_ptr<Rewarder> NewToolRlReward() {
  return NewLeafRewarder([](const TrajectoryView& trajectory, const Labels& labels) {
    const bool readable = trajectory.faults.empty();
    Terms terms = {trajectory.Overall(kFormatTerm, readable ? 1 : 0)};
    if (!labels.calls) return terms;
    const double correctness =
        labels.calls->calls.empty() ? 0
        : readable ? ToolRl(trajectory.bare_calls(), labels.calls->calls).correctness
                   : -3;
    RewardTerm term = trajectory.Overall(kCorrectnessTerm, correctness);
    // Calls of one turn earn it there.
    if (!trajectory.calls.empty() &&
        trajectory.calls.front().node == trajectory.calls.back().node) {
      term.node = trajectory.calls.front().node;
    }
    terms.push_back(std::move(term));
    return terms;
  });
}

std::unique_ptr<Rewarder> NewSearchR1Reward(ProgramRunner* runner) {
  return NewMatchReward(
      AnswerKind::kQaExact, runner,
      [](const AnswerMatch& match, const TrajectoryView&) { return match.match ? 1.0 : 0.0; });
}

std::unique_ptr<Rewarder> NewReToolReward(bool shaped, ProgramRunner* runner) {
  return NewMatchReward(AnswerKind::kMath, runner,
                        [shaped](const AnswerMatch& match, const TrajectoryView& trajectory) {
                          const double score = match.match ? 1 : -1;
                          return shaped ? ReToolShaped(score, trajectory.turns) : score;
                        });
}

std::unique_ptr<Rewarder> NewToRlReward(ProgramRunner* runner) {
  return NewLeafRewarder([=](const TrajectoryView& trajectory, const Labels& labels) {
    Terms terms;
    if (const auto match = MatchOf(trajectory, labels, AnswerKind::kMath, runner, &terms)) {
      terms.push_back(trajectory.AtAnswer(kOutcomeTerm, match->match ? 1 : -1));
    }
    bool charged = false;
    for (const TrajectoryView::MadeCall& call : trajectory.calls) {
      const bool charge = !charged && WasAnError(RunOf(call));  // once, however often
      terms.push_back(trajectory.AtCall(kExecutionTerm, charge ? -kToRlFailure : 0, call));
      charged |= charge;
    }
    return terms;
  });
}

std::unique_ptr<Rewarder> NewToolStarReward(ProgramRunner* runner) {
  return NewLeafRewarder([=](const TrajectoryView& trajectory, const Labels& labels) {
    const bool readable = trajectory.well_formed();
    Terms terms = {trajectory.Overall(kFormatTerm, readable ? 0 : -1)};
    const auto match = MatchOf(trajectory, labels, AnswerKind::kQaF1, runner, &terms);
    if (!match) return terms;
    const double score = readable ? match->score : 0;
    terms.push_back(trajectory.AtAnswer(kOutcomeTerm, score));
    std::set<std::string> kinds;
    for (const TrajectoryView::MadeCall& call : trajectory.calls) {
      if (RunOf(call) == CallRun::kRan) kinds.insert(call.call->name);
    }
    const bool several = score > 0 && kinds.size() > 1;
    terms.push_back(trajectory.Overall(kToolsTerm, several ? kToolStarBonus : 0));
    return terms;
  });
}

std::unique_ptr<Rewarder> NewTapoReward() {
  return NewLeafRewarder([](const TrajectoryView& trajectory, const Labels& labels) {
    const auto accuracy = [&](bool right) {
      RewardTerm term = trajectory.Overall(kAccuracyTerm, right ? 1 : 0);
      term.weight = 0;  // for who reads the record, not for the sum
      return term;
    };
    Terms terms = {trajectory.Overall(kLengthTerm,
                                      Overlong(trajectory.policy_tokens, kTapoMost, kTapoBuffer))};
    const bool readable = trajectory.well_formed();
    terms.push_back(trajectory.Overall(kFormatTerm, readable ? 0 : -1));
    if (labels.answer.is_null()) return terms;
    if (!readable) {
      terms.push_back(accuracy(false));
      terms.push_back(trajectory.AtAnswer(kOutcomeTerm, 0));
      return terms;
    }
    const AnswerKind kind = labels.answer_kind.value_or(
        labels.answer.is_number() ? AnswerKind::kNumber : AnswerKind::kQaF1);
    const Result<double> score =
        TapoScore(kind, trajectory.answer(), labels.answer, labels.answer_options.relative);
    RewardTerm term = trajectory.AtAnswer(kOutcomeTerm, std::nullopt);
    if (score.ok()) {
      term.value = *score;
      terms.push_back(accuracy(*score > kTapoRight));
    } else {
      term.fault = TermFault{Blame::kJudge, score.error().message()};
    }
    terms.push_back(std::move(term));
    return terms;
  });
}

std::unique_ptr<Rewarder> NewOtcReward(bool grouped, ProgramRunner* runner) {
  return NewGroupRewarder(
      [=](const std::vector<TrajectoryView>& group, const Labels& labels, const Task&) {
        std::vector<Terms> all(group.size());
        std::vector<std::optional<AnswerMatch>> matches;
        // The group counts before it is scored, so that a new best is not paid less than the old
        // one.
        std::optional<int64_t> least = labels.least_calls;
        for (size_t i = 0; i < group.size(); ++i) {
          matches.push_back(MatchOf(group[i], labels, AnswerKind::kMath, runner, &all[i]));
          const auto calls = static_cast<int64_t>(group[i].calls.size());
          if (matches[i] && matches[i]->match) least = std::min(least.value_or(calls), calls);
        }
        const double smoothing = labels.budget.calls && *labels.budget.calls > 0
                                     ? static_cast<double>(*labels.budget.calls)
                                     : kOtcSmoothing;
        for (size_t i = 0; i < group.size(); ++i) {
          if (!matches[i]) continue;
          const auto calls = static_cast<double>(group[i].calls.size());
          double value = 0;
          if (matches[i]->match) {
            value = grouped ? OtcGrpoFactor(calls, static_cast<double>(*least), smoothing)
                            : OtcPpoFactor(calls, smoothing);
          }
          all[i].push_back(group[i].AtAnswer(kOutcomeTerm, value));
        }
        return all;
      });
}

std::unique_ptr<Rewarder> NewAdaReasonerReward(ProgramRunner* runner) {
  return NewLeafRewarder([=](const TrajectoryView& trajectory, const Labels& labels) {
    Terms terms;
    const auto match = MatchOf(trajectory, labels, AnswerKind::kText, runner, &terms);
    if (!match) return terms;
    const bool readable = trajectory.well_formed();
    const bool right = readable && match->match;
    terms.push_back(trajectory.AtAnswer(kOutcomeTerm, right ? kAdaReasonerRight : 0));
    // Of the trajectory as a whole: what is paid for calls is paid where the answer is wrong, and
    // on single calls it would make those of right answers the worse ones.
    const Json* own = FinalState(*trajectory.final_state).call_scores();
    double calls = 0;
    for (size_t i = 0; i < trajectory.calls.size(); ++i) {
      const TrajectoryView::MadeCall& call = trajectory.calls[i];
      const bool known = call.result != nullptr && call.result->status != CallStatus::kUnknownTool;
      double score = RunOf(call) == CallRun::kRan ? 1 : 0;
      if (own != nullptr && own->is_array() && i < own->AsArray().size() &&
          own->AsArray()[i].is_number()) {
        score = own->AsArray()[i].AsDouble();
      }
      calls += AdaReasonerCall(known, score) / static_cast<double>(trajectory.calls.size());
    }
    terms.push_back(trajectory.Overall(kCallTerm, right || !readable ? 0 : calls));
    return terms;
  });
}

std::unique_ptr<Rewarder> NewToolOrchestraReward(ProgramRunner* runner) {
  return NewGroupRewarder(
      [=](const std::vector<TrajectoryView>& group, const Labels& labels, const Task& task) {
        const TaskTools tools = TaskTools::Of(task);
        const std::map<std::string, double> usual = {{"accuracy", 1}, {"latency", 1}, {"cost", 1}};
        std::vector<Terms> all(group.size());
        std::vector<std::optional<AnswerMatch>> matches;
        std::vector<std::map<std::string, double>> features;
        for (size_t i = 0; i < group.size(); ++i) {
          matches.push_back(MatchOf(group[i], labels, AnswerKind::kText, runner, &all[i]));
          const Usage usage = UsageOf(group[i], tools);
          std::map<std::string, double> feature = {
              {"accuracy", matches[i] && matches[i]->match ? 1.0 : 0.0},
              {"latency", -usage.seconds},
              {"cost", -usage.money}};
          for (const TrajectoryView::MadeCall& call : group[i].calls) {
            feature["calls." + call.call->name] += 1;
          }
          features.push_back(std::move(feature));
        }
        const std::vector<double> rewards =
            PreferenceWeighted(features, labels.preferences.empty() ? usual : labels.preferences);
        for (size_t i = 0; i < group.size(); ++i) {
          if (!matches[i]) continue;
          all[i].push_back(group[i].AtAnswer(kOutcomeTerm, matches[i]->match ? rewards[i] : 0));
        }
        return all;
      });
}

std::unique_ptr<Rewarder> NewOrchestraCostReward(ProgramRunner* runner) {
  return NewGroupRewarder(
      [=](const std::vector<TrajectoryView>& group, const Labels& labels, const Task& task) {
        const TaskTools tools = TaskTools::Of(task);
        std::vector<Terms> all;
        for (const TrajectoryView& trajectory : group) {
          Terms terms;
          if (const auto match = MatchOf(trajectory, labels, AnswerKind::kText, runner, &terms)) {
            terms.push_back(trajectory.AtAnswer(kOutcomeTerm, match->match ? 1 : 0));
          }
          const Usage usage = UsageOf(trajectory, tools);
          terms.push_back(
              trajectory.Overall(kCostTerm, -std::min(0.8, 5 * usage.money + usage.seconds / 500)));
          all.push_back(std::move(terms));
        }
        return all;
      });
}

std::unique_ptr<Rewarder> NewMuaRlReward() {
  return NewLeafRewarder([](const TrajectoryView& trajectory, const Labels& labels) {
    Terms terms;
    const FinalState state(*trajectory.final_state);
    const Json *reached = state.state_hash(), *gold = state.gold_state_hash();
    if (reached == nullptr || gold == nullptr) {
      if (const auto match = MatchOf(trajectory, labels, std::nullopt, nullptr, &terms)) {
        terms.push_back(trajectory.AtAnswer(kOutcomeTerm, match->match ? 1 : 0));
      }
      return terms;
    }
    // What the agent said to the user, the answer included; never what a tool said.
    std::vector<std::string> said;
    if (const Json* messages = state.messages(); messages && messages->is_array()) {
      for (const Json& message : messages->AsArray()) {
        if (message.is_string()) said.push_back(Replaced(message.AsString(), ",", ""));
      }
    }
    if (trajectory.answer().is_string()) {
      said.push_back(Replaced(trajectory.answer().AsString(), ",", ""));
    }
    bool right = *reached == *gold;
    for (const std::string& output : labels.outputs) {
      const std::string wanted = Replaced(output, ",", "");
      right = right && std::any_of(said.begin(), said.end(), [&](const std::string& message) {
                return message.find(wanted) != std::string::npos;
              });
    }
    terms.push_back(trajectory.AtAnswer(kOutcomeTerm, right ? 1 : 0));
    return terms;
  });
}

std::unique_ptr<Rewarder> NewTgrlReward(ProgramRunner* runner) {
  return NewLeafRewarder([=](const TrajectoryView& trajectory, const Labels& labels) {
    Terms terms;
    const auto match = MatchOf(trajectory, labels, AnswerKind::kMath, runner, &terms);
    if (!match) return terms;
    terms.push_back(trajectory.AtAnswer(kOutcomeTerm, match->score));
    const auto most =
        static_cast<size_t>(std::max<int64_t>(0, labels.budget.calls.value_or(kTgrlMostCalls)));
    const bool good =
        trajectory.faults.empty() && NoneWasAnError(trajectory) && trajectory.calls.size() <= most;
    terms.push_back(trajectory.Overall(kCallTerm, good ? kTgrlTools * match->score : 0));
    return terms;
  });
}

}  // namespace hone
