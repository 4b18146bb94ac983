// What every rewarder promises (rewards/rewarder.h), over all presets, what they are composed with,
// and programs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "record/reward_terms.h"
#include "record/validate.h"
#include "rewards/compose.h"
#include "rewards/given_terms.h"
#include "support/random_record.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

// Terms that say something of the record alone. What is right nobody knows without a label.
const std::vector<std::string> kKnownWithoutLabels = {kFormatTerm, kExecutionTerm, kSyntaxTerm,
                                                      kFoldTerm,   kCostTerm,      kLengthTerm,
                                                      kBudgetTerm, kCallTerm};

// A task with every label there is: f must be called, and the answer is 12.
Task LabelledTask() {
  Task task;
  task.id = "t";
  task.tools = *ParseJson(R"([{"name": "f", "x-hone": {"price": 0.5}, "parameters":
      {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}])");
  task.answer = "12";
  task.reward = *ParseJson(R"({"tool_needed": true, "calls": [{"name": "f", "arguments": {"x": 1}}],
      "milestones": [{"name": "goal", "call": {"name": "f"}}], "outputs": ["12"],
      "budget": {"calls": 1}, "preferences": {"accuracy": 1}})");
  return task;
}

Task WithoutLabels(Task task) {
  task.answer = task.reward = Json();
  return task;
}

TreeMaker NewMaker() {
  TreeMaker maker;
  maker.tree.task = LabelledTask();
  return maker;
}

void AddRight(TreeMaker* maker) { maker->Begin().Call("f", R"({"x": 1})").Answer("12"); }
void AddWrong(TreeMaker* maker) {
  maker->Begin().Call("g", "{}", CallStatus::kToolError).Answer("99");
}

template <typename Enum>
std::vector<Enum> UpTo(Enum last) {
  std::vector<Enum> all;
  for (int i = 0; i <= static_cast<int>(last); ++i) all.push_back(static_cast<Enum>(i));
  return all;
}

// Whatever ended it, whoever is to blame: with an answer, after a call, after what cannot be read.
Tree EveryEnding() {
  TreeMaker maker = NewMaker();
  for (const Ending ending : UpTo(Ending::kFailed)) {
    for (const Blame blame : UpTo(Blame::kInfrastructure)) {
      if (ending == Ending::kFailed && blame == Blame::kNone) continue;
      maker.Begin().Answer("12");
      maker.tree.leaves.back().ending = ending;
      maker.tree.leaves.back().blame = blame;
      maker.Begin().Call("f", R"({"x": 1})").End(ending, Json(), blame);
      maker.Begin().Fault().End(ending, Json(), blame);
    }
  }
  return maker.tree;
}

// However a call ended.
Tree EveryCallStatus() {
  TreeMaker maker = NewMaker();
  for (const CallStatus status : UpTo(CallStatus::kInterrupted)) {
    for (const Blame blame : UpTo(Blame::kInfrastructure)) {
      maker.Begin().Call("f", R"({"x": 1})", status, "", blame).Call("g").Answer("12");
      maker.Begin().Call("f", "{}", status, "", blame).End(Ending::kTurnLimit);
    }
  }
  return maker.tree;
}

// Ended before the policy said anything.
Tree OnlyAPrompt(Ending ending) {
  TreeMaker maker = NewMaker();
  maker.Begin().End(ending, Json(),
                    ending == Ending::kFailed ? Blame::kInfrastructure : Blame::kNone);
  return maker.tree;
}

std::vector<Tree> SomeTrees() {
  std::vector<Tree> trees = {EveryEnding(), EveryCallStatus()};
  for (const Ending ending : UpTo(Ending::kFailed)) trees.push_back(OnlyAPrompt(ending));
  TreeMaker mixed = NewMaker();
  AddRight(&mixed);
  AddWrong(&mixed);
  trees.push_back(mixed.tree);
  for (uint64_t seed = 0; seed < 30; ++seed) {
    trees.push_back(RandomRecord(Rng(seed)).tree);
    trees.back().task = seed % 3 == 0 ? WithoutLabels(LabelledTask()) : LabelledTask();
  }
  return trees;
}

struct RewarderCase {
  std::string name;
  Json reward;
  bool by_labels = true;   // it says what is right by what the task says
  bool by_place = false;   // equal trajectories differ by where they stand
  bool is_gated = false;   // what depends on a term that was not scored is not scored either
  bool is_broken = false;  // what it says is never an answer
};

void PrintTo(const RewarderCase& one, std::ostream* out) { *out << one.name; }

class RewarderConformanceTest : public testing::TestWithParam<RewarderCase> {
 protected:
  static std::unique_ptr<Rewarder> Make() { return RewarderFromJson(GetParam().reward).value(); }
  std::vector<Score> ScoresOf(const Tree& tree) {
    Result<std::vector<Score>> scores = rewarder_->ScoreTree(tree, {.step = 3, .stop = {}});
    EXPECT_TRUE(scores.ok()) << (scores.ok() ? "" : scores.error().message());
    return scores.ok() ? *std::move(scores) : std::vector<Score>();
  }

