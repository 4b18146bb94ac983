#include "credit/method.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "credit/filters.h"
#include "credit/term_needs.h"

namespace hone {
namespace {

void RemarkOthersFaults(const Group& group, CreditBuilder* builder) {
  for (const Trajectory& trajectory : group.trajectories) {
    if (trajectory.counts) continue;
    const Leaf& leaf = group.tree().leaves[trajectory.leaf];
    builder->Remark(NoteKind::kOthersFault, trajectory.leaf,
                    fmt::format("ended as {} (blame {}): left out", EndingName(leaf.ending),
                                BlameName(leaf.blame)));
  }
}

void RemarkTerms(const Method& method, const Group& group, CreditBuilder* builder) {
  if (AnyValue(group, method.reads)) return;
  builder->Remark(NoteKind::kNothingToRead, -1, "no term that it reads has a value in the group");
}

// Shapers may have moved what must be nothing.
void SilenceOthersFaults(const Group& group, CreditBuilder* builder) {
  for (size_t i = 0; i < group.trajectories.size(); ++i) {
    if (!group.trajectories[i].counts) builder->Clear(i);
  }
}

Result<void> CheckFinite(const Group& group, const CreditBuilder& builder) {
  for (size_t i = 0; i < builder.size(); ++i) {
    const std::vector<float>& values = builder.total(i);
    bool finite = true;
    for (const float value : values) {
      finite &= std::abs(value) <= std::numeric_limits<float>::max();
    }
    if (!finite) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("tree \"{}\", leaf {}: credit is not finite; the rewards are too "
                               "large to compare",
                               group.tree().task.id, group.trajectories[i].leaf));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Credit>> AssignCredit(const Method& method, std::span<const CreditInput> batch,
                                         const AssignOptions& settings) {
  std::vector<Group> all;
  std::vector<CreditBuilder> builders;
  for (const CreditInput& input : batch) {
    HONE_ASSIGN_OR_RETURN(Group group, GroupOf(*input.record, input.values));
    all.push_back(std::move(group));
    builders.emplace_back(all.back(), settings.layers);
    RemarkOthersFaults(all.back(), &builders.back());
    RemarkTerms(method, all.back(), &builders.back());
  }
  if (settings.terms_required) HONE_RETURN_IF_ERROR(CheckTermNeeds(method, all));
  // Groups that are dropped take no part in the statistics of the batch either.
  const std::vector<bool> kept = KeptGroups(method, all, builders);
  std::vector<size_t> places;
  std::vector<Group> groups;
  std::vector<CreditBuilder> open;
  for (size_t g = 0; g < all.size(); ++g) {
    if (!kept[g]) continue;
    places.push_back(g);
    groups.push_back(std::move(all[g]));
    open.push_back(std::move(builders[g]));
  }
  for (const Channel& channel : method.channels) ApplyChannel(channel, groups, open);
  for (const Estimator& estimator : method.estimators) {
    for (size_t g = 0; g < groups.size(); ++g) {
      open[g].Open(estimator.name);
      estimator.apply(groups[g], &open[g]);
    }
  }
  for (const Shaper& shaper : method.shapers) {
    for (CreditBuilder& builder : open) builder.Open(shaper.name);
    shaper.apply(groups, open);
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    MaskTrajectories(method.filters, groups[g], &open[g]);
    SilenceOthersFaults(groups[g], &open[g]);
    HONE_RETURN_IF_ERROR(CheckFinite(groups[g], open[g]));
    builders[places[g]] = std::move(open[g]);
  }
  std::vector<Credit> credits;
  for (CreditBuilder& builder : builders) credits.push_back(std::move(builder).Take());
  return credits;
}

Result<Credit> AssignCredit(const Method& method, const ScoredTree& record,
                            const AssignOptions& settings) {
  const CreditInput input{&record, nullptr};
  HONE_ASSIGN_OR_RETURN(std::vector<Credit> credits, AssignCredit(method, {&input, 1}, settings));
  return std::move(credits[0]);
}

}  // namespace hone
