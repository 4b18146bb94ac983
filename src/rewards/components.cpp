#include "rewards/components.h"

#include "record/reward_terms.h"
#include "rewards/outcome.h"

namespace hone {
namespace {

// A score of the rule, where it has one.
std::optional<Opinion> Sure(std::optional<double> score) {
  if (!score) return std::nullopt;
  return Opinion{*score, 1};
}
std::optional<Opinion> Sure(bool right) { return Opinion{right ? 1.0 : 0.0, 1}; }

// Scores one trajectory: gathers what each component's panel decides, then pays.
class Payer {
 public:
  Payer(const ComponentOptions& options, const TaskTools& tools, const TrajectoryView& trajectory,
        const Labels& labels)
      : options_(options), tools_(tools), trajectory_(trajectory), labels_(labels) {
    if (labels.calls) match_ = ScoreCalls(trajectory.bare_calls(), *labels.calls);
    // Where nobody says that a tool is needed, calling earns nothing by itself.
    syntax_paid_ = execution_paid_ = labels.tool_needed != true;
  }

  std::vector<RewardTerm> Terms() {
    PayWhen();
    for (size_t i = 0; i < trajectory_.calls.size(); ++i) PayForGold(i);
    for (size_t i = 0; i < trajectory_.calls.size(); ++i) PaySyntax(i);
    for (const TrajectoryView::MadeFault& fault : trajectory_.faults) {
      Add(trajectory_.AtFault(kSyntaxTerm, std::nullopt, fault), Sure(false), options_.syntax);
    }
    PayOutcome();
    Add(trajectory_.AtAnswer(kPreferenceTerm, std::nullopt), std::nullopt, options_.preference);
    return std::move(terms_);
  }

 private:
  // Has the component's panel decide; nothing when nobody has an opinion.
  Decision Ask(const RewardTerm& place, const std::optional<Opinion>& rule) const {
    const auto panel = options_.panels.find(place.name);
    const Question question{place.name, trajectory_, labels_, place.node, place.span};
    return Decide(panel == options_.panels.end() ? Panel() : panel->second, rule, question);
  }

  // Puts down a term with its value or its fault.
  void Put(RewardTerm term, std::optional<double> value, std::optional<TermFault> fault) {
    if (!value && !fault) return;
    if (const auto weight = options_.weights.find(term.name); weight != options_.weights.end()) {
      term.weight = weight->second;
    }
    term.value = value;
    term.fault = std::move(fault);
    terms_.push_back(std::move(term));
  }

  // Returns the score that was decided.
  std::optional<double> Add(RewardTerm place, const std::optional<Opinion>& rule, const Pay& pay) {
    Decision decision = Ask(place, rule);
    std::optional<double> value;
    if (decision.score) value = pay.Of(*decision.score);
    Put(std::move(place), value, std::move(decision.fault));
    return decision.score;
  }

  void PayWhen() {
    const bool called = !trajectory_.calls.empty();
    if (labels_.tool_needed == false && called) {
      for (const TrajectoryView::MadeCall& call : trajectory_.calls) {
        Add(trajectory_.AtCall(kWhenTerm, std::nullopt, call), Sure(false), options_.refrained);
      }
      return;
    }
    const std::optional<Opinion> rule =
        labels_.tool_needed ? Sure(*labels_.tool_needed == called) : std::nullopt;
    const bool needed = labels_.tool_needed ? *labels_.tool_needed : called;
    Add(called ? trajectory_.AtCall(kWhenTerm, std::nullopt, trajectory_.calls[0])
               : trajectory_.AtAnswer(kWhenTerm, std::nullopt),
        rule, needed ? options_.called : options_.refrained);
  }

