#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "envs/study/question_draft.h"

namespace hone::study {

enum class Family {
  kKnown,         // no call
  kSingle,        // one fact
  kTwo,           // a chain of two
  kThree,         // and of three
  kCompute,       // more than a head can do
  kFactsCompute,  // two facts and a computation
  kMissing,       // the library does not say: "unknown"
  kDisputed,      // two documents contradict each other: "disputed"
};
inline constexpr size_t kFamilies = 8;
std::string_view FamilyName(Family family);
// Whether its tasks need that tool.
bool NeedsSearch(Family family);
bool NeedsPython(Family family);

// A kind of task. `write` fills in the draft, or returns false when what it drew does not fit;
// then everything in the draft is to be forgotten.
struct Kind {
  std::string_view name;
  Family family = Family::kKnown;
  int64_t calls = 0;  // that it needs
  bool (*write)(const Kind& kind, Draft* draft) = nullptr;
  std::vector<Relation> path = {};  // what is asked for one after the other, of some kinds
  Wording wording = {};             // likewise
  bool unseen = false;              // never in training
  bool unseen_phrases = true;       // has wordings that are never in training
};

// All kinds, family by family.
std::span<const Kind> Kinds();
const Kind* FindKind(std::string_view name);

// Each group of families has a file of its own.
std::vector<Kind> HeadKinds();     // known
std::vector<Kind> ChainKinds();    // single, two, three
std::vector<Kind> ComputeKinds();  // compute, facts-compute
std::vector<Kind> DoubtKinds();    // missing, disputed

// The question for one fact of {n}. Only of relations that training asks for.
const Wording* QuestionFor(Relation relation);
// Those relations.
std::span<const Relation> AskedRelations();

// Thoughts that several kinds have.
std::string ThoughtNeeds(Relation relation, std::string_view name);
std::string ThoughtFound(Relation relation, std::string_view name, std::string_view value);

}  // namespace hone::study
