#include "rewards/milestones.h"

#include <algorithm>

#include "record/final_state.h"
#include "record/reward_terms.h"
#include "rewards/matching/value_match.h"

namespace hone {
namespace {

// Whether every member of `part` is in `whole`, objects inside likewise.
bool HasPart(const Json& whole, const Json& part) {
  if (!part.is_object()) return SameValue(whole, part);
  return std::all_of(part.AsObject().begin(), part.AsObject().end(),
                     [&](const Json::Member& member) {
                       const Json* found = whole.Find(member.first);
                       return found != nullptr && HasPart(*found, member.second);
                     });
}

// The largest share that the environment says of the milestone; 0 when it is not named.
double ToldShare(const Json& told, const std::string& name) {
  double share = 0;
  if (!told.is_array()) return share;
  for (const Json& event : told.AsArray()) {
    if (event == Json(name)) share = 1;
    const Json *named = event.Find("name"), *part = event.Find("share");
    if (named == nullptr || !(*named == Json(name))) continue;
    const double reached = part != nullptr && part->is_number() ? part->AsDouble() : 1;
    share = std::max(share, std::clamp(reached, 0.0, 1.0));
  }
  return share;
}

std::optional<RewardTerm> TermOf(const Milestone& milestone, const TrajectoryView& trajectory) {
  RewardTerm term = trajectory.Overall(kMilestoneTerm, std::nullopt);
  const Json* told = FinalState(*trajectory.final_state).milestones();
  if (told != nullptr) term.value = ToldShare(*told, milestone.name);
  if (milestone.state) {
    const double share = HasPart(*trajectory.final_state, *milestone.state) ? 1 : 0;
    term.value = std::max(term.value.value_or(0), share);
  }
  if (milestone.call) {
    term.value = term.value.value_or(0);
    for (const TrajectoryView::MadeCall& call : trajectory.calls) {
      if (RunOf(call) != CallRun::kRan || !IsRightCall(*call.call, *milestone.call)) continue;
      term = trajectory.AtCall(kMilestoneTerm, 1, call);
      break;
    }
  }
  if (!term.value) return std::nullopt;
  term.weight = milestone.weight;
  return term;
}

}  // namespace

std::unique_ptr<Rewarder> NewMilestones() {
  return NewLeafRewarder([](const TrajectoryView& trajectory, const Labels& labels) {
    std::vector<RewardTerm> terms;
    for (const Milestone& milestone : labels.milestones) {
      if (std::optional<RewardTerm> term = TermOf(milestone, trajectory)) {
        terms.push_back(*std::move(term));
      }
    }
    return terms;
  });
}

}  // namespace hone
