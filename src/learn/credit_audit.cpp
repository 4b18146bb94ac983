#include "learn/credit_audit.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "evaluate/measures.h"
#include "learn/step.h"
#include "rewards/labels.h"
#include "rewards/trajectory_view.h"

namespace hone {
namespace {

double SumOver(const std::vector<float>& values, const Span& span) {
  return std::accumulate(values.begin() + span.begin, values.begin() + span.end, 0.0);
}

// What each call of a trajectory is, in their order. An environment that judges calls where they
// stand knows better than the gold plan: behind a wrong call the right ones are others.
std::vector<CallVerdict> VerdictsOf(const TrajectoryView& view, const GoldCalls& gold) {
  const std::vector<const Call*> calls = view.bare_calls();
  if (const std::optional<std::vector<bool>> said = view.said_right()) {
    std::vector<CallVerdict> verdicts;
    for (const bool right : *said) {
      verdicts.push_back(right ? CallVerdict::kRight : CallVerdict::kWrong);
    }
    return verdicts;
  }
  const CallScore score = ScoreCalls(calls, gold);
  std::vector<CallVerdict> verdicts;
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto is_right = [&](const GoldCall& one) { return IsRightCall(*calls[i], one); };
    const int32_t stands_for = score.gold_of[i];
    if (stands_for >= 0 && is_right(gold.calls[static_cast<size_t>(stands_for)])) {
      verdicts.push_back(CallVerdict::kRight);
    } else if (gold.calls.empty() || std::any_of(gold.calls.begin(), gold.calls.end(), is_right)) {
      verdicts.push_back(CallVerdict::kNeedless);
    } else {
      verdicts.push_back(CallVerdict::kWrong);
    }
  }
  return verdicts;
}

bool EarnedNothing(const TrainingGroup& group) {
  for (const Sequence& sequence : group.sequences) {
    for (const float advantage : sequence.advantages) {
      if (advantage != 0) return false;
    }
  }
  return true;
}

// How far each call's log-probability moved, with what it is a share of.
struct MovedCalls {
  const std::vector<AuditedCall>& calls;
  std::vector<double> moved;
  size_t records = 0;
  Rng rng{0};  // of intervals

  // Of the calls that `counts` picks, the share that moved in the direction of `sign`. Calls of one
  // task are resampled together.
  template <typename Counts>
  AuditedShare ShareOf(double sign, Counts counts) const {
    std::vector<double> above(records, 0), below(records, 0);
    AuditedShare share;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!counts(calls[i])) continue;
      ++share.calls;
      below[calls[i].record] += 1;
      above[calls[i].record] += sign * moved[i] > 0 ? 1 : 0;
    }
    share.share = BootstrapRatio(above, below, rng);
    return share;
  }
};

}  // namespace

Result<std::vector<AuditedCall>> CallsOf(std::span<const ScoredTree> records) {
  std::vector<AuditedCall> audited;
  for (size_t r = 0; r < records.size(); ++r) {
    const Tree& tree = records[r].tree;
    if (tree.leaves.empty()) continue;
    HONE_ASSIGN_OR_RETURN(const Labels labels, LabelsOf(tree.task));
    HONE_ASSIGN_OR_RETURN(const std::vector<Measures> measures, MeasureTree(tree));
    if (!labels.calls) continue;
    for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
      if (!measures[leaf].counts || !measures[leaf].success) continue;
      const TrajectoryView view = TrajectoryOf(tree, static_cast<int32_t>(leaf));
      const std::vector<CallVerdict> verdicts = VerdictsOf(view, *labels.calls);
      for (size_t i = 0; i < verdicts.size(); ++i) {
        const TrajectoryView::MadeCall& made = view.calls[i];
        const Node& node = tree.nodes[static_cast<size_t>(made.node)];
        if (node.logprobs.size() != node.tokens.size()) continue;  // it was not drawn
        audited.push_back({.record = r,
                           .node = made.node,
                           .span = made.call->span,
                           .verdict = verdicts[i],
                           .success = *measures[leaf].success,
                           .before = SumOver(node.logprobs, made.call->span)});
      }
    }
  }
  return audited;
}

Result<CreditAudit> AuditCredit(const Method& method, const std::vector<ScoredTree>& records,
                                const std::vector<AuditedCall>& calls, const Model& drew,
                                const CreditAuditOptions& options) {
  HONE_ASSIGN_OR_RETURN(const CreditedGroups credited,
                        CreditGroups({.method = method}, records, {}));
  HONE_ASSIGN_OR_RETURN(const std::vector<TrainingGroup> groups,
                        TrainingGroupsOf(method, credited));
  if (std::all_of(groups.begin(), groups.end(), EarnedNothing)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} gives no token of this batch any credit", method.name));
  }
  Engine engine(drew, options.engine);
  UpdatePolicy({.objective = options.objective,
                .optimizer = options.optimizer,
                .shared = method.shared,
                .on_policy = true},
               groups, Rng(options.seed).Split("update"), &engine);

  MovedCalls moved{.calls = calls,
                   .moved = {},
                   .records = records.size(),
                   .rng = Rng(options.seed).Split("intervals")};
  TreeLogprobs now;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i == 0 || calls[i].record != calls[i - 1].record) {
      now = engine.LogProbs({&records[calls[i].record].tree, 1})[0];
    }
    moved.moved.push_back(SumOver(now[static_cast<size_t>(calls[i].node)].logprobs, calls[i].span) -
                          calls[i].before);
  }
  const auto is = [](CallVerdict verdict, bool success) {
    return
        [=](const AuditedCall& call) { return call.verdict == verdict && call.success == success; };
  };
  return CreditAudit{.method = method.name,
                     .right_rose = moved.ShareOf(+1, is(CallVerdict::kRight, false)),
                     .wrong_fell = moved.ShareOf(-1, is(CallVerdict::kWrong, true)),
                     .needless_fell = moved.ShareOf(-1, [](const AuditedCall& call) {
                       return call.verdict == CallVerdict::kNeedless;
                     })};
}

}  // namespace hone
