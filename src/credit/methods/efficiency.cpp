// Fewer or earlier calls, only where the answer is right: HDPO, ASPO, AdaTIR.

#include <algorithm>
#include <cmath>

#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "record/reward_terms.h"

namespace hone::methods {
namespace {

int ToolTurns(const Trajectory& trajectory) {
  return static_cast<int>(
      std::count_if(trajectory.turns.begin(), trajectory.turns.end(), [&](const Turn& turn) {
        for (int32_t a = turn.actions.begin; a < turn.actions.end; ++a) {
          if (trajectory.actions[a].kind != ActionKind::kFold) return true;
        }
        return false;
      }));
}

// Changes the credit of every right trajectory that `change` gives another factor or summand.
using Reshape = std::function<void(const Group&, const std::vector<size_t>& right, CreditBuilder*)>;

Shaper ForRight(std::string name, IsRight right, bool with_call, Reshape reshape) {
  return {std::move(name), [=](std::span<const Group> groups, std::span<CreditBuilder> builders) {
            for (size_t g = 0; g < groups.size(); ++g) {
              std::vector<size_t> chosen;
              for (size_t i = 0; i < groups[g].trajectories.size(); ++i) {
                const Trajectory& trajectory = groups[g].trajectories[i];
                if (!trajectory.counts || trajectory.tokens == 0) continue;
                if (with_call && trajectory.Calls() == 0) continue;
                if (right(groups[g], trajectory)) chosen.push_back(i);
              }
              if (!chosen.empty()) reshape(groups[g], chosen, &builders[g]);
            }
          }};
}

}  // namespace

Method Hdpo(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(AloneOf(options, Alone::kRaw)));
  method.about = "GRPO on accuracy plus GRPO on 1/(tool turns + 1) among the right ones";
  method.needs = "an outcome per trajectory, calls on the record; format terms if there are any";
  const Selection outcome = method.reads;
  const Selection format{options->Names("format", {kFormatTerm}), {}};
  const IsRight right = CorrectOnly(options, outcome);
  Channel& accuracy = method.channels[0];
  accuracy.name = "accuracy";
  accuracy.weight = options->Number("accuracy", 1);
  accuracy.values = [=](const Group& group) {
    UnitValues values = TrajectorySums(group, outcome);
    if (!AnyValue(group, format)) return values;
    const UnitValues formats = TrajectorySums(group, format);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i][0]) continue;
      if (!formats[i][0]) {
        values[i][0].reset();
      } else {
        values[i][0] = 0.9 * *values[i][0] + 0.1 * *formats[i][0];
      }
    }
    return values;
  };
  Channel tool;
  tool.name = "tool";
  tool.gate = right;
  tool.weight = options->Number("tool", 0.15);
  tool.normaliser = MeanAndDeviation(Alone::kZero);
  tool.values = [](const Group& group) {
    UnitValues values;
    for (const Trajectory& trajectory : group.trajectories) {
      values.push_back({1.0 / (ToolTurns(trajectory) + 1)});
    }
    return values;
  };
  method.channels.push_back(std::move(tool));
  method.promises.shift_invariant = false;
  return method;
}

Method Aspo(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(Alone::kZero));
  method.about = "GRPO, moved for right trajectories by how early their first call is";
  method.needs = "an outcome per trajectory, calls on the record";
  const double delta = options->Number("delta", -2, -1e9, 0), k = options->Number("bound", 0.7, 0);
  method.shapers = {
      ForRight("earlier calls", CorrectOnly(options, method.reads), /*with_call=*/true,
               [=](const Group& group, const std::vector<size_t>& right, CreditBuilder* builder) {
                 double mean_position = 0, mean_length = 0;
                 const auto n = static_cast<double>(right.size());
                 for (const size_t i : right) {
                   mean_position += group.trajectories[i].actions[0].tokens.begin / n;
                   mean_length += group.trajectories[i].tokens / n;
                 }
                 for (const size_t i : right) {
                   const Trajectory& trajectory = group.trajectories[i];
                   const double bound = k * std::abs(builder->total(i)[0]);
                   const double late = trajectory.actions[0].tokens.begin - mean_position;
                   builder->Add(i, {0, trajectory.tokens},
                                std::clamp(delta * late / mean_length, -bound, bound));
                 }
               })};
  method.promises.shift_invariant = false;
  return method;
}

Method AdaTir(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(Alone::kZero));
  method.about = "GRPO, scaled for right trajectories by how few calls they took";
  method.needs = "an outcome per trajectory, calls on the record";
  // Under 1, so that the sign cannot flip.
  const double bound = options->Number("bound", 0.5, 0, 0.999);
  method.shapers = {
      ForRight("efficiency", CorrectOnly(options, method.reads), /*with_call=*/false,
               [=](const Group& group, const std::vector<size_t>& right, CreditBuilder* builder) {
                 double mean = 0;
                 for (const size_t i : right) {
                   mean += group.trajectories[i].Calls() / static_cast<double>(right.size());
                 }
                 for (const size_t i : right) {
                   const Trajectory& trajectory = group.trajectories[i];
                   const double saved = (mean - trajectory.Calls()) / std::max(mean, 1.0);
                   builder->Add(i, {0, trajectory.tokens},
                                builder->total(i)[0] * std::clamp(saved, -bound, bound));
                 }
               })};
  method.promises.shift_invariant = false;
  return method;
}

}  // namespace hone::methods
