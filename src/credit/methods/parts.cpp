#include "credit/methods/parts.h"

#include <algorithm>

#include "record/reward_terms.h"

namespace hone::methods {

Selection OutcomeTerms(MethodOptions* options) {
  return {options->Names("terms", {kOutcomeTerm}), {}};
}

Selection CallTerms(MethodOptions* options) {
  return {options->Names("calls", CallTermNames()), {}};
}

Alone AloneOf(MethodOptions* options, Alone otherwise) {
  const std::string text =
      options->Choice("alone", {"raw", "zero"}, otherwise == Alone::kRaw ? "raw" : "zero");
  return text == "raw" ? Alone::kRaw : Alone::kZero;
}

Values OutcomeSum(Selection outcome) {
  return
      [outcome = std::move(outcome)](const Group& group) { return TrajectorySums(group, outcome); };
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
  return [outcome = std::move(outcome), threshold](const Group&, const Trajectory& trajectory) {
    return IsCorrect(trajectory, outcome, threshold).value_or(false);
  };
}

bool StandOnCalls(const Selection& terms) {
  const std::vector<std::string>& calls = CallTermNames();
  return std::all_of(terms.names.begin(), terms.names.end(), [&](const std::string& name) {
    return std::find(calls.begin(), calls.end(), name) != calls.end();
  });
}

void ReadBoth(const Selection& outcome, const TermNeed& more, Method* method) {
  method->reads = outcome;
  method->reads.names.insert(method->reads.names.end(), more.terms.names.begin(),
                             more.terms.names.end());
  method->term_needs = {{outcome}, more};
}

void ReadNorm(MethodOptions* options, Method* method) {
  if (options->Choice("norm", {"mean", "mean_std"}, "mean") == "mean") return;
  for (Channel& channel : method->channels) channel.normaliser.scale = Scale::kGroupDeviation;
}

void ReadThoughts(MethodOptions* options, Method* method) {
  if (!options->Flag("thoughts", false)) return;
  for (Channel& channel : method->channels) channel.reach = ActionReach::kWithThought;
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
