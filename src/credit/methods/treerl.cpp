// TreeRL: a turn is worth what it raised the mean reward of the leaves below.

#include <cmath>
#include <map>

#include "credit/methods/all.h"
#include "credit/methods/parts.h"

namespace hone::methods {

Method TreeRl(MethodOptions* options) {
  Method method;
  method.about = "the rise of the mean leaf reward, against the root and the turn before";
  method.needs = "an outcome per trajectory, a branched tree";
  method.reads = OutcomeTerms(options);
  const bool add_value = options->Flag("add_value", false);
  method.estimators = {
      {"tree", [outcome = method.reads, add_value](const Group& group, CreditBuilder* builder) {
         struct Mean {
           double sum = 0;
           int leaves = 0;
           double value() const { return sum / leaves; }
         };
         const UnitValues rewards = TrajectorySums(group, outcome);
         std::map<NodeId, Mean> below;
         Mean root;
         for (size_t i = 0; i < rewards.size(); ++i) {
           const Trajectory& trajectory = group.trajectories[i];
           if (!rewards[i][0]) {
             if (trajectory.counts) {
               builder->Remark(NoteKind::kUnscored, trajectory.leaf, "no outcome");
             }
             continue;
           }
           root.sum += *rewards[i][0];
           ++root.leaves;
           for (const Turn& turn : trajectory.turns) {
             below[turn.node].sum += *rewards[i][0];
             ++below[turn.node].leaves;
           }
         }
         if (root.leaves < 2) {
           builder->Remark(NoteKind::kGroupOfOne, -1, "one leaf: nothing rises");
         }
         for (size_t i = 0; i < rewards.size(); ++i) {
           if (!rewards[i][0]) continue;
           double parent = root.value();
           for (const Turn& turn : group.trajectories[i].turns) {
             const Mean& here = below.at(turn.node);
             double credit = (here.value() - root.value()) + (here.value() - parent);
             if (std::abs(credit) < 1e-12) credit = 0;
             if (add_value) credit += here.value();
             builder->Add(i, turn.tokens, credit / std::sqrt(here.leaves));
             parent = here.value();
           }
         }
       }}};
  method.promises = {.shift_invariant = !add_value, .flat = false};
  return method;
}

}  // namespace hone::methods
