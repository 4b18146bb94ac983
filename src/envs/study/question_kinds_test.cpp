#include "envs/study/question_kinds.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace hone::study {
namespace {

const Library& Usual() {
  static const Library library({});
  return library;
}

// The first drafts of a kind that fit.
std::vector<Draft> Drafts(const Kind& kind, Split split, size_t count) {
  std::vector<Draft> drafts;
  for (uint64_t i = 0; i < 400'000 && drafts.size() < count; ++i) {
    Draft draft(&Usual(), Rng(i), split);
    if (kind.write(kind, &draft)) drafts.push_back(std::move(draft));
  }
  return drafts;
}

TEST(QuestionKindsTest, FamiliesAndTheirSizes) {
  std::map<std::string_view, int> families;
  std::set<std::string_view> names, unseen;
  for (const Kind& kind : Kinds()) {
    ++families[FamilyName(kind.family)];
    names.insert(kind.name);
    if (kind.unseen) unseen.insert(kind.name);
    EXPECT_EQ(FindKind(kind.name)->name, kind.name);
  }
  EXPECT_EQ(families, (std::map<std::string_view, int>{{"known", 3},
                                                       {"single", 14},
                                                       {"two", 9},
                                                       {"three", 4},
                                                       {"compute", 5},
                                                       {"facts-compute", 4},
                                                       {"missing", 3},
                                                       {"disputed", 2}}));
  EXPECT_EQ(names.size(), Kinds().size());
  EXPECT_EQ(unseen,
            (std::set<std::string_view>{"river_mouth", "mayor_trade", "author_employer_seat"}));
  EXPECT_EQ(FindKind("nothing"), nullptr);
}

// What is unseen is asked nowhere else, neither as a fact nor as two steps of a longer chain.
TEST(QuestionKindsTest, UnseenChainsAreNoPartOfOthers) {
  for (const Kind& unseen : Kinds()) {
    if (!unseen.unseen) continue;
    for (const Kind& kind : Kinds()) {
      if (kind.unseen) continue;
      EXPECT_EQ(
          std::search(kind.path.begin(), kind.path.end(), unseen.path.begin(), unseen.path.end()),
          kind.path.end())
          << unseen.name << " in " << kind.name;
    }
  }
  EXPECT_EQ(QuestionFor(Relation::kMouth), nullptr);
}

TEST(QuestionKindsTest, EveryKindIsWrittenInEverySplitThatHasIt) {
  for (const Kind& kind : Kinds()) {
    for (const Split split : kAllSplits) {
      if (kind.unseen != (split == Split::kUnseenKinds)) continue;
      if (split == Split::kUnseenPhrases && !kind.unseen_phrases) continue;
      const std::vector<Draft> drafts = Drafts(kind, split, 10);
      ASSERT_EQ(drafts.size(), 10u) << kind.name << " " << SplitName(split);
      for (const Draft& draft : drafts) {
        EXPECT_FALSE(draft.prompt.empty()) << kind.name;
        EXPECT_EQ(draft.prompt.find_first_of("{}"), std::string::npos) << draft.prompt;
        EXPECT_EQ(static_cast<int64_t>(draft.steps.size()), kind.calls) << kind.name;
        EXPECT_FALSE(draft.answer.is_null()) << kind.name;
        EXPECT_FALSE(draft.conclusion.empty()) << kind.name;
        for (const Step& step : draft.steps) {
          EXPECT_FALSE(step.thought.empty()) << kind.name;
          EXPECT_EQ(step.tool == Step::Tool::kSearch ? NeedsSearch(kind.family)
                                                     : NeedsPython(kind.family),
                    true)
              << kind.name;
        }
      }
    }
  }
}

TEST(QuestionKindsTest, FreshWordingsAreThereWhereTheyAreSaidToBe) {
  for (const Kind& kind : Kinds()) {
    if (kind.unseen || !kind.unseen_phrases) continue;
    std::set<size_t> seen, fresh;
    for (const Draft& draft : Drafts(kind, Split::kTrain, 30)) seen.insert(draft.phrase);
    for (const Draft& draft : Drafts(kind, Split::kUnseenPhrases, 30)) fresh.insert(draft.phrase);
    for (const size_t phrase : fresh) EXPECT_EQ(seen.count(phrase), 0u) << kind.name;
  }
}

TEST(QuestionKindsTest, SumsByHeadAreThoughtStepByStep) {
  const Draft draft = Drafts(*FindKind("four_sum"), Split::kTrain, 1).at(0);
  EXPECT_EQ(std::count(draft.conclusion.begin(), draft.conclusion.end(), '='), 3)
      << draft.conclusion;
  EXPECT_TRUE(draft.conclusion.ends_with("=" + DumpJson(draft.answer) + ".")) << draft.conclusion;
}

}  // namespace
}  // namespace hone::study
