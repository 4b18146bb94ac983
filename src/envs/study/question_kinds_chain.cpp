// Facts: one, or chains in which each one leads to the document of the next.

#include <algorithm>

#include <fmt/format.h>

#include "envs/study/question_kinds.h"

namespace hone::study {
namespace {

using enum Relation;

struct Question {
  Relation relation;
  std::string_view kind;
  Wording wording;
};

const std::vector<Question>& Questions() {
  static const std::vector<Question> questions = {
      {kBorn,
       "born",
       {{"When was {n} born?", "What is the birth year of {n}?"}, {"In which year was {n} born?"}}},
      {kBirthplace,
       "birthplace",
       {{"Where was {n} born?", "What is the birthplace of {n}?"},
        {"In which town was {n} born?"}}},
      {kTrade,
       "trade",
       {{"What is the trade of {n}?", "What does {n} do?"}, {"Which trade has {n}?"}}},
      {kEmployer,
       "employer",
       {{"Who employs {n}?", "What is the employer of {n}?"},
        {"For which company is {n} at work?"}}},
      {kCountry,
       "country",
       {{"In which country is {n}?", "What is the country of {n}?"},
        {"To which country belongs {n}?"}}},
      {kOnRiver,
       "river",
       {{"On which river is {n}?", "What is the river of {n}?"}, {"Which river flows by {n}?"}}},
      {kPopulation,
       "population",
       {{"How many people live in {n}?", "What is the population of {n}?"}, {"How large is {n}?"}}},
      {kMayor, "mayor", {{"Who is the mayor of {n}?", "Who leads {n}?"}, {"Which mayor has {n}?"}}},
      {kAuthor, "author", {{"Who wrote {n}?", "Who is the author of {n}?"}, {"By whom is {n}?"}}},
      {kYear,
       "year",
       {{"When did {n} come out?", "What is the year of {n}?"},
        {"In which year did {n} come out?"}}},
      {kFounder,
       "founder",
       {{"Who founded {n}?", "Who is the founder of {n}?"}, {"By whom was {n} founded?"}}},
      {kSeat,
       "seat",
       {{"Where is {n} based?", "What is the seat of {n}?"}, {"In which town is {n} based?"}}},
      {kLength,
       "length",
       {{"How long is the {n}?", "What is the length of the {n}?"},
        {"Over how many km flows the {n}?"}}},
  };
  return questions;
}

// Follows the path from a drawn entity on.
bool WriteChain(const Kind& kind, Draft* draft) {
  const std::string first = draft->Draw(NoteOf(kind.path[0]).of).name;
  std::string name = first, thought;
  for (size_t i = 0; i < kind.path.size(); ++i) {
    const Relation relation = kind.path[i];
    const Entity* entity = draft->library().Find(name);
    if (entity == nullptr || !entity->IsClear(relation)) return false;
    if (!draft->Gold(relation, name)) return false;
    const std::string value = *entity->Find(relation);
    thought = i == 0 ? ThoughtNeeds(relation, name)
                     : fmt::format("{}; now the {}.", thought, NoteOf(relation).word);
    draft->Search(
        relation, name, thought, value,
        i == 0 ? std::vector<int32_t>{} : std::vector<int32_t>{static_cast<int32_t>(i) - 1});
    thought = ThoughtFound(relation, name, value);
    name = value;
  }
  if (name == first) return false;  // the question names the answer
  draft->Ask(kind.wording, {{"n", first}});
  draft->Conclude(ValueOf(name), thought + ".");
  return true;
}

Kind Chain(std::string_view name, std::vector<Relation> path, Wording wording,
           bool unseen = false) {
  const Family family = path.size() == 1   ? Family::kSingle
                        : path.size() == 2 ? Family::kTwo
                                           : Family::kThree;
  const auto calls = static_cast<int64_t>(path.size());
  const bool phrases = !wording.unseen.empty();
  return {.name = name,
          .family = family,
          .calls = calls,
          .write = WriteChain,
          .path = std::move(path),
          .wording = std::move(wording),
          .unseen = unseen,
          .unseen_phrases = phrases};
}

}  // namespace

const Wording* QuestionFor(Relation relation) {
  for (const Question& question : Questions()) {
    if (question.relation == relation) return &question.wording;
  }
  return nullptr;
}

std::span<const Relation> AskedRelations() {
  static const std::vector<Relation> relations = [] {
    std::vector<Relation> asked;
    for (const Question& question : Questions()) asked.push_back(question.relation);
    return asked;
  }();
  return relations;
}

std::vector<Kind> ChainKinds() {
  std::vector<Kind> kinds;
  for (const Question& question : Questions()) {
    kinds.push_back(Chain(question.kind, {question.relation}, question.wording));
  }
  const std::vector<Kind> chains = {
      Chain("river_mouth", {kMouth}, {{"Where does the {n} end?", "What is the mouth of the {n}?"}},
            true),
      Chain("birthplace_country", {kBirthplace, kCountry},
            {{"In which country was {n} born?", "What is the country of the birthplace of {n}?"},
             {"To which country belongs the birthplace of {n}?"}}),
      Chain(
          "birthplace_mayor", {kBirthplace, kMayor},
          {{"Who is the mayor of the birthplace of {n}?", "Who leads the town where {n} was born?"},
           {"Which mayor has the birthplace of {n}?"}}),
      Chain("employer_seat", {kEmployer, kSeat},
            {{"Where is the employer of {n} based?", "What is the seat of the employer of {n}?"},
             {"In which town is the employer of {n} based?"}}),
      Chain("employer_founder", {kEmployer, kFounder},
            {{"Who founded the employer of {n}?", "Who is the founder of the employer of {n}?"},
             {"By whom was the employer of {n} founded?"}}),
      Chain("author_birthplace", {kAuthor, kBirthplace},
            {{"Where was the author of {n} born?", "What is the birthplace of the author of {n}?"},
             {"In which town was the author of {n} born?"}}),
      Chain("author_trade", {kAuthor, kTrade},
            {{"What is the trade of the author of {n}?", "What does the author of {n} do?"},
             {"Which trade has the author of {n}?"}}),
      Chain("founder_born", {kFounder, kBorn},
            {{"When was the founder of {n} born?", "What is the birth year of the founder of {n}?"},
             {"In which year was the founder of {n} born?"}}),
      Chain("seat_country", {kSeat, kCountry},
            {{"In which country is {n} based?", "What is the country of the seat of {n}?"},
             {"To which country belongs the seat of {n}?"}}),
      Chain("mayor_trade", {kMayor, kTrade},
            {{"What is the trade of the mayor of {n}?", "What does the mayor of {n} do?"}}, true),
      Chain("author_birthplace_country", {kAuthor, kBirthplace, kCountry},
            {{"In which country was the author of {n} born?",
              "What is the country of the birthplace of the author of {n}?"},
             {"To which country belongs the birthplace of the author of {n}?"}}),
      Chain("founder_birthplace_river", {kFounder, kBirthplace, kOnRiver},
            {{"On which river was the founder of {n} born?",
              "What is the river of the birthplace of the founder of {n}?"},
             {"Which river flows by the birthplace of the founder of {n}?"}}),
      Chain("employer_seat_country", {kEmployer, kSeat, kCountry},
            {{"In which country is the employer of {n} based?",
              "What is the country of the seat of the employer of {n}?"},
             {"To which country belongs the seat of the employer of {n}?"}}),
      Chain("author_employer_seat", {kAuthor, kEmployer, kSeat},
            {{"Where is the employer of the author of {n} based?",
              "What is the seat of the employer of the author of {n}?"}},
            true),
  };
  kinds.insert(kinds.end(), chains.begin(), chains.end());
  return kinds;
}

}  // namespace hone::study
