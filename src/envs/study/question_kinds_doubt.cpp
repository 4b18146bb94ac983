// Questions that the library does not answer, or answers twice.

#include <algorithm>

#include <fmt/format.h>

#include "envs/study/question_kinds.h"

namespace hone::study {
namespace {

constexpr std::string_view kUnknown = "unknown", kDisputedAnswer = "disputed";

// What leads to a document that may not be there, and what is asked of it then.
constexpr std::pair<Relation, Relation> kHops[] = {{Relation::kAuthor, Relation::kTrade},
                                                   {Relation::kAuthor, Relation::kBirthplace},
                                                   {Relation::kFounder, Relation::kBorn},
                                                   {Relation::kBirthplace, Relation::kMayor},
                                                   {Relation::kEmployer, Relation::kFounder}};

Relation AnyRelation(Draft* draft) {
  return AskedRelations()[draft->rng().Below(AskedRelations().size())];
}

void ConcludeUnknown(Relation relation, const std::string& name, Draft* draft) {
  draft->Conclude(kUnknown,
                  draft->library().Find(name) == nullptr
                      ? fmt::format("There is nothing about {}.", name)
                      : fmt::format("No {} of {} is given.", NoteOf(relation).word, name));
}

bool NoDocument(const Kind&, Draft* draft) {
  const Relation relation = AnyRelation(draft);
  const std::string name = draft->DrawUndocumented(NoteOf(relation).of);
  if (name.empty() || !draft->Gold(relation, name)) return false;
  draft->Ask(*QuestionFor(relation), {{"n", name}});
  draft->Search(relation, name, ThoughtNeeds(relation, name), "");
  ConcludeUnknown(relation, name, draft);
  return true;
}

// Whether a document of a river says that it ends there: then the town's river is known.
bool IsAMouth(const std::string& town, const Library& library) {
  const auto& rivers = library.Of(EntityKind::kRiver, ShareOf(town));
  return std::any_of(rivers.begin(), rivers.end(), [&](const Entity* river) {
    const std::string* mouth = river->Find(Relation::kMouth);
    return (mouth != nullptr && *mouth == town) ||
           (river->disputed == Relation::kMouth && river->rival == town);
  });
}

bool NoFact(const Kind&, Draft* draft) {
  const Relation relation = AnyRelation(draft);
  const Entity& entity = draft->Draw(NoteOf(relation).of);
  if (entity.lacks != relation || !draft->Gold(relation, entity.name)) return false;
  if (relation == Relation::kOnRiver && IsAMouth(entity.name, draft->library())) return false;
  draft->Ask(*QuestionFor(relation), {{"n", entity.name}});
  draft->Search(relation, entity.name, ThoughtNeeds(relation, entity.name), "");
  ConcludeUnknown(relation, entity.name, draft);
  return true;
}

// The first fact of a chain is there, the second is not.
bool NoSecond(const Kind&, Draft* draft) {
  const auto [first, second] = kHops[draft->rng().Below(std::size(kHops))];
  const Entity& entity = draft->Draw(NoteOf(first).of);
  if (!entity.IsClear(first) || !draft->Gold(first, entity.name)) return false;
  const std::string name = *entity.Find(first);
  const Entity* next = draft->library().Find(name);
  if (next != nullptr && next->lacks != second) return false;
  if (!draft->Gold(second, name)) return false;
  for (const Kind& kind : Kinds()) {
    if (kind.path == std::vector<Relation>{first, second}) {
      draft->Ask(kind.wording, {{"n", entity.name}});
    }
  }
  draft->Search(first, entity.name, ThoughtNeeds(first, entity.name), name);
  draft->Search(
      second, name,
      fmt::format("{}; now the {}.", ThoughtFound(first, entity.name, name), NoteOf(second).word),
      "", {0});
  ConcludeUnknown(second, name, draft);
  return true;
}

bool DisputedFact(const Kind&, Draft* draft) {
  const Relation relation = AnyRelation(draft);
  const Entity& entity = draft->Draw(NoteOf(relation).of);
  if (entity.disputed != relation || !draft->Gold(relation, entity.name)) return false;
  draft->Ask(*QuestionFor(relation), {{"n", entity.name}});
  draft->Search(relation, entity.name, ThoughtNeeds(relation, entity.name), *entity.Find(relation));
  draft->steps.back().documents = 2;
  draft->Conclude(kDisputedAnswer,
                  fmt::format("One says {}, one says {}.", *entity.Find(relation), entity.rival));
  return true;
}

// What both documents say alike.
bool AgreedFact(const Kind&, Draft* draft) {
  const Relation relation = AnyRelation(draft);
  const Entity& entity = draft->Draw(NoteOf(relation).of);
  if (!entity.disputed || !entity.IsClear(relation) || !draft->Gold(relation, entity.name)) {
    return false;
  }
  const std::string value = *entity.Find(relation);
  draft->Ask(*QuestionFor(relation), {{"n", entity.name}});
  draft->Search(relation, entity.name, ThoughtNeeds(relation, entity.name), value);
  draft->Conclude(ValueOf(value), ThoughtFound(relation, entity.name, value) + ".");
  return true;
}

}  // namespace

std::vector<Kind> DoubtKinds() {
  return {{"no_document", Family::kMissing, 1, NoDocument},
          {"no_fact", Family::kMissing, 1, NoFact},
          {"no_second", Family::kMissing, 2, NoSecond},
          {"disputed_fact", Family::kDisputed, 1, DisputedFact},
          {"agreed_fact", Family::kDisputed, 1, AgreedFact}};
}

}  // namespace hone::study
