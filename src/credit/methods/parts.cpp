#include "credit/methods/parts.h"

namespace hone::methods {

Selection OutcomeTerms(MethodOptions* options) {
  return {options->Names("terms", {"outcome"}), {}};
}

Selection CallTerms(MethodOptions* options) {
  return {options->Names("calls", CallTermNames()), {}};
}

Alone AloneOf(MethodOptions* options, Alone otherwise) {
  const std::string text =
      options->Choice("alone", {"raw", "zero"}, otherwise == Alone::kRaw ? "raw" : "zero");
  return text == "raw" ? Alone::kRaw : Alone::kZero;
}

Values OutcomeSum(Selection outcome, std::vector<std::string> except) {
  return [outcome = std::move(outcome), except = std::move(except)](const Group& group) {
    return TrajectorySums(group, OutcomeOf(group, outcome, except));
  };
}

Normaliser MeanAndDeviation(Alone alone) {
  Normaliser normaliser;
  normaliser.scale = Scale::kGroupDeviation;
  normaliser.alone = alone;
  return normaliser;
}

Method OutcomeOnly(MethodOptions* options, const Normaliser& normaliser) {
  Method method;
  method.reads = OutcomeTerms(options);
  method.needs = "an outcome per trajectory";
  Channel channel;
  channel.name = "outcome";
  channel.values = OutcomeSum(method.reads);
  channel.normaliser = normaliser;
  method.channels = {std::move(channel)};
  method.promises.shift_invariant = true;
  return method;
}

IsRight CorrectOnly(MethodOptions* options, Selection outcome) {
  const double threshold = options->Number("correct_above", 0.5);
  return
      [outcome = std::move(outcome), threshold](const Group& group, const Trajectory& trajectory) {
        return IsCorrect(trajectory, OutcomeOf(group, outcome), threshold).value_or(false);
      };
}

Selection Both(const Selection& a, const Selection& b) {
  Selection both = a;
  both.names.insert(both.names.end(), b.names.begin(), b.names.end());
  return both;
}

UnitValues GroupNormalised(UnitValues values, const Normaliser& normaliser, bool alone_group) {
  std::vector<double> present;
  for (const auto& units : values) {
    if (units[0]) present.push_back(*units[0]);
  }
  if (present.empty()) return values;
  const std::vector<double> lengths(present.size(), 1.0);
  Normalise(normaliser, lengths, 1, alone_group ? normaliser.alone : Alone::kZero, present);
  size_t next = 0;
  for (auto& units : values) {
    if (units[0]) units[0] = present[next++];
  }
  return values;
}

}  // namespace hone::methods