  const std::unique_ptr<Rewarder> rewarder_ = Make();
};

TEST_P(RewarderConformanceTest, GivesOneScorePerLeafInTheirOrder) {
  for (const Tree& tree : SomeTrees()) {
    const std::vector<Score> scores = ScoresOf(tree);
    ASSERT_EQ(scores.size(), tree.leaves.size());
    for (size_t i = 0; i < scores.size(); ++i) EXPECT_EQ(scores[i].leaf, static_cast<int32_t>(i));
  }
}

TEST_P(RewarderConformanceTest, LeavesAValidRecordWithTermsWhereThePolicyWrote) {
  int64_t terms = 0;
  for (const Tree& tree : SomeTrees()) {
    ASSERT_EQ(Validate({tree, {}, {}}), std::vector<std::string>()) << "before it is scored";
    const std::vector<Score> scores = ScoresOf(tree);
    ASSERT_EQ(Validate({tree, scores, {}}), std::vector<std::string>());
    for (const Score& score : scores) {
      for (const RewardTerm& term : score.terms) {
        ++terms;
        EXPECT_TRUE(std::isfinite(term.value.value_or(0)) && std::isfinite(term.weight));
        EXPECT_TRUE(term.value || term.fault || GetParam().is_gated) << term.name;
        if (term.node != kNoNode) {
          EXPECT_EQ(tree.nodes[term.node].author, Author::kPolicy) << term.name;
        }
      }
    }
  }
  EXPECT_GT(terms, 0);
}

TEST_P(RewarderConformanceTest, ScoresTheSameTreeTheSameWhateverItHasSeenBefore) {
  const std::vector<Tree> trees = SomeTrees(), copies = trees;
  std::vector<std::vector<Score>> first;
  for (const Tree& tree : trees) first.push_back(ScoresOf(tree));
  const std::unique_ptr<Rewarder> other = Make();
  for (size_t i = trees.size(); i-- > 0;) {
    EXPECT_EQ(ScoresOf(copies[i]), first[i]) << "again, after others";
    EXPECT_EQ(other->ScoreTree(trees[i], {.step = 3, .stop = {}}).value(), first[i]);
  }
}

TEST_P(RewarderConformanceTest, GivesOnlyTermsThatItDeclares) {
  const auto declared = GivenTerms(RewardOptionsFromJson(GetParam().reward, "reward").value());
  if (!declared) return;  // a program names its terms itself
  for (const Tree& tree : SomeTrees()) {
    for (const Score& score : ScoresOf(tree)) {
      for (const RewardTerm& term : score.terms) {
        EXPECT_TRUE(std::binary_search(declared->begin(), declared->end(), term.name)) << term.name;
      }
    }
  }
}

TEST_P(RewarderConformanceTest, LeavesWithoutTermsWhatOthersBrokeAndOnlyCountsTheRest) {
  for (const Tree& tree : SomeTrees()) {
    const std::vector<Score> scores = ScoresOf(tree);
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_TRUE(!BrokenByOthers(tree.leaves[i]) || scores[i].terms.empty()) << "leaf " << i;
    }
  }
  // Nor does it matter to the others that it was there.
  TreeMaker maker = NewMaker();
  AddRight(&maker);
  AddWrong(&maker);
  const std::vector<Score> alone = ScoresOf(maker.tree);
  maker.Begin().Call("f", R"({"x": 1})").End(Ending::kFailed, Json(), Blame::kSimulator);
  std::vector<Score> beside = ScoresOf(maker.tree);
  beside.pop_back();
  EXPECT_EQ(beside, alone);
}

TEST_P(RewarderConformanceTest, WithoutLabelsSaysNothingOfWhatIsRight) {
  if (!GetParam().by_labels) return;
  for (Tree tree : SomeTrees()) {
    tree.task = WithoutLabels(tree.task);
    for (Leaf& leaf : tree.leaves) {  // nor does the environment say it
      if (leaf.final_state.Find("verdict") != nullptr) leaf.final_state = Json();
    }
    for (const Score& score : ScoresOf(tree)) {
      for (const RewardTerm& term : score.terms) {
        EXPECT_NE(std::find(kKnownWithoutLabels.begin(), kKnownWithoutLabels.end(), term.name),
                  kKnownWithoutLabels.end())
            << term.name << " is " << term.value.value_or(0) << ", and should be absent";
      }
    }
  }
}

