#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "credit/group.h"

namespace hone {

// Why somebody got no credit, or got it otherwise than one would think.
enum class NoteKind {
  kUnscored,       // no value where one is needed: left out of the statistics
  kOthersFault,    // ended by the fault of somebody else, or interrupted: left out altogether
  kGroupOfOne,     // nobody to compare with
  kAllEqual,       // everybody to compare with has the same value
  kGated,          // the channel is not for it
  kGroupDropped,   // a filter dropped the whole group
  kMasked,         // its tokens are masked after the statistics
  kNoAction,       // no call, and credit that is for calls only
  kNoCritic,       // values are needed and were not given: taken as 0
  kNothingToRead,  // no term that the channel reads, in the whole group
};
std::string_view NoteKindName(NoteKind kind);

struct Note {
  NoteKind kind = NoteKind::kUnscored;
  int32_t leaf = -1;    // -1: the group
  std::string channel;  // empty: all of them
  std::string text;

  bool operator==(const Note&) const = default;
};

// What one channel (or estimator, or shaper) added to the credit, per leaf.
struct Layer {
  std::string name;
  std::vector<Advantages> advantages;
};

// The credit of one group.
struct Credit {
  std::vector<Advantages> advantages;  // one per leaf, in their order
  std::vector<Layer> layers;           // sum up to it; only when asked for
  std::vector<Note> notes;
};

// Credit in the making: what the channels of a method write into, one per group.
class CreditBuilder {
 public:
  CreditBuilder(const Group& group, bool keep_layers);

  // What is added from now on belongs to this layer.
  void Open(std::string_view layer);
  // The trajectory takes part in what is compared, even if its credit comes out as 0. Adding
  // enlists as well.
  void Enlist(size_t trajectory) { enlisted_[trajectory] = true; }
  bool TakesPart(size_t trajectory) const { return enlisted_[trajectory]; }
  // Adds to the flat tokens [span) of a trajectory.
  void Add(size_t trajectory, const Span& span, double value);
  // Adds one value per token of a trajectory.
  void AddEach(size_t trajectory, std::span<const float> values);
  void Remark(NoteKind kind, int32_t leaf, std::string text);

  size_t size() const { return total_.size(); }
  const std::vector<float>& total(size_t trajectory) const { return total_[trajectory].values; }
  // Sets one trajectory's credit; the difference belongs to the open layer.
  void Replace(size_t trajectory, std::vector<float> values);
  void Clear(size_t trajectory);

  Credit Take() &&;

 private:
  std::vector<Advantages> total_;
  std::vector<Layer> layers_;
  std::vector<Note> notes_;
  std::string open_;
  std::vector<bool> enlisted_;
  bool keep_layers_;
};

}  // namespace hone
