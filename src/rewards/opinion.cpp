#include "rewards/opinion.h"

#include <cmath>

#include <fmt/format.h>

namespace hone {
namespace {

// The opinion of a source, or the fault in it.
Result<std::optional<Opinion>> Asked(OpinionSource* source, std::string_view who,
                                     const Question& question) {
  if (source == nullptr) return std::optional<Opinion>();
  Result<std::optional<Opinion>> opinion = source->Ask(question);
  if (!opinion.ok()) return opinion.error().In(who);
  if (*opinion && !((*opinion)->score >= 0 && (*opinion)->score <= 1)) {
    return Error(ErrorCode::kParse, fmt::format("{}: gave {} for \"{}\", which is not from 0 to 1",
                                                who, (*opinion)->score, question.component));
  }
  return opinion;
}

Decision Faulted(const Error& error) {
  return {std::nullopt, TermFault{Blame::kJudge, error.message()}};
}

Decision Cascade(const Panel& panel, const std::optional<Opinion>& rule, const Question& question) {
  std::optional<Opinion> last = rule;
  if (last && last->confidence >= panel.confident) return {last->score, std::nullopt};
  const auto model = Asked(panel.model, "the reward model", question);
  if (!model.ok()) return Faulted(model.error());
  if (*model) last = **model;
  if (*model && last->confidence >= panel.confident) return {last->score, std::nullopt};
  const auto judge = Asked(panel.judge, "the judge", question);
  if (!judge.ok()) return Faulted(judge.error());
  if (*judge) last = **judge;
  return {last ? std::optional<double>(last->score) : std::nullopt, std::nullopt};
}

Decision Blend(const Panel& panel, const std::optional<Opinion>& rule, const Question& question) {
  double sum = 0, shares = 0;
  const auto add = [&](const std::optional<Opinion>& opinion, double share) {
    if (!opinion || share <= 0) return;
    sum += share * opinion->score;
    shares += share;
  };
  add(rule, panel.rule_share);
  if (panel.model_share > 0) {
    const auto model = Asked(panel.model, "the reward model", question);
    if (!model.ok()) return Faulted(model.error());
    add(*model, panel.model_share);
  }
  if (panel.judge_share > 0) {
    const auto judge = Asked(panel.judge, "the judge", question);
    if (!judge.ok()) return Faulted(judge.error());
    add(*judge, panel.judge_share);
  }
  return {shares > 0 ? std::optional<double>(sum / shares) : std::nullopt, std::nullopt};
}

}  // namespace

Result<void> CheckPanel(const Panel& panel) {
  if (panel.mode != Panel::Mode::kBlend) return {};
  const double shares[] = {panel.rule_share, panel.model_share, panel.judge_share};
  double sum = 0;
  for (const double share : shares) {
    if (!(share >= 0)) return Error(ErrorCode::kInvalidArgument, "a share of a blend is negative");
    sum += share;
  }
  if (!(std::abs(sum - 1) <= 1e-9)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the shares of a blend must sum to 1, not {}", sum));
  }
  if ((panel.model_share > 0 && panel.model == nullptr) ||
      (panel.judge_share > 0 && panel.judge == nullptr)) {
    return Error(ErrorCode::kInvalidArgument,
                 "a blend gives a share to a source that is not there");
  }
  return {};
}

Decision Decide(const Panel& panel, const std::optional<Opinion>& rule, const Question& question) {
  switch (panel.mode) {
    case Panel::Mode::kRule: break;
    case Panel::Mode::kCascade: return Cascade(panel, rule, question);
    case Panel::Mode::kBlend: return Blend(panel, rule, question);
  }
  return {rule ? std::optional<double>(rule->score) : std::nullopt, std::nullopt};
}

}  // namespace hone
