#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "envs/study/facts.h"

namespace hone::study {

struct LibraryOptions {
  uint64_t seed = 1;
  int64_t documents = 4000;
};
inline constexpr int64_t kFewestDocuments = 3000, kMostDocuments = 4500;

// What there is to be read: short documents about persons, towns, rivers, books and companies that
// do not exist. A function of its options. Immutable.
//
// Nine of a hundred documents are second ones: they say another thing of an entity than its first
// document does. One entity in eight lacks a relation. Half of the documents end with a sentence
// that mentions another entity and says nothing of it. What an entity's facts name belongs to the
// same share as the entity (countries belong to none), so that chains of any length lie in one.
// Some names that facts mention have no document.
class Library {
 public:
  explicit Library(const LibraryOptions& options);
  Library(const Library&) = delete;  // it points into itself
  Library& operator=(const Library&) = delete;

  // {"id", "title", "text"}; the title is the name of whom it is about.
  const std::vector<Json>& documents() const { return documents_; }
  // The one of this id, which must be there.
  const Json& Document(std::string_view id) const;

  const std::vector<Entity>& entities() const { return entities_; }
  // Null: there is no document about it.
  const Entity* Find(std::string_view name) const;
  // Those of a share, in an order of no meaning.
  const std::vector<const Entity*>& Of(EntityKind kind, Share share) const;
  // Names without a document.
  const std::vector<std::string>& Undocumented(EntityKind kind, Share share) const;

 private:
  std::vector<Entity> entities_;
  std::unordered_map<std::string, const Entity*> by_name_;
  std::array<std::array<std::vector<const Entity*>, 3>, 5> shares_;
  std::array<std::array<std::vector<std::string>, 3>, 5> undocumented_;
  std::vector<Json> documents_;
};

}  // namespace hone::study
