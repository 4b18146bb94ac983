#include "envs/study/library.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/check.h"
#include "base/rng.h"
#include "envs/study/documents.h"
#include "envs/study/names.h"
#include "envs/study/readings.h"

namespace hone::study {
namespace {

// Parts of a hundred documents; the rest are second ones.
constexpr int64_t kShareOfDocuments[] = {40, 11, 4, 25, 11};
// Names without a document, per document of the kind.
constexpr int64_t kDocumentsPerUndocumented = 8;
constexpr double kLacks = 0.125;
constexpr double kUndocumentedLink = 0.08;  // of the persons that facts name
constexpr double kMentions = 0.5;
constexpr int kTriesToShareAWord = 16;
constexpr int kTriesToDiffer = 1000;

size_t At(EntityKind kind) { return static_cast<size_t>(kind); }
size_t At(Share share) { return static_cast<size_t>(share); }

// All names of a kind, in an order of the seed's.
std::vector<std::string> NamesOf(EntityKind kind, const Rng& rng) {
  const auto pools = [&]() -> std::pair<Words, Words> {
    switch (kind) {
      case EntityKind::kPerson: return {FirstNames(), FamilyNames()};
      case EntityKind::kTown: return {TownKinds(), TownNames()};
      case EntityKind::kRiver: return {RiverNames(), RiverKinds()};
      case EntityKind::kBook: return {BookAdjectives(), BookNouns()};
      case EntityKind::kCompany: return {FamilyNames(), CompanyKinds()};
    }
    return {};
  }();
  const size_t count = pools.first.size() * pools.second.size();
  std::vector<std::string> names;
  names.reserve(count);
  for (const size_t n : Shuffled(count, rng.Split("names").Split(EntityKindName(kind)))) {
    names.push_back(fmt::format("{} {}", pools.first[n / pools.second.size()],
                                pools.second[n % pools.second.size()]));
  }
  return names;
}

std::string NumberIn(int64_t least, int64_t most, Rng* rng) {
  return std::to_string(least +
                        static_cast<int64_t>(rng->Below(static_cast<uint64_t>(most - least + 1))));
}

// A value of a relation that leads nowhere.
std::string DrawPlain(Relation relation, Rng* rng) {
  switch (relation) {
    case Relation::kBorn: return NumberIn(1801, 1930, rng);
    case Relation::kTrade: return std::string(Trades()[rng->Below(Trades().size())]);
    case Relation::kCountry: return std::string(Countries()[rng->Below(Countries().size())]);
    case Relation::kPopulation: return NumberIn(1100, 9899, rng);
    case Relation::kYear: return NumberIn(1831, 1999, rng);
    case Relation::kPages: return NumberIn(81, 989, rng);
    case Relation::kStaff: return NumberIn(12, 989, rng);
    case Relation::kLength: return NumberIn(21, 989, rng);
    default: break;
  }
  CHECK(false, "a relation that leads somewhere");
  return "";
}

template <typename List>
const auto& Any(const List& list, Rng* rng) {
  return list[rng->Below(list.size())];
}

// Draws facts and writes documents, once all names are known.
class Writer {
 public:
  Writer(const Library& library, const Rng& rng) : library_(library), rng_(rng) {}

  // A value of the relation that is not `other`.
  std::string Draw(Relation relation, Share share, std::string_view other, Rng* rng) const {
    for (int i = 0; i < kTriesToDiffer; ++i) {
      std::string value = DrawAny(relation, share, rng);
      if (value != other) return value;
    }
    CHECK(false, "a library with too few documents to name two things of a kind");
    return "";
  }

  void DrawFacts(Entity* entity) const {
    Rng rng = rng_.Split("facts").Split(entity->name);
    const std::span<const RelationNote> relations = RelationsOf(entity->kind);
    for (const RelationNote& note : relations) {
      entity->facts[note.relation] = Draw(note.relation, ShareOf(entity->name), entity->name, &rng);
    }
    if (entity->kind == EntityKind::kBook) {
      entity->facts[Relation::kYear] =
          YearInLifeOfAuthor(*entity, *entity->Find(Relation::kYear), &rng);
    }
    if (entity->disputed) {
      entity->rival = RivalOf(*entity, &rng);
    } else if (rng.NextDouble() < kLacks) {
      entity->lacks = relations[rng.Below(relations.size())].relation;
      entity->facts.erase(*entity->lacks);
    }
  }

  Json Document(const Entity& entity, int64_t number, bool second) const {
    Rng rng = rng_.Split("document").Split(entity.name);
    // The second one has another wording.
    const size_t wording = (rng.Below(kWordings) + (second ? 1 : 0)) % kWordings;
    if (second) rng = rng.Split("second");
    std::string text = DescriptionOf(entity, wording, second);
    if (rng.NextDouble() < kMentions) text += " " + Mention(entity, &rng);
    return Json::Of(
        {{"id", fmt::format("d{:04}", number)}, {"title", entity.name}, {"text", text}});
  }

