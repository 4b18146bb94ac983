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
  static const std::array<Style, kWordings> person = {
      Style{", ",
            {{kTrade, ""}, {kBorn, "born "}, {kBirthplace, "from "}, {kEmployer, "employed by "}}},
      Style{". ",
            {{kBirthplace, "Comes from "},
             {kBorn, "Birth year "},
             {kEmployer, "Post at "},
             {kTrade, "Trade: "}}},
      Style{"; ",
            {{kBorn, "birth in "},
             {kBirthplace, "birthplace "},
             {kTrade, "by trade "},
             {kEmployer, "now with "}}}};
  static const std::array<Style, kWordings> town = {Style{", ",
                                                          {{kCountry, "in "},
                                                           {kOnRiver, "on the "},
                                                           {kPopulation, "", " people"},
                                                           {kMayor, "mayor "}}},
                                                    Style{". ",
                                                          {{kMayor, "Mayor is "},
                                                           {kPopulation, "Population "},
                                                           {kCountry, "Lies in "},
                                                           {kOnRiver, "River "}}},
                                                    Style{"; ",
                                                          {{kCountry, "part of "},
                                                           {kPopulation, "home to "},
                                                           {kOnRiver, "along the "},
                                                           {kMayor, "led by "}}}};
  static const std::array<Style, kWordings> river = {
      Style{", ", {{kLength, "a river of ", " km"}, {kMouth, "ends at "}}},
      Style{". ", {{kMouth, "Flows to "}, {kLength, "Length ", " km"}}},
      Style{"; ", {{kLength, "runs for ", " km"}, {kMouth, "mouth at "}}}};
  static const std::array<Style, kWordings> book = {
      Style{", ", {{kAuthor, "a book by "}, {kYear, "published "}, {kPages, "", " pages"}}},
      Style{". ", {{kPages, "It has ", " pages"}, {kAuthor, "Written by "}, {kYear, "Year "}}},
      Style{"; ", {{kYear, "printed in "}, {kAuthor, "author "}, {kPages, "pages: "}}}};
  static const std::array<Style, kWordings> company = {
      Style{", ",
            {{kSeat, "a company in "}, {kFounder, "founded by "}, {kStaff, "", " on the staff"}}},
      Style{". ", {{kFounder, "Begun by "}, {kStaff, "Staff "}, {kSeat, "Its seat is "}}},
      Style{"; ", {{kStaff, "staff of "}, {kSeat, "based in "}, {kFounder, "set up by "}}}};
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
  const std::string_view words = [&]() -> std::string_view {
    switch (about) {
      case EntityKind::kPerson: return person ? "Friend of " : "Often in ";
      case EntityKind::kTown: return person ? "Praised by " : "Near ";
      case EntityKind::kRiver: return person ? "Painted by " : "Unlike the ";
      case EntityKind::kBook: return person ? "Dedicated to " : "Much read in ";
      case EntityKind::kCompany: return person ? "Praised by " : "Rival of ";
    }
    return "";
  }();
  return std::string(words) + name + ".";
}

}  // namespace hone::study
