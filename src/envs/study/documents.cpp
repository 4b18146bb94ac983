#include "envs/study/documents.h"

#include <array>
#include <span>

#include "base/check.h"

namespace hone::study {
namespace {

// A clause says one thing, in two halves around the value.
struct Clause {
  Relation relation;
  std::string_view before, after = "";
};
struct Style {
  std::string_view between;  // clauses
  std::vector<Clause> clauses;
};

using enum Relation;

const std::array<Style, kWordings>& StylesOf(EntityKind kind) {
  static const std::array<Style, kWordings> person = {Style{", ",
                                                            {{kTrade, "a "},
                                                             {kBorn, "born in "},
                                                             {kBirthplace, "a native of "},
                                                             {kEmployer, "employed by "}}},
                                                      Style{". ",
                                                            {{kBirthplace, "Comes from "},
                                                             {kBorn, "Birth year "},
                                                             {kEmployer, "Has a post at "},
                                                             {kTrade, "Trade: "}}},
                                                      Style{"; ",
                                                            {{kBorn, "year of birth "},
                                                             {kBirthplace, "place of birth "},
                                                             {kTrade, "learned to be a "},
                                                             {kEmployer, "now with "}}}};
  static const std::array<Style, kWordings> town = {Style{", ",
                                                          {{kCountry, "a town in "},
                                                           {kOnRiver, "on the "},
                                                           {kPopulation, "with ", " people"},
                                                           {kFounded, "founded in "},
                                                           {kMayor, "mayor "}}},
                                                    Style{". ",
                                                          {{kMayor, "Its mayor is "},
                                                           {kPopulation, "Population "},
                                                           {kCountry, "Lies in "},
                                                           {kOnRiver, "The ", " flows by"},
                                                           {kFounded, "Dates from "}}},
                                                    Style{"; ",
                                                          {{kFounded, "settled in "},
                                                           {kCountry, "part of "},
                                                           {kPopulation, "home to "},
                                                           {kOnRiver, "built along the "},
                                                           {kMayor, "led by "}}}};
  static const std::array<Style, kWordings> river = {
      Style{", ", {{kLength, "a river of ", " km"}, {kMouth, "ends at "}}},
      Style{". ", {{kMouth, "Flows into the sea at "}, {kLength, "Length ", " km"}}},
      Style{"; ", {{kLength, "runs for ", " km"}, {kMouth, "its mouth is at "}}}};
  static const std::array<Style, kWordings> book = {
      Style{", ", {{kAuthor, "a book by "}, {kYear, "published in "}, {kPages, "", " pages"}}},
      Style{". ",
            {{kPages, "It has ", " pages"}, {kAuthor, "Written by "}, {kYear, "Came out in "}}},
      Style{"; ", {{kYear, "printed in "}, {kAuthor, "from the pen of "}, {kPages, "pages: "}}}};
  static const std::array<Style, kWordings> company = {
      Style{", ",
            {{kSeat, "a company in "},
             {kFounder, "founded by "},
             {kSince, "in business since "},
             {kStaff, "", " people on the staff"}}},
      Style{". ",
            {{kFounder, "Begun by "},
             {kStaff, "Staff "},
             {kSeat, "Its seat is "},
             {kSince, "Goes back to "}}},
      Style{"; ",
            {{kStaff, "staff of "},
             {kSeat, "based in "},
             {kSince, "active since "},
             {kFounder, "set up by "}}}};
  switch (kind) {
    case EntityKind::kPerson: return person;
    case EntityKind::kTown: return town;
    case EntityKind::kRiver: return river;
    case EntityKind::kBook: return book;
    case EntityKind::kCompany: return company;
  }
  CHECK(false, "a kind of entity without wordings");
  return person;
}

}  // namespace

std::string DescriptionOf(const Entity& entity, size_t wording, bool second) {
  const Style& words = StylesOf(entity.kind)[wording];
  std::string text;
  for (const Clause& clause : words.clauses) {
    const std::string* fact = entity.Find(clause.relation);
    if (fact == nullptr) continue;
    if (!text.empty()) text += words.between;
    text += clause.before;
    text += second && entity.disputed == clause.relation ? entity.rival : *fact;
    text += clause.after;
  }
  return text + ".";
}

EntityKind MentionedBeside(EntityKind about) {
  switch (about) {
    case EntityKind::kRiver: return EntityKind::kRiver;
    case EntityKind::kCompany: return EntityKind::kCompany;
    default: return EntityKind::kTown;
  }
}

std::string MentionOf(EntityKind about, const std::string& name, bool person) {
  switch (about) {
    case EntityKind::kPerson: return (person ? "A friend of " : "Often seen in ") + name + ".";
    case EntityKind::kTown:
      return person ? "A street is named after " + name + "." : "A path leads to " + name + ".";
    case EntityKind::kRiver: return (person ? "Painted by " : "Often taken for the ") + name + ".";
    case EntityKind::kBook: return (person ? "Dedicated to " : "Much read in ") + name + ".";
    case EntityKind::kCompany: return (person ? "Praised by " : "Once sued by ") + name + ".";
  }
  return "";
}

}  // namespace hone::study