 private:
  std::string DrawAny(Relation relation, Share share, Rng* rng) const {
    const std::optional<EntityKind> kind = NoteOf(relation).leads_to;
    if (!kind) return DrawPlain(relation, rng);
    if (kind == EntityKind::kPerson && rng->NextDouble() < kUndocumentedLink) {
      return Any(library_.Undocumented(*kind, share), rng);
    }
    return Any(library_.Of(*kind, share), rng)->name;
  }

  // Another value of what is disputed.
  std::string RivalOf(const Entity& entity, Rng* rng) const {
    const std::string& value = *entity.Find(*entity.disputed);
    std::string rival = Draw(*entity.disputed, ShareOf(entity.name), value, rng);
    if (entity.disputed != Relation::kYear) return rival;
    for (int i = 0; i < kTriesToDiffer; ++i) {
      std::string year = YearInLifeOfAuthor(entity, rival, rng);
      if (year != value) return year;
    }
    return rival;
  }

  // Nobody writes a book before birth: of an author of whom nothing is known, `drawn`. Persons come
  // first, so that their years are known.
  std::string YearInLifeOfAuthor(const Entity& book, const std::string& drawn, Rng* rng) const {
    const Entity* author = library_.Find(*book.Find(Relation::kAuthor));
    const std::string* born = author == nullptr ? nullptr : author->Find(Relation::kBorn);
    if (born == nullptr) return drawn;
    const int64_t grown = std::stoll(*born) + 21;
    return NumberIn(grown, grown + 48, rng);
  }

  // Names that share a word with the entity's are preferred: they are what a search mixes up.
  std::string Mention(const Entity& entity, Rng* rng) const {
    const bool person = rng->Below(2) == 0;
    const auto& others = library_.Of(person ? EntityKind::kPerson : MentionedBeside(entity.kind),
                                     ShareOf(entity.name));
    const Entity* other = Any(others, rng);
    for (int i = 0; i < kTriesToShareAWord; ++i) {
      if (other != &entity && SharesAWord(entity.name, other->name)) break;
      other = Any(others, rng);
    }
    return MentionOf(entity.kind, other->name, person);
  }

  const Library& library_;
  const Rng rng_;
};

}  // namespace

Library::Library(const LibraryOptions& options) {
  CHECK(options.documents >= kFewestDocuments && options.documents <= kMostDocuments,
        "options that were not checked");
  const Rng rng = Rng(options.seed).Split("library");
  for (const EntityKind kind : kAllEntityKinds) {
    const std::vector<std::string> names = NamesOf(kind, rng);
    const auto documented =
        static_cast<size_t>(options.documents * kShareOfDocuments[At(kind)] / 100);
    const size_t all = documented + documented / kDocumentsPerUndocumented;
    CHECK(all <= names.size(), "more entities than names");
    for (size_t i = 0; i < all; ++i) {
      if (i < documented) {
        entities_.push_back({.kind = kind, .name = names[i]});
      } else {
        undocumented_[At(kind)][At(ShareOf(names[i]))].push_back(names[i]);
      }
    }
  }
  for (const Entity& entity : entities_) {
    by_name_[entity.name] = &entity;
    shares_[At(entity.kind)][At(ShareOf(entity.name))].push_back(&entity);
  }
  const Writer writer(*this, rng);
  const size_t seconds = static_cast<size_t>(options.documents) - entities_.size();
  const std::vector<size_t> order = Shuffled(entities_.size(), rng.Split("disputed"));
  for (size_t i = 0; i < seconds; ++i) {
    Entity& entity = entities_[order[i]];
    const auto relations = RelationsOf(entity.kind);
    entity.disputed =
        relations[rng.Split("relation").Split(entity.name).Below(relations.size())].relation;
  }
  for (Entity& entity : entities_) writer.DrawFacts(&entity);
  // Numbers say nothing of who is written about.
  const std::vector<size_t> numbers =
      Shuffled(static_cast<size_t>(options.documents), rng.Split("numbers"));
  documents_.resize(numbers.size());
  size_t next = 0;
  for (const Entity& entity : entities_) {
    for (int copy = 0; copy < (entity.disputed ? 2 : 1); ++copy) {
      const size_t number = numbers[next++];
      documents_[number] = writer.Document(entity, static_cast<int64_t>(number), copy == 1);
    }
  }
}

const Json& Library::Document(std::string_view id) const {
  size_t number = 0;
  std::from_chars(id.data() + 1, id.data() + id.size(), number);
  CHECK(number < documents_.size(), "an id of no document");
  return documents_[number];
}

const Entity* Library::Find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

const std::vector<const Entity*>& Library::Of(EntityKind kind, Share share) const {
  return shares_[At(kind)][At(share)];
}

const std::vector<std::string>& Library::Undocumented(EntityKind kind, Share share) const {
  return undocumented_[At(kind)][At(share)];
}

}  // namespace hone::study
