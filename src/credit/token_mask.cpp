#include "credit/token_mask.h"

#include <algorithm>

namespace hone {
namespace {

std::vector<Span> ActionSpans(const Trajectory& trajectory, ActionReach reach) {
  std::vector<Span> spans;
  int32_t end = 0;  // a fault may overlap a call: no token twice
  for (const Action& action : trajectory.actions) {
    if (reach == ActionReach::kWithThought && !action.thought.empty()) {
      spans.push_back(action.thought);
    }
    const Span span{std::max(action.tokens.begin, end), action.tokens.end};
    if (span.empty()) continue;
    spans.push_back(span);
    end = span.end;
  }
  return spans;
}

std::vector<Span> Complement(const std::vector<Span>& spans, int32_t size) {
  std::vector<Span> others;
  int32_t at = 0;
  for (const Span& span : spans) {
    if (at < span.begin) others.push_back({at, span.begin});
    at = span.end;
  }
  if (at < size) others.push_back({at, size});
  return others;
}

int64_t Size(const std::vector<Span>& spans) {
  int64_t size = 0;
  for (const Span& span : spans) size += span.end - span.begin;
  return size;
}

std::vector<Span> PlaceboSpans(const Trajectory& trajectory, ActionReach reach) {
  const std::vector<Span> actions = ActionSpans(trajectory, reach);
  const std::vector<Span> others = Complement(actions, trajectory.tokens);
  const int64_t room = Size(others), wanted = std::min(Size(actions), room);
  std::vector<Span> spans;
  int64_t seen = 0;  // tokens of `others` before the current one
  for (const Span& span : others) {
    for (int32_t t = span.begin; t < span.end; ++t, ++seen) {
      // The j-th of `wanted` picks lies at j * room / wanted: this token is one if a whole number
      // is passed here.
      if ((seen + 1) * wanted / room > seen * wanted / room) spans.push_back({t, t + 1});
    }
  }
  return spans;
}

std::vector<Span> If(bool condition, const Span& span) {
  return condition ? std::vector<Span>{span} : std::vector<Span>{};
}

}  // namespace

std::vector<Span> MaskSpans(TokenMask mask, const Trajectory& trajectory, ActionReach reach) {
  const Span all{0, trajectory.tokens};
  switch (mask) {
    case TokenMask::kActions: return ActionSpans(trajectory, reach);
    case TokenMask::kOffActions:
      return Complement(ActionSpans(trajectory, reach), trajectory.tokens);
    case TokenMask::kBeforeResult: return If(trajectory.has_result, {0, trajectory.before_result});
    case TokenMask::kAfterResult:
      return If(trajectory.has_result, {trajectory.before_result, trajectory.tokens});
    case TokenMask::kWithResult: return If(trajectory.has_result, all);
    case TokenMask::kWithoutResult: return If(!trajectory.has_result, all);
    case TokenMask::kPlacebo: return PlaceboSpans(trajectory, reach);
    case TokenMask::kAll:
    case TokenMask::kOwn: break;
  }
  return {all};
}

}  // namespace hone
