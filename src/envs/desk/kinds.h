#pragma once

#include <span>
#include <string_view>

#include "envs/desk/draft.h"

namespace hone::desk {

enum class Family { kWhen, kWhich, kHow, kPipeline, kHard };
// "A" to "D" and "H".
std::string_view FamilyName(Family family);

// A kind of task. `write` fills in the draft, or returns false when what it drew does not belong to
// the split; then everything in the draft is to be forgotten.
struct Kind {
  std::string_view name;
  Family family = Family::kWhen;
  int64_t calls = 0;  // that it needs
  bool (*write)(Draft* draft) = nullptr;
  bool unseen = false;          // never in training
  bool unseen_phrases = false;  // has wordings that are never in training
};

// All kinds, family by family.
std::span<const Kind> Kinds();
const Kind* FindKind(std::string_view name);

// Each family's kinds stand in a file of their own.
std::span<const Kind> WhenKinds();
std::span<const Kind> WhichKinds();
std::span<const Kind> HowKinds();
std::span<const Kind> PipelineKinds();
std::span<const Kind> HardKinds();

}  // namespace hone::desk
