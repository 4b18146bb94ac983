#include "envs/study/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "envs/study/names.h"
#include "envs/study/study_tools.h"
#include "tools/builtin/search_index.h"

namespace hone::study {
namespace {

const Library& Usual() {
  static const Library library({});
  return library;
}

// The titles of what a search returns, best first.
std::vector<std::string> TitlesFor(const std::string& query) {
  static const std::shared_ptr<Toolkit> tools =
      NewLibrarySearch(std::shared_ptr<const Library>(&Usual(), [](const Library*) {})).value();
  const ToolReply reply =
      tools->Call("search", Json::Of({{"query", query}}), nullptr, CallLimits{});
  EXPECT_EQ(reply.status, CallStatus::kOk);
  std::vector<std::string> titles;
  std::string_view rest = reply.content;
  while (!rest.empty()) {
    titles.emplace_back(rest.substr(0, rest.find(": ")));
    const size_t end = rest.find('\n');
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return titles;
}

TEST(NamesTest, NoWordStandsInTwoLists) {
  std::set<std::string_view> seen;
  for (const Words words :
       {FirstNames(), FamilyNames(), TownKinds(), TownNames(), RiverNames(), RiverKinds(),
        BookAdjectives(), BookNouns(), CompanyKinds(), Countries(), Trades()}) {
    for (const std::string_view word : words) EXPECT_TRUE(seen.insert(word).second) << word;
  }
}

TEST(LibraryTest, IsAFunctionOfItsSeed) {
  const Library same({}), other({.seed = 2});
  EXPECT_EQ(Usual().documents(), same.documents());
  EXPECT_NE(Usual().documents(), other.documents());
  EXPECT_EQ(Library({.documents = kFewestDocuments}).documents().size(), 3000u);
  EXPECT_EQ(Library({.documents = kMostDocuments}).documents().size(), 4500u);
}

TEST(LibraryTest, DocumentsAreShortAndSomeContradictOthers) {
  ASSERT_EQ(Usual().documents().size(), 4000u);
  std::map<std::string, int> titles;
  double words = 0;
  for (const Json& document : Usual().documents()) {
    ++titles[document.Find("title")->AsString()];
    const std::string& text = document.Find("text")->AsString();
    const auto blanks = std::count(text.begin(), text.end(), ' ');
    words += static_cast<double>(blanks + 1);
    EXPECT_LE(blanks, 24) << text;
    EXPECT_EQ(text.find('{'), std::string::npos);
    EXPECT_TRUE(text.ends_with('.')) << text;
  }
  EXPECT_NEAR(words / 4000, 12, 2);
  int disputed = 0, lacking = 0;
  for (const Entity& entity : Usual().entities()) {
    EXPECT_EQ(titles[entity.name], entity.disputed ? 2 : 1) << entity.name;
    disputed += entity.disputed ? 1 : 0;
    lacking += entity.lacks ? 1 : 0;
    if (entity.disputed) {
      EXPECT_NE(entity.rival, *entity.Find(*entity.disputed)) << entity.name;
    }
    if (entity.lacks) {
      EXPECT_EQ(entity.Find(*entity.lacks), nullptr);
    }
  }
  EXPECT_EQ(disputed, 360);
  EXPECT_NEAR(lacking, 0.125 * (3640 - 360), 60);
}

TEST(LibraryTest, WhatFactsNameBelongsToTheSameShare) {
  int undocumented = 0;
  for (const Entity& entity : Usual().entities()) {
    for (const auto& [relation, value] : entity.facts) {
      const auto kind = NoteOf(relation).leads_to;
      if (!kind) continue;
      EXPECT_EQ(ShareOf(value), ShareOf(entity.name)) << entity.name << " " << value;
      const Entity* named = Usual().Find(value);
      undocumented += named == nullptr ? 1 : 0;
      if (named != nullptr) {
        EXPECT_EQ(named->kind, *kind);
      }
    }
  }
  EXPECT_GT(undocumented, 80) << "some names have no document";
}

TEST(LibraryTest, EverySplitHasSomeOfEverything) {
  for (const EntityKind kind : kAllEntityKinds) {
    std::map<Share, size_t> sizes;
    size_t all = 0;
    for (const Share share : kAllShares) all += sizes[share] = Usual().Of(kind, share).size();
    const auto part = [&](Share share) {
      return static_cast<double>(sizes[share]) / static_cast<double>(all);
    };
    EXPECT_NEAR(part(Share::kTrain), 0.7, 0.07) << EntityKindName(kind);
    EXPECT_NEAR(part(Share::kDev), 0.1, 0.05) << EntityKindName(kind);
    EXPECT_NEAR(part(Share::kTest), 0.2, 0.06) << EntityKindName(kind);
    EXPECT_FALSE(Usual().Undocumented(EntityKind::kPerson, Share::kDev).empty());
  }
}

TEST(LibraryTest, NobodyWritesABookBeforeBirth) {
  int rivals = 0;
  for (const Entity& entity : Usual().entities()) {
    if (!entity.IsClear(Relation::kAuthor) || !entity.Find(Relation::kYear)) continue;
    const Entity* author = Usual().Find(*entity.Find(Relation::kAuthor));
    if (author == nullptr || !author->IsClear(Relation::kBorn)) continue;
    const int born = std::stoi(*author->Find(Relation::kBorn));
    EXPECT_GT(std::stoi(*entity.Find(Relation::kYear)), born) << entity.name;
    if (entity.disputed == Relation::kYear) {
      EXPECT_GT(std::stoi(entity.rival), born) << entity.name;
      ++rivals;
    }
  }
  EXPECT_GT(rivals, 10);
}

// In a small library, too, every share has what facts and questions draw from.
TEST(LibraryTest, TheSmallestHasSomeOfEverything) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Library library({.seed = seed, .documents = kFewestDocuments});
    for (const Share share : kAllShares) {
      for (const EntityKind kind : kAllEntityKinds) {
        EXPECT_GE(library.Of(kind, share).size(), 2u) << seed << EntityKindName(kind);
      }
      EXPECT_FALSE(library.Undocumented(EntityKind::kPerson, share).empty()) << seed;
    }
  }
}

// The name alone and the name with what is asked for.
TEST(LibraryTest, ASearchFindsWhatIsAskedFor) {
  std::map<std::string, int> found;
  int asked = 0;
  for (const Entity& entity : Usual().entities()) {
    if (entity.disputed || ++asked % 4 != 0) continue;
    const RelationNote& note = RelationsOf(entity.kind)[0];
    for (const auto& [way, query] : {std::pair<std::string, std::string>("name", entity.name),
                                     std::pair<std::string, std::string>(
                                         "word", entity.name + " " + std::string(note.word))}) {
      const std::vector<std::string> titles = TitlesFor(query);
      found[way] += std::find(titles.begin(), titles.end(), entity.name) != titles.end() ? 1 : 0;
      found[way + " first"] += !titles.empty() && titles[0] == entity.name ? 1 : 0;
    }
  }
  const double all = asked / 4;  // NOLINT: a few less
  EXPECT_GE(found["name"] / all, 0.99);
  EXPECT_GE(found["name first"] / all, 0.97);
  EXPECT_GE(found["word"] / all, 0.95);
}

TEST(LibraryTest, BothOfTwoThatContradictEachOtherComeBack) {
  int pairs = 0, both = 0;
  for (const Entity& entity : Usual().entities()) {
    if (!entity.disputed) continue;
    ++pairs;
    both += TitlesFor(entity.name) == std::vector<std::string>(2, entity.name) ? 1 : 0;
  }
  EXPECT_EQ(both, pairs);
}

TEST(LibraryTest, ANameWithoutDocumentBringsOthers) {
  for (const std::string& name : Usual().Undocumented(EntityKind::kPerson, Share::kTest)) {
    const std::vector<std::string> titles = TitlesFor(name);
    EXPECT_EQ(std::count(titles.begin(), titles.end(), name), 0);
    EXPECT_EQ(titles.size(), 2u) << "those that share a word";
  }
}

}  // namespace
}  // namespace hone::study
