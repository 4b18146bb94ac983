// Several rewards, each normalised on its own: GDPO, AWPO.

#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "credit/shapers.h"
#include "record/reward_terms.h"

namespace hone::methods {

Method Gdpo(MethodOptions* options) {
  Method method;
  method.about = "every reward normalised on its own, summed, normalised over the batch";
  method.needs = "several terms";
  std::vector<std::string> names = {kOutcomeTerm, kPreferenceTerm, kFormatTerm};
  names.insert(names.end(), CallTermNames().begin(), CallTermNames().end());
  names = options->Names("terms", names);
  method.reads = {names, {}};
  const bool conditioned = options->Flag("conditioned", false);
  const Selection outcome{{kOutcomeTerm}, {}};
  const IsRight right = CorrectOnly(options, outcome);
  for (const std::string& name : names) {
    Channel channel;
    channel.name = name;
    channel.normaliser = MeanAndDeviation(Alone::kZero);
    const Selection selection{{name}, {}};
    const bool guarded = conditioned && name != kOutcomeTerm;
    // A weight before the comparison would be divided out by it: it acts afterwards.
    channel.group_weight = [=](const Group& group) { return LargestWeight(group, selection); };
    channel.values = [=](const Group& group) {
      UnitValues values = TrajectorySums(group, selection);
      const double weight = LargestWeight(group, selection);
      for (size_t i = 0; i < values.size(); ++i) {
        if (!values[i][0]) continue;
        const bool counts = !guarded || right(group, group.trajectories[i]);
        values[i][0] = counts && weight != 0 ? *values[i][0] / weight : 0;
      }
      return values;
    };
    method.channels.push_back(std::move(channel));
  }
  if (options->Flag("batch_norm", true)) method.shapers = {NormaliseTrajectories()};
  method.promises.shift_invariant = !conditioned;
  return method;
}

Method Awpo(MethodOptions* options) {
  Method method;
  method.about = "outcome plus quality, the latter weighed by its share of the group's variance";
  method.needs = "an outcome per trajectory, a judge's score of it";
  const Selection outcome = OutcomeTerms(options);
  const Selection quality{options->Names("quality", {kPreferenceTerm}), {}};
  ReadBoth(outcome, {quality, StandOnCalls(quality)}, &method);
  Channel channel;
  channel.name = "outcome";
  channel.values = OutcomeSum(outcome);
  channel.normaliser = MeanAndDeviation(Alone::kZero);
  method.channels = {std::move(channel)};
  const double weight = options->Number("weight", 1);
  method.estimators = {
      {"quality", [=](const Group& group, CreditBuilder* builder) {
         auto variance = [](const UnitValues& values) {
           std::vector<double> present;
           for (const auto& units : values) {
             if (units[0]) present.push_back(*units[0]);
           }
           const double deviation = DeviationOf(present).deviation;
           return deviation * deviation;
         };
         UnitValues values = TrajectorySums(group, quality);
         const double mine = variance(values), other = variance(TrajectorySums(group, outcome));
         if (mine == 0) return;
         values = GroupNormalised(std::move(values), MeanAndDeviation(Alone::kZero), false);
         for (size_t i = 0; i < values.size(); ++i) {
           if (!values[i][0]) continue;
           builder->Add(i, {0, group.trajectories[i].tokens},
                        weight * mine / (mine + other) * *values[i][0]);
         }
       }}};
  method.promises.shift_invariant = true;
  return method;
}

}  // namespace hone::methods
