#include "credit/channel.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace hone {
namespace {

struct Member {
  size_t trajectory, unit;
  uint64_t key;
};

uint64_t KeyOf(const Channel& channel, const Group& group, const Trajectory& trajectory,
               size_t unit) {
  switch (channel.key) {
    case GroupKey::kTree: return 0;
    case GroupKey::kPosition: return unit;
    case GroupKey::kState: return ObservationHash(group, trajectory, static_cast<int32_t>(unit));
    case GroupKey::kSubtree:
      return trajectory.turns.empty() ? ~uint64_t{0}
                                      : static_cast<uint64_t>(trajectory.turns[0].node);
  }
  return 0;
}

// Units behind the actions are calls that were left out (CallSums): what was written last was
// written instead of them.
const Span& TokensOfAction(const Trajectory& trajectory, size_t unit) {
  return unit < trajectory.actions.size() ? trajectory.actions[unit].tokens
                                          : trajectory.turns.back().tokens;
}

class Application {
 public:
  Application(const Channel& channel, const Group& group, CreditBuilder* builder)
      : channel_(channel), group_(group), builder_(*builder), values_(channel.values(group)) {
    builder_.Open(channel.name);
    CHECK(values_.size() == group.trajectories.size());
    if (HasNothingToRead()) {
      builder_.Remark(NoteKind::kNothingToRead, -1, "nobody has a value, and nobody made a call");
    }
    for (size_t i = 0; i < values_.size(); ++i) Enlist(i);
  }

  // The values that take part, for statistics of the batch.
  void Collect(std::vector<double>* values) const {
    for (const Member& member : members_) {
      values->push_back(*values_[member.trajectory][member.unit]);
    }
  }

  void Write(double divisor) {
    std::stable_sort(members_.begin(), members_.end(),
                     [](const Member& a, const Member& b) { return a.key < b.key; });
    for (size_t begin = 0, end = 0; begin < members_.size(); begin = end) {
      while (end < members_.size() && members_[end].key == members_[begin].key) ++end;
      WriteGroup({members_.data() + begin, end - begin}, divisor);
    }
  }

 private:
  // A channel of call rewards in a group without calls: that is not a reward gone missing.
  bool HasNothingToRead() const {
    return std::all_of(group_.trajectories.begin(), group_.trajectories.end(),
                       [](const Trajectory& trajectory) { return trajectory.actions.empty(); }) &&
           std::all_of(values_.begin(), values_.end(), [](const auto& units) {
             return std::none_of(units.begin(), units.end(),
                                 [](const auto& value) { return value.has_value(); });
           });
  }

  void Enlist(size_t i) {
    const Trajectory& trajectory = group_.trajectories[i];
    if (!trajectory.counts) return;  // said once for all channels
    if (channel_.gate && !channel_.gate(group_, trajectory)) {
      builder_.Remark(NoteKind::kGated, trajectory.leaf, "the channel is not for it");
      return;
    }
    if (channel_.unit == Unit::kAction && trajectory.actions.empty()) {
      builder_.Remark(NoteKind::kNoAction, trajectory.leaf, "it has no call");
    }
    size_t missing = 0;
    for (size_t u = 0; u < values_[i].size(); ++u) {
      const bool fold = channel_.unit == Unit::kAction && u < trajectory.actions.size() &&
                        trajectory.actions[u].kind == ActionKind::kFold;
      if (!values_[i][u]) {
        if (!fold) ++missing;
        continue;
      }
      builder_.Enlist(i);
      members_.push_back({i, u, KeyOf(channel_, group_, trajectory, u)});
    }
    if (missing > 0) {
      builder_.Remark(
          NoteKind::kUnscored, trajectory.leaf,
          fmt::format("{} of {} values are missing: left out", missing, values_[i].size()));
    }
  }

