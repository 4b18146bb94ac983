#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "envs/share.h"

namespace hone::study {

// What the library is about.
enum class EntityKind { kPerson, kTown, kRiver, kBook, kCompany };
inline constexpr EntityKind kAllEntityKinds[] = {EntityKind::kPerson, EntityKind::kTown,
                                                 EntityKind::kRiver, EntityKind::kBook,
                                                 EntityKind::kCompany};
std::string_view EntityKindName(EntityKind kind);

// What it says of them.
enum class Relation {
  kBorn,
  kBirthplace,
  kTrade,
  kEmployer,
  kCountry,
  kOnRiver,
  kPopulation,
  kMayor,
  kAuthor,
  kYear,
  kPages,
  kFounder,
  kSeat,
  kStaff,
  kLength,
  kMouth,
};

struct RelationNote {
  Relation relation;
  EntityKind of;
  std::string_view key;                // "birthplace": in keys of tasks
  std::string_view word;               // "birth year": in thoughts and queries
  std::optional<EntityKind> leads_to;  // absent: to a number or a word that has no document
};
const RelationNote& NoteOf(Relation relation);
// Null: there is none of this key.
const RelationNote* FindRelation(std::string_view key);
// Those of a kind, in the order of the enumeration.
std::span<const RelationNote> RelationsOf(EntityKind kind);

// Which of the three sets of tasks an entity belongs to, by its name.
Share ShareOf(std::string_view key);
inline constexpr Share kAllShares[] = {Share::kTrain, Share::kDev, Share::kTest};

// An entity with what the library says of it.
struct Entity {
  EntityKind kind = EntityKind::kPerson;
  std::string name;
  std::map<Relation, std::string> facts;  // of what is disputed: what its first document says
  std::optional<Relation> lacks;          // what no document says
  std::optional<Relation> disputed;       // what its two documents say differently
  std::string rival;                      // what the second one says

  // Null: the library does not say.
  const std::string* Find(Relation relation) const;
  // Says one thing of it.
  bool IsClear(Relation relation) const { return Find(relation) && disputed != relation; }
};

}  // namespace hone::study