  // Which, execution and arguments of one call.
  void PayForGold(size_t index) {
    const TrajectoryView::MadeCall& call = trajectory_.calls[index];
    const int32_t gold = match_ ? match_->gold_of[index] : -1;
    // Where no tool is needed the mistake is to call at all, not which.
    const bool which_matters = match_ && labels_.tool_needed != false;
    const std::optional<double> which =
        Add(trajectory_.AtCall(kWhichTerm, std::nullopt, call),
            which_matters ? Sure(gold >= 0) : std::nullopt, options_.which);
    const bool known = which || match_ || labels_.tool_needed == false;
    const bool right = which ? *which >= 0.5 : gold >= 0;
    PayExecution(call, known, right);
    if (known && !right) return;
    std::optional<double> score;
    if (gold >= 0 && labels_.calls->calls[gold].arguments) {
      score = ArgumentScore(call.call->arguments, labels_.calls->calls[gold]);
    }
    if (Add(trajectory_.AtCall(kArgumentsTerm, std::nullopt, call), Sure(score),
            options_.arguments)) {
      arguments_scored_ = true;
    }
  }

  void PayExecution(const TrajectoryView::MadeCall& call, bool known, bool right) {
    RewardTerm place = trajectory_.AtCall(kExecutionTerm, std::nullopt, call);
    const CallRun run = RunOf(call);
    std::optional<Opinion> rule;
    if (run == CallRun::kRan || run == CallRun::kFailed) rule = Sure(run == CallRun::kRan);
    Decision decision = Ask(place, rule);
    std::optional<double> value;
    if (decision.score) {
      // A call that ran is paid where its tool was right, or once where nobody knows.
      const bool earns = known ? right : !execution_paid_;
      const double score = *decision.score;
      value = earns || score < 0.5 ? options_.execution.Of(score) : 0;
      if (!known && score >= 0.5) execution_paid_ = true;
    }
    Put(std::move(place), value, std::move(decision.fault));
  }

  void PaySyntax(size_t index) {
    const TrajectoryView::MadeCall& call = trajectory_.calls[index];
    RewardTerm place = trajectory_.AtCall(kSyntaxTerm, std::nullopt, call);
    const CallForm form = tools_.FormOf(call);
    std::optional<Opinion> rule;
    if (form != CallForm::kUnknown) rule = Sure(form == CallForm::kRight);
    Decision decision = Ask(place, rule);
    std::optional<double> value;
    if (decision.score) {
      const bool good = *decision.score >= 0.5;
      const bool earns = !arguments_scored_ && !syntax_paid_;
      value = earns || !good ? options_.syntax.Of(*decision.score) : 0;
      if (good) syntax_paid_ = true;
    }
    Put(std::move(place), value, std::move(decision.fault));
  }

  void PayOutcome() {
    const Outcome outcome = OutcomeOf(trajectory_, labels_, std::nullopt, options_.runner);
    RewardTerm place = trajectory_.AtAnswer(kOutcomeTerm, std::nullopt);
    if (outcome.fault) return Put(std::move(place), std::nullopt, outcome.fault);
    std::optional<double> score;
    if (outcome.match) score = outcome.match->score;
    Add(std::move(place), Sure(score), options_.outcome);
  }

  const ComponentOptions& options_;
  const TaskTools& tools_;
  const TrajectoryView& trajectory_;
  const Labels& labels_;
  std::optional<CallScore> match_;
  std::vector<RewardTerm> terms_;
  bool arguments_scored_ = false;
  bool syntax_paid_ = false;
  bool execution_paid_ = false;
};

}  // namespace

std::vector<std::string> ComponentNames() {
  return {kWhenTerm,      kWhichTerm,   kSyntaxTerm,    kExecutionTerm,
          kArgumentsTerm, kOutcomeTerm, kPreferenceTerm};
}

std::unique_ptr<Rewarder> NewComponents(ComponentOptions options) {
  const bool apart = options.panels.empty();  // models and judges are asked one thing at a time
  return NewGroupRewarder(
      [options = std::move(options)](const std::vector<TrajectoryView>& group, const Labels& labels,
                                     const Task& task) {
        const TaskTools tools = TaskTools::Of(task);
        std::vector<std::vector<RewardTerm>> all;
        for (const TrajectoryView& trajectory : group) {
          all.push_back(Payer(options, tools, trajectory, labels).Terms());
        }
        return all;
      },
      apart);
}

}  // namespace hone
