#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "rewards/trajectory_view.h"

namespace hone {

// What is asked of a source: how right, in [0, 1], is this call, answer or trajectory as regards
// one component ("when", "which", ...)?
struct Question {
  std::string_view component;
  const TrajectoryView& trajectory;
  const Labels& labels;
  NodeId node = kNoNode;
  std::optional<Span> span;
};

struct Opinion {
  double score = 0;  // in [0, 1]
  double confidence = 1;
};

// A reward model or a judge. Nothing: it has no opinion. An Error: it should have one and failed.
class OpinionSource {
 public:
  virtual ~OpinionSource() = default;
  virtual Result<std::optional<Opinion>> Ask(const Question& question) = 0;
};

// Who decides: the rule alone; the rule where it is confident, else the model where it is, else the
// judge (a cascade); or a mixture of all (a blend).
struct Panel {
  enum class Mode { kRule, kCascade, kBlend };
  Mode mode = Mode::kRule;
  OpinionSource* model = nullptr;  // borrowed, may be null, as the judge
  OpinionSource* judge = nullptr;
  double confident = 0.5;  // a cascade stops at an opinion of at least this confidence
  // Of a blend; not negative, with sum 1. Where a source has no opinion the others share its part.
  double rule_share = 1;
  double model_share = 0;
  double judge_share = 0;
};

// Shares that are not a mixture, sources that are needed and not there.
Result<void> CheckPanel(const Panel& panel);

// A score, or nothing when nobody has an opinion, or the fault of a source that was asked and
// failed: then there is no score, because the others' would be on another scale.
struct Decision {
  std::optional<double> score;
  std::optional<TermFault> fault;
};
Decision Decide(const Panel& panel, const std::optional<Opinion>& rule, const Question& question);

}  // namespace hone
