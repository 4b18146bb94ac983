#include <gtest/gtest.h>

#include "credit/methods.h"
#include "envs/task_file.h"
#include "rewards/matching/answer.h"
#include "rewards/presets.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

// A right answer, the same after a call that failed, one that cannot be read, a wrong one without
// a call, and one that is never given.
TreeMaker MixedGroup() {
  TreeMaker maker;
  maker.tree.task.reward =
      *ParseJson(R"({"answer": "math", "calls": [{"name": "f", "arguments": {}}]})");
  maker.tree.task.answer = "12";
  maker.Begin().Call("f").Answer("12");
  maker.Begin().Call("f", "{}", CallStatus::kToolError).Call("f").Answer("12");
  maker.Begin().Call("f").Fault().Answer("12");
  maker.Begin().Answer("13");
  maker.Begin().Call("f").End(Ending::kTurnLimit);
  return maker;
}

// Files of tasks and rewards know the same kinds of answers.
TEST(RewardCreditProperties, EveryKindOfAnswerCanBeATasks) {
  for (const AnswerKindNote& note : AnswerKinds()) {
    const Json task = Json::Of(
        {{"id", "t"}, {"prompt", "p"}, {"answer", "1"}, {"reward", std::string(note.name)}});
    for (const TaskProblem& problem : ReadTaskFile(DumpJson(task), nullptr).problems) {
      EXPECT_EQ(problem.text.find("no kind"), std::string::npos) << problem.text;
    }
  }
}

// A reward that some trajectories have and others lack keeps those from being compared: what was
// done badly would go unpunished.
TEST(RewardCreditProperties, EveryPresetScoresTrajectoriesSoThatTheyCanBeCompared) {
  const TreeMaker maker = MixedGroup();
  const Method method = NewMethod("grpo:terms=*").value();
  for (const Preset& preset : BuiltInPresets()) {
    SCOPED_TRACE(preset.name);
    ScoredTree record{.tree = maker.tree};
    auto scores = preset.make({})->ScoreTree(record.tree, {});
    ASSERT_TRUE(scores.ok()) << scores.error().message();
    record.scores = *scores;
    if (!Total(record.scores[0])) continue;  // it needs other labels
    const Result<Credit> credit = AssignCredit(method, record);
    ASSERT_TRUE(credit.ok()) << credit.error().message();
    for (const Note& note : credit->notes) {
      EXPECT_NE(note.kind, NoteKind::kUnscored) << "leaf " << note.leaf << ": " << note.text;
    }
  }
}

TEST(RewardCreditProperties, BadFormatIsPunished) {
  const TreeMaker maker = MixedGroup();
  const Method method = NewMethod("grpo:terms=*").value();
  for (const char* name : {"tool-star", "tapo", "adareasoner", "toolrl"}) {
    SCOPED_TRACE(name);
    ScoredTree record{.tree = maker.tree};
    record.scores = NewPreset(name).value()->ScoreTree(record.tree, {}).value();
    const Credit credit = AssignCredit(method, record).value();
    EXPECT_LT(credit.advantages[2].values[0], 0);
    EXPECT_GT(credit.advantages[0].values[0], 0);
  }
}

}  // namespace
}  // namespace hone
