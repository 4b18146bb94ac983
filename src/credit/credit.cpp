#include "credit/credit.h"

namespace hone {

std::string_view NoteKindName(NoteKind kind) {
  switch (kind) {
    case NoteKind::kUnscored: return "unscored";
    case NoteKind::kOthersFault: return "others_fault";
    case NoteKind::kGroupOfOne: return "group_of_one";
    case NoteKind::kAllEqual: return "all_equal";
    case NoteKind::kGated: return "gated";
    case NoteKind::kGroupDropped: return "group_dropped";
    case NoteKind::kMasked: return "masked";
    case NoteKind::kNoAction: return "no_action";
    case NoteKind::kNoCritic: return "no_critic";
    case NoteKind::kNothingToRead: return "nothing_to_read";
  }
  return "";
}

namespace {

std::vector<Advantages> Zeros(const std::vector<Advantages>& like) {
  std::vector<Advantages> zeros;
  zeros.reserve(like.size());
  for (const Advantages& one : like) {
    zeros.push_back({one.leaf, std::vector<float>(one.values.size(), 0.0f)});
  }
  return zeros;
}

}  // namespace

CreditBuilder::CreditBuilder(const Group& group, bool keep_layers)
    : enlisted_(group.trajectories.size(), false), keep_layers_(keep_layers) {
  total_.reserve(group.trajectories.size());
  for (const Trajectory& trajectory : group.trajectories) {
    total_.push_back({trajectory.leaf, std::vector<float>(trajectory.tokens, 0.0f)});
  }
}

void CreditBuilder::Open(std::string_view layer) {
  open_ = layer;
  if (keep_layers_) layers_.push_back({open_, Zeros(total_)});
}

void CreditBuilder::Add(size_t trajectory, const Span& span, double value) {
  const auto amount = static_cast<float>(value);
  Enlist(trajectory);
  auto add = [&](std::vector<float>& values) {
    float* at = values.data();
    for (int32_t t = span.begin; t < span.end; ++t) at[t] += amount;
  };
  add(total_[trajectory].values);
  if (keep_layers_) add(layers_.back().advantages[trajectory].values);
}

void CreditBuilder::AddEach(size_t trajectory, std::span<const float> values) {
  Enlist(trajectory);
  auto add = [&](std::vector<float>& to) {
    CHECK(to.size() == values.size());
    for (size_t t = 0; t < values.size(); ++t) to[t] += values[t];
  };
  add(total_[trajectory].values);
  if (keep_layers_) add(layers_.back().advantages[trajectory].values);
}

void CreditBuilder::Remark(NoteKind kind, int32_t leaf, std::string text) {
  notes_.push_back({kind, leaf, open_, std::move(text)});
}

void CreditBuilder::Replace(size_t trajectory, std::vector<float> values) {
  std::vector<float>& total = total_[trajectory].values;
  CHECK(values.size() == total.size());
  if (keep_layers_) {
    std::vector<float>& layer = layers_.back().advantages[trajectory].values;
    for (size_t t = 0; t < values.size(); ++t) layer[t] += values[t] - total[t];
  }
  total = std::move(values);
}

void CreditBuilder::Clear(size_t trajectory) {
  Replace(trajectory, std::vector<float>(total_[trajectory].values.size(), 0.0f));
}

Credit CreditBuilder::Take() && {
  return {std::move(total_), std::move(layers_), std::move(notes_)};
}

}  // namespace hone
