// CM2: checklists of criteria, credited to the trajectory, to the user's turn, or to the step.
//
// A criterion is a term "criterion:ID" with its weight: 1 on the turn at which it was first met,
// 0 where it never was.

#include <algorithm>
#include <map>

#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "record/reward_terms.h"

namespace hone::methods {
namespace {

Selection Criteria(MethodOptions* options) {
  return {options->Names("terms", {kAnyCriterionTerm}), {}};
}

Normaliser MeanOff(MethodOptions* options, int least) {
  Normaliser normaliser;
  if (options->Flag("deviation", false)) normaliser.scale = Scale::kGroupDeviation;
  normaliser.least = least;
  return normaliser;
}

Method Checklist(MethodOptions* options) {
  Method method;
  method.needs = "terms criterion:ID on the turns that met them";
  method.reads = Criteria(options);
  method.promises.shift_invariant = true;  // it reads no outcome
  return method;
}

// The criteria of one trajectory: where each was met (-1: never) and of which round it is.
struct Criterion {
  double weight = 1;
  int met_at = -1;  // turn
  int round = 0;
};

std::map<std::string, Criterion> CriteriaOf(const Trajectory& trajectory,
                                            const Selection& selection) {
  std::map<std::string, Criterion> criteria;
  for (const RewardTerm& term : trajectory.score->terms) {
    if (!term.value || !selection.Has(term.name)) continue;
    const int turn = PlaceOf(term, trajectory).turn;
    Criterion& criterion = criteria[term.name];
    criterion.weight = term.weight;
    const int at = turn >= 0 ? turn : static_cast<int>(trajectory.turns.size()) - 1;
    if (at >= 0) criterion.round = trajectory.turns[at].round;
    if (*term.value > 0) criterion.met_at = at;
  }
  return criteria;
}

}  // namespace

Method Cm2Trajectory(MethodOptions* options) {
  Method method = Checklist(options);
  method.about = "the criteria met, summed, minus the group's mean";
  Channel channel;
  channel.name = "criteria";
  channel.values = OutcomeSum(method.reads);
  channel.normaliser = MeanOff(options, 2);
  method.channels = {std::move(channel)};
  return method;
}

Method Cm2Turn(MethodOptions* options) {
  Method method = Checklist(options);
  method.about = "the same per turn of the user";
  const Normaliser normaliser = MeanOff(options, static_cast<int>(options->Number("least", 5, 1)));
  method.estimators = {
      {"rounds", [=, reads = method.reads](const Group& group, CreditBuilder* builder) {
         const UnitValues turns = TurnSums(group, reads);
         std::map<int, UnitValues> rounds;  // one number per trajectory that reached the round
         for (size_t i = 0; i < turns.size(); ++i) {
           const Trajectory& trajectory = group.trajectories[i];
           if (trajectory.counts && (turns[i].empty() || !turns[i][0])) {
             builder->Remark(NoteKind::kUnscored, trajectory.leaf, "no criteria");
           }
           for (size_t k = 0; k < turns[i].size(); ++k) {
             if (!turns[i][k]) continue;
             UnitValues& round = rounds[trajectory.turns[k].round];
             round.resize(turns.size(), {std::nullopt});
             round[i][0] = round[i][0].value_or(0) + *turns[i][k];
           }
         }
         const auto scored = std::count_if(turns.begin(), turns.end(), [](const auto& of_one) {
           return !of_one.empty() && of_one[0].has_value();
         });
         if (scored < normaliser.least) {
           builder->Remark(NoteKind::kGroupOfOne, -1, "too few to compare with: 0");
         }
         for (auto& [round, values] : rounds) {
           values = GroupNormalised(std::move(values), normaliser, false);
           for (size_t i = 0; i < turns.size(); ++i) {
             for (const Turn& turn : group.trajectories[i].turns) {
               if (turn.round == round && values[i][0]) builder->Add(i, turn.tokens, *values[i][0]);
             }
           }
         }
       }}};
  return method;
}

Method Cm2Step(MethodOptions* options) {
  Method method = Checklist(options);
  method.about =
      "per step: criteria still open there, met from there on, minus how often others do";
  const auto least = static_cast<int>(options->Number("least", 5, 1));
  method.estimators = {
      {"steps", [=, reads = method.reads](const Group& group, CreditBuilder* builder) {
         std::vector<std::map<std::string, Criterion>> all(group.trajectories.size());
         std::map<std::string, std::pair<int, int>> met;  // how often met, of how many
         for (size_t i = 0; i < all.size(); ++i) {
           const Trajectory& trajectory = group.trajectories[i];
           if (!trajectory.counts) continue;
           if (trajectory.score != nullptr) all[i] = CriteriaOf(trajectory, reads);
           if (all[i].empty()) builder->Remark(NoteKind::kUnscored, trajectory.leaf, "no criteria");
           for (const auto& [id, criterion] : all[i]) {
             met[id].first += criterion.met_at >= 0 ? 1 : 0;
             ++met[id].second;
           }
         }
         if (std::none_of(met.begin(), met.end(),
                          [&](const auto& one) { return one.second.second >= least; })) {
           builder->Remark(NoteKind::kGroupOfOne, -1, "too few to compare with: 0");
         }
         for (size_t i = 0; i < all.size(); ++i) {
           const std::vector<Turn>& turns = group.trajectories[i].turns;
           for (size_t k = 0; k < turns.size(); ++k) {
             double credit = 0, weights = 0;
             for (const auto& [id, criterion] : all[i]) {
               const auto& [times, of] = met.at(id);
               const bool open = criterion.met_at < 0 || static_cast<size_t>(criterion.met_at) >= k;
               if (criterion.round != turns[k].round || !open || of < least) continue;
               credit += criterion.weight *
                         ((criterion.met_at >= 0 ? 1.0 : 0.0) - static_cast<double>(times) / of);
               weights += criterion.weight;
             }
             if (weights > 0 && credit != 0) builder->Add(i, turns[k].tokens, credit / weights);
           }
         }
       }}};
  return method;
}

}  // namespace hone::methods
