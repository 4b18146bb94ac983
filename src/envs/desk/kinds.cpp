#include "envs/desk/kinds.h"

#include <vector>

namespace hone::desk {
namespace {

constexpr std::pair<Family, std::string_view> kFamilies[] = {{Family::kWhen, "A"},
                                                             {Family::kWhich, "B"},
                                                             {Family::kHow, "C"},
                                                             {Family::kPipeline, "D"},
                                                             {Family::kHard, "H"}};

std::vector<Kind> AllKinds() {
  std::vector<Kind> all;
  for (const std::span<const Kind> part :
       {WhenKinds(), WhichKinds(), HowKinds(), PipelineKinds(), HardKinds()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::string_view FamilyName(Family family) {
  for (const auto& [known, name] : kFamilies) {
    if (known == family) return name;
  }
  return "";
}

std::span<const Kind> Kinds() {
  static const std::vector<Kind> kinds = AllKinds();
  return kinds;
}

const Kind* FindKind(std::string_view name) {
  for (const Kind& kind : Kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace hone::desk
