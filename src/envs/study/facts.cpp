#include "envs/study/facts.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/hash.h"

namespace hone::study {
namespace {

using enum Relation;
using enum EntityKind;

// In the order of the enumeration, so that those of a kind stand together.
constexpr RelationNote kNotes[] = {
    {kBorn, kPerson, "born", "birth year", {}},
    {kBirthplace, kPerson, "birthplace", "birthplace", kTown},
    {kTrade, kPerson, "trade", "trade", {}},
    {kEmployer, kPerson, "employer", "employer", kCompany},
    {kCountry, kTown, "country", "country", {}},
    {kOnRiver, kTown, "river", "river", kRiver},
    {kPopulation, kTown, "population", "population", {}},
    {kMayor, kTown, "mayor", "mayor", kPerson},
    {kAuthor, kBook, "author", "author", kPerson},
    {kYear, kBook, "year", "year", {}},
    {kPages, kBook, "pages", "page count", {}},
    {kFounder, kCompany, "founder", "founder", kPerson},
    {kSeat, kCompany, "seat", "seat", kTown},
    {kStaff, kCompany, "staff", "staff", {}},
    {kLength, kRiver, "length", "length", {}},
    {kMouth, kRiver, "mouth", "mouth", kTown},
};

}  // namespace

std::string_view EntityKindName(EntityKind kind) {
  switch (kind) {
    case kPerson: return "person";
    case kTown: return "town";
    case kRiver: return "river";
    case kBook: return "book";
    case kCompany: return "company";
  }
  return "";
}

const RelationNote& NoteOf(Relation relation) { return kNotes[static_cast<size_t>(relation)]; }

const RelationNote* FindRelation(std::string_view key) {
  const auto* const found = std::find_if(std::begin(kNotes), std::end(kNotes),
                                         [&](const RelationNote& note) { return note.key == key; });
  return found == std::end(kNotes) ? nullptr : found;
}

std::span<const RelationNote> RelationsOf(EntityKind kind) {
  const auto is_of = [&](const RelationNote& note) { return note.of == kind; };
  const auto* const begin = std::find_if(std::begin(kNotes), std::end(kNotes), is_of);
  return {begin, std::find_if_not(begin, std::end(kNotes), is_of)};
}

Share ShareOf(std::string_view key) { return ShareOfHash(Hash64(fmt::format("study {}", key))); }

const std::string* Entity::Find(Relation relation) const {
  const auto found = facts.find(relation);
  return found == facts.end() ? nullptr : &found->second;
}

}  // namespace hone::study
