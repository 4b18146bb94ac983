#include "rewards/outcome.h"

#include "record/final_state.h"

namespace hone {
namespace {

Outcome FromResult(const Result<AnswerMatch>& match, Blame blame) {
  if (match.ok()) return {*match, std::nullopt};
  return {std::nullopt, TermFault{blame, match.error().message()}};
}

AnswerKind KindFor(const Json& gold, std::optional<AnswerKind> usual) {
  if (gold.is_object()) {
    return gold.Find("tests") != nullptr ? AnswerKind::kProgram : AnswerKind::kJson;
  }
  if (usual) return *usual;
  return gold.is_number() ? AnswerKind::kNumber : AnswerKind::kText;
}

}  // namespace

Outcome OutcomeOf(const TrajectoryView& trajectory, const Labels& labels,
                  std::optional<AnswerKind> usual, ProgramRunner* runner) {
  const FinalState state(*trajectory.final_state);
  if (labels.answer_kind == AnswerKind::kVerdict || (!labels.answer_kind && state.has_verdict())) {
    if (!state.has_verdict()) return {};
    return FromResult(MatchAnswer(AnswerKind::kVerdict, *state.verdict(), Json()),
                      Blame::kEnvironment);
  }
  const Json* world_gold = state.gold_answer();
  const Json& gold = world_gold == nullptr ? labels.answer : *world_gold;
  if (gold.is_null()) return {};
  const Json& answer = trajectory.answer();
  if (answer.is_null()) {
    // It answered, but the environment does not tell what: that is not a wrong answer.
    if (trajectory.ending == Ending::kAnswered && state.answer() == nullptr) return {};
    return {AnswerMatch{}, std::nullopt};
  }
  AnswerOptions options = labels.answer_options;
  options.runner = runner;
  const AnswerKind kind = labels.answer_kind ? *labels.answer_kind : KindFor(gold, usual);
  return FromResult(MatchAnswer(kind, answer, gold, options), Blame::kJudge);
}

}  // namespace hone