  void WriteGroup(std::span<const Member> members, double divisor) {
    std::vector<double> values, lengths;
    for (const Member& member : members) {
      values.push_back(*values_[member.trajectory][member.unit]);
      lengths.push_back(group_.trajectories[member.trajectory].tokens);
    }
    const std::vector<double> before = values;
    const bool compares = channel_.normaliser.centre != Centre::kNone;
    const double weight =
        channel_.weight * (channel_.group_weight ? channel_.group_weight(group_) : 1);
    Normalise(channel_.normaliser, lengths, divisor, AloneHere(), values);
    if (compares && values.size() == 1) {
      builder_.Remark(
          NoteKind::kGroupOfOne, group_.trajectories[members[0].trajectory].leaf,
          fmt::format("nobody to compare with: {}", AloneHere() == Alone::kRaw ? "as it is" : "0"));
    } else if (compares && DeviationOf(before).equal) {
      builder_.Remark(NoteKind::kAllEqual, -1,
                      fmt::format("all {} values are {}", before.size(), before[0]));
    }
    for (size_t m = 0; m < members.size(); ++m) {
      double advantage = values[m];
      if (channel_.keep_sign) {
        advantage = before[m] > 0 ? std::max(advantage, 0.0) : std::min(advantage, 0.0);
      }
      if (advantage != 0) Put(members[m], weight * advantage);
    }
  }

  // A group that was one from the beginning may keep its value; one that shrank may not.
  Alone AloneHere() const {
    const bool alone = group_.trajectories.size() == 1 && channel_.unit == Unit::kTrajectory;
    return alone ? channel_.normaliser.alone : Alone::kZero;
  }

  void Put(const Member& member, double amount) {
    const Trajectory& trajectory = group_.trajectories[member.trajectory];
    if (channel_.mask != TokenMask::kOwn) {
      for (const Span& span : MaskSpans(channel_.mask, trajectory, channel_.reach)) {
        builder_.Add(member.trajectory, span, amount);
      }
      return;
    }
    switch (channel_.unit) {
      case Unit::kTrajectory:
        builder_.Add(member.trajectory, {0, trajectory.tokens}, amount);
        break;
      case Unit::kTurn:
        builder_.Add(member.trajectory, trajectory.turns[member.unit].tokens, amount);
        break;
      case Unit::kAction: PutOnAction(member, amount); break;
    }
  }

  void PutOnAction(const Member& member, double amount) {
    const Trajectory& trajectory = group_.trajectories[member.trajectory];
    builder_.Add(member.trajectory, TokensOfAction(trajectory, member.unit), amount);
    if (channel_.reach == ActionReach::kAction || member.unit >= trajectory.actions.size()) return;
    const Span& thought = trajectory.actions[member.unit].thought;
    if (!thought.empty()) builder_.Add(member.trajectory, thought, amount);
  }

  const Channel& channel_;
  const Group& group_;
  CreditBuilder& builder_;
  UnitValues values_;
  std::vector<Member> members_;
};

double DivisorOf(const Channel& channel, const std::vector<Application>& applications) {
  const Scale scale = channel.normaliser.scale;
  if (scale != Scale::kBatchDeviation && scale != Scale::kNonzeroShare) return 1;
  std::vector<double> all;
  for (const Application& application : applications) application.Collect(&all);
  if (scale == Scale::kBatchDeviation) return DeviationOf(all).deviation;
  const auto nonzero = std::count_if(all.begin(), all.end(), [](double x) { return x != 0; });
  return all.empty()
             ? 1
             : static_cast<double>(std::max<int64_t>(nonzero, 1)) / static_cast<double>(all.size());
}

}  // namespace

void ApplyChannel(const Channel& channel, std::span<const Group> groups,
                  std::span<CreditBuilder> builders) {
  CHECK(groups.size() == builders.size());
  std::vector<Application> applications;
  applications.reserve(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    applications.emplace_back(channel, groups[g], &builders[g]);
  }
  const double divisor = DivisorOf(channel, applications);
  for (Application& application : applications) application.Write(divisor);
}

}  // namespace hone