// The gold answer is a program, and there is no sandbox to run the agent's in.
TEST_P(RewarderConformanceTest, WhatCannotBeJudgedHasAFaultAndNoValue) {
  if (!GetParam().by_labels) return;
  const auto declared = GivenTerms(RewardOptionsFromJson(GetParam().reward, "reward").value());
  TreeMaker maker = NewMaker();
  maker.tree.task.answer = *ParseJson(R"({"tests": [{"output": "12"}]})");
  AddRight(&maker);
  const std::vector<Score> scores = ScoresOf(maker.tree);
  bool faulted = false;
  for (const RewardTerm& term : scores.at(0).terms) {
    if (term.name != kOutcomeTerm) continue;
    EXPECT_FALSE(term.value.has_value()) << "worth " << *term.value;
    ASSERT_TRUE(term.fault.has_value());
    EXPECT_EQ(term.fault->blame, Blame::kJudge);
    EXPECT_FALSE(term.fault->message.empty());
    faulted = true;
  }
  EXPECT_EQ(faulted, std::binary_search(declared->begin(), declared->end(), kOutcomeTerm));
}

TEST_P(RewarderConformanceTest, PaysWhatIsRightMoreThanWhatIsWrong) {
  if (!GetParam().by_labels) return;
  TreeMaker maker = NewMaker();
  AddRight(&maker);
  AddWrong(&maker);
  const std::vector<Score> scores = ScoresOf(maker.tree);
  ASSERT_TRUE(Total(scores[0]).has_value());
  EXPECT_GT(*Total(scores[0]), Total(scores[1]).value_or(0));
}

TEST_P(RewarderConformanceTest, ScoresEqualTrajectoriesEqually) {
  if (GetParam().by_place) return;
  TreeMaker maker = NewMaker();
  for (int twice = 0; twice < 2; ++twice) {
    AddRight(&maker);
    AddWrong(&maker);
    maker.Begin().Fault().End(Ending::kInvalid);
  }
  std::vector<Score> scores = ScoresOf(maker.tree);
  ASSERT_EQ(scores.size(), 6u);
  for (Score& score : scores) {
    for (RewardTerm& term : score.terms) {
      // The node's number, counted from where the trajectory ends.
      if (term.node != kNoNode) term.node -= maker.tree.leaves[score.leaf].node;
    }
  }
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(scores[i].terms, scores[i + 3].terms) << "leaf " << i;
}

TEST_P(RewarderConformanceTest, LabelsThatCannotBeReadAreAnError) {
  if (!GetParam().by_labels) return;
  TreeMaker maker = NewMaker();
  AddRight(&maker);
  for (const char* reward : {"7", R"({"calls": 1})", R"({"anwser": "math"})"}) {
    maker.tree.task.reward = *ParseJson(reward);
    EXPECT_FALSE(rewarder_->ScoreTree(maker.tree, {}).ok()) << reward;
  }
}

TEST_P(RewarderConformanceTest, AProgramThatTalksNonsenseIsAFaultOnEveryLeafThatCounts) {
  if (!GetParam().is_broken) return;
  for (const Tree& tree : {EveryEnding(), EveryCallStatus()}) {
    const std::vector<Score> scores = ScoresOf(tree);
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_EQ(scores[i].terms.empty(), BrokenByOthers(tree.leaves[i]));
      EXPECT_FALSE(Total(scores[i]).has_value());
    }
  }
}

// Pays answers.
constexpr char kProgram[] = R"(
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    scores = [{"leaf": number, "terms": [{"name": "answers", "value": float(leaf["ending"] == "answered")}]}
              for number, leaf in enumerate(ask["tree"]["leaves"])]
    print(json.dumps({"request": ask["request"], "scores": scores}), flush=True)
)";

std::vector<RewarderCase> AllRewarders() {
  std::vector<RewarderCase> cases;
  for (const Preset& preset : BuiltInPresets()) cases.push_back({preset.name, preset.name});
  const auto json = [](const char* text) { return ParseJson(text).value(); };
  cases.push_back({.name = "sum",
                   .reward = json(R"({"sum": [
                       {"preset": "default", "weight": {"from": 0, "to": 1, "steps": 6}},
                       {"preset": "toolrl", "terms": ["correctness"]},
                       {"costs": {"per_call": 0.1}, "gate": {"term": "outcome", "at_least": 1}}]})"),
                   .is_gated = true});
  cases.push_back({.name = "flipped",
                   .reward = json(R"({"preset": "desk", "flip": {"share": 0.5, "seed": 3,
                       "terms": ["call"]}})"),
                   .by_place = true});
  cases.push_back({.name = "costs",
                   .reward = json(R"({"costs": {"per_call": 0.1, "per_token": 0.01,
                       "per_second": 0.2, "money": 0.3, "over_budget": 1}})"),
                   .by_labels = false});
  cases.push_back({.name = "program",
                   .reward = Json::Of({{"command", Json::Array{"python3", "-c", kProgram}}}),
                   .by_labels = false});
  cases.push_back({.name = "broken_program",  // says what it was asked
                   .reward = json(R"({"command": ["cat"]})"),
                   .by_labels = false,
                   .is_broken = true});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, RewarderConformanceTest, testing::ValuesIn(AllRewarders()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hone
