#include "envs/study/question_kinds.h"

#include <fmt/format.h>

namespace hone::study {
namespace {

std::vector<Kind> AllKinds() {
  std::vector<Kind> all;
  for (std::vector<Kind>& part :
       std::vector<std::vector<Kind>>{HeadKinds(), ChainKinds(), ComputeKinds(), DoubtKinds()}) {
    for (Kind& kind : part) all.push_back(std::move(kind));
  }
  return all;
}

}  // namespace

std::string_view FamilyName(Family family) {
  switch (family) {
    case Family::kKnown: return "known";
    case Family::kSingle: return "single";
    case Family::kTwo: return "two";
    case Family::kThree: return "three";
    case Family::kCompute: return "compute";
    case Family::kFactsCompute: return "facts-compute";
    case Family::kMissing: return "missing";
    case Family::kDisputed: return "disputed";
  }
  return "";
}

bool NeedsSearch(Family family) { return family != Family::kKnown && family != Family::kCompute; }
bool NeedsPython(Family family) {
  return family == Family::kCompute || family == Family::kFactsCompute;
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

std::string ThoughtNeeds(Relation relation, std::string_view name) {
  return fmt::format("I need the {} of {}.", NoteOf(relation).word, name);
}

std::string ThoughtFound(Relation relation, std::string_view name, std::string_view value) {
  return fmt::format("The {} of {} is {}", NoteOf(relation).word, name, value);
}

}  // namespace hone::study
