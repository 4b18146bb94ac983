// ToolPO's channels with another comparison: a call, or leaving it out, against what siblings did
// in the same situation.
//
// A baseline over the k-th calls knows only siblings that made one: where all of them make a
// needless call it says nothing, and who rightly stopped is not in it. Here everybody who was in
// the situation is in the comparison; a call that is left out is worth 0, and one sibling more is
// thought of who left it out, so that a call that all of them make is seen.

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "credit/methods/all.h"
#include "credit/methods/parts.h"

namespace hone::methods {
namespace {

// What the policy decided where it could have called: a call, or what it wrote instead.
struct Decision {
  Span tokens;             // flat
  uint64_t situation = 0;  // what was read, called and answered before it
  double value = 0;        // earned by it
};

uint64_t Mixed(uint64_t a, uint64_t b) {
  const uint64_t both[] = {a, b};
  return Hash64({reinterpret_cast<const char*>(both), sizeof(both)});
}

// Calls are told apart by name and arguments, whatever was written around them; what cannot be read
// by its tokens.
uint64_t ActionHash(const Node& node, const Action& action) {
  for (const Call& call : node.calls) {
    if (call.span == action.span) {
      return Mixed(Hash64(call.name), Hash64(DumpJson(call.arguments)));
    }
  }
  const auto begin = node.tokens.begin() + action.span.begin;
  const std::vector<TokenId> tokens(begin, begin + (action.span.end - action.span.begin));
  return Hash64({reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(TokenId)});
}

// A turn is one decision, or as many as it has actions; what is written around them is part of it.
// Behind the actions `earned` has what the calls that were left out cost: the last decision did
// that.
std::vector<Decision> DecisionsOf(const Group& group, const Trajectory& trajectory,
                                  const std::vector<std::optional<double>>& earned) {
  std::vector<Decision> decisions;
  uint64_t situation = 0;
  for (size_t k = 0; k < trajectory.turns.size(); ++k) {
    const Turn& turn = trajectory.turns[k];
    const Node& node = group.tree().nodes[turn.node];
    situation = Mixed(situation, ObservationHash(group, trajectory, static_cast<int32_t>(k)));
    int32_t begin = turn.tokens.begin;
    if (turn.actions.empty()) decisions.push_back({turn.tokens, situation, 0});
    for (int32_t a = turn.actions.begin; a < turn.actions.end; ++a) {
      const Action& action = trajectory.actions[a];
      const bool last = a + 1 == turn.actions.end;
      const int32_t end = last ? turn.tokens.end : std::max(action.tokens.end, begin);
      decisions.push_back({{begin, end}, situation, earned[a].value_or(0)});
      begin = end;
      situation = Mixed(situation, ActionHash(node, action));
    }
  }
  for (size_t left_out = trajectory.actions.size(); left_out < earned.size(); ++left_out) {
    decisions.back().value += earned[left_out].value_or(0);
  }
  return decisions;
}

// Each later decision counts `gamma` times as much as the one before it.
void AddLater(double gamma, std::vector<Decision>* decisions) {
  for (size_t d = decisions->size(); d-- > 1;) {
    (*decisions)[d - 1].value += gamma * (*decisions)[d].value;
  }
}

using Situations = std::unordered_map<uint64_t, std::vector<double>>;

struct Comparison {
  Normaliser normaliser;
  double weight = 1;
  size_t absent = 1;  // siblings that are thought of beside those that were there
};

void CompareDecisions(const Comparison& comparison,
                      const std::vector<std::vector<Decision>>& decided, CreditBuilder* builder) {
  Situations met;
  std::vector<std::vector<size_t>> places(decided.size());  // of each decision in its situation
  for (size_t i = 0; i < decided.size(); ++i) {
    for (const Decision& decision : decided[i]) {
      std::vector<double>& values = met[decision.situation];
      places[i].push_back(values.size());
      values.push_back(decision.value);
    }
  }
  for (auto& [situation, values] : met) {
    if (values.size() > 1) values.resize(values.size() + comparison.absent, 0.0);
    const std::vector<double> lengths(values.size(), 1.0);
    Normalise(comparison.normaliser, lengths, 1, Alone::kZero, values);
  }
  for (size_t i = 0; i < decided.size(); ++i) {
    for (size_t d = 0; d < decided[i].size(); ++d) {
      const double advantage = met.at(decided[i][d].situation)[places[i][d]];
      if (advantage != 0) builder->Add(i, decided[i][d].tokens, comparison.weight * advantage);
    }
  }
}

}  // namespace

Method ToolPoSiblings(MethodOptions* options) {
  const bool scaled = options->Choice("norm", {"mean", "mean_std"}, "mean") == "mean_std";
  Normaliser normaliser;
  if (scaled) normaliser.scale = Scale::kGroupDeviation;
  Method method = OutcomeOnly(options, normaliser);
  const Selection outcome = method.reads, calls = CallTerms(options);
  method.about = "outcome on all tokens; each call, or leaving it out, against siblings' there";
  method.needs = "an outcome per trajectory, terms on calls";
  ReadBoth(outcome, {calls, /*on_calls=*/true}, &method);
  const double gamma = options->Number("gamma", 0, 0, 1);
  const Comparison comparison{normaliser, options->Number("weight", 1),
                              static_cast<size_t>(options->Number("absent", 1, 0, 1000))};
  method.estimators = {{"call", [=](const Group& group, CreditBuilder* builder) {
                          const UnitValues sums = TrajectorySums(group, calls),
                                           earned = CallSums(group, calls);
                          std::vector<std::vector<Decision>> decided(sums.size());
                          for (size_t i = 0; i < sums.size(); ++i) {
                            const Trajectory& trajectory = group.trajectories[i];
                            if (!sums[i][0]) continue;  // what it did is not known
                            decided[i] = DecisionsOf(group, trajectory, earned[i]);
                            AddLater(gamma, &decided[i]);
                          }
                          CompareDecisions(comparison, decided, builder);
                        }}};
  method.promises.shift_invariant = true;
  return method;
}

}  // namespace hone::methods
