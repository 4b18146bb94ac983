// Published rewards beside the authors' own programs, on random answers and whole responses
// (tests/golden/rewards). Where Hone means to differ, the cases are told apart and counted.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "record/economy.h"
#include "rewards/matching/answer.h"
#include "rewards/presets.h"
#include "rewards/published.h"
#include "support/authors.h"
#include "text/dialect.h"

namespace hone {
namespace {

const Json::Array& CasesOf(const std::string& name) {
  static std::map<std::string, Json> files;
  Json& file = files[name];
  if (file.is_null()) {
    file = *ParseJson(*ReadFile(HONE_SOURCE_DIR "/tests/golden/rewards/" + name + ".json"));
  }
  return file.AsArray();
}

const std::string& TextIn(const Json& one, std::string_view key) {
  return MemberOf(one, key).AsString();
}

// --- answers -------------------------------------------------------------------------------------

TEST(PublishedPrograms, TapoScoresAnswers) {
  const std::map<std::string, std::pair<AnswerKind, double>> kinds = {
      {"exact", {AnswerKind::kMath, 0}},
      {"nq", {AnswerKind::kQaF1, 0}},
      {"calculator", {AnswerKind::kNumber, 0}},
      {"complex", {AnswerKind::kNumber, 0.05}}};
  std::map<std::string, int> same, ours_finds;
  for (const Json& one : CasesOf("answers")) {
    const std::string& kind = TextIn(one, "kind");
    const auto& [answer_kind, relative] = kinds.at(kind);
    const double ours =
        TapoScore(answer_kind, MemberOf(one, "answer"), MemberOf(one, "gold"), relative).value();
    const double theirs = NumberOf(one, "tapo");
    if (IsTheirs(ours, theirs, 1e-9)) {
      ++same[kind];
      continue;
    }
    // A number inside a sentence: there the whole answer must be one, here it is found.
    EXPECT_EQ(kind, "calculator") << ours << " " << DumpJson(one);
    EXPECT_EQ(ours, 1) << DumpJson(one);
    EXPECT_TRUE(TextIn(one, "answer").starts_with("it is ")) << DumpJson(one);
    ++ours_finds[kind];
  }
  EXPECT_EQ(same["exact"], 150);
  EXPECT_EQ(same["nq"], 150);
  EXPECT_EQ(same["complex"], 150);
  EXPECT_EQ(same["calculator"] + ours_finds["calculator"], 150);
  EXPECT_GE(ours_finds["calculator"], 5);
}

// A yes or a no that says more: there it has no word in common with the gold one, here it has.
TEST(PublishedPrograms, SearchR1ComparesExactlyAndToolStarByWords) {
  int compared = 0, says_more = 0;
  for (const Json& one : CasesOf("answers")) {
    if (TextIn(one, "kind") != "nq") continue;
    const auto match = [&](AnswerKind kind) {
      return MatchAnswer(kind, MemberOf(one, "answer"), MemberOf(one, "gold")).value();
    };
    EXPECT_EQ(match(AnswerKind::kQaExact).match ? 1 : 0, NumberOf(one, "search_r1"))
        << DumpJson(one);
    const double ours = match(AnswerKind::kQaF1).score;
    if (TextIn(one, "answer") == "yes, of course" && ours > 0) {
      EXPECT_EQ(NumberOf(one, "tool_star"), 0);
      ++says_more;
    } else {
      EXPECT_TRUE(IsTheirs(ours, NumberOf(one, "tool_star"), 1e-9)) << ours << DumpJson(one);
    }
    ++compared;
  }
  EXPECT_EQ(compared, 150);
  EXPECT_GE(says_more, 1);
}

// --- whole responses -----------------------------------------------------------------------------

// A response as the dialect of these tags reads it, turn by turn.
Tree TreeOf(const Json& one, const Dialect& dialect) {
  Tree tree;
  tree.task.id = "t";
  tree.task.answer = MemberOf(one, "gold");
  tree.nodes.push_back({kNoNode, Author::kUser, {1}});
  const Json::Array &turns = MemberOf(one, "turns").AsArray(),
                    &calls = MemberOf(one, "calls").AsArray();
  Leaf leaf;
  for (size_t i = 0; i < turns.size(); ++i) {
    const ParsedTurn parsed = dialect.Parse(turns[i].AsString(), TurnEnd::kEnded);
    Node turn{static_cast<NodeId>(tree.nodes.size()) - 1, Author::kPolicy, {2, 3, 4}};
    turn.logprobs = turn.entropies = {0, 0, 0};
    for (const ParsedCall& call : parsed.calls) turn.calls.push_back({call.name, call.arguments});
    for (const ParsedFault& fault : parsed.faults) turn.faults.push_back({fault.kind, "", {}});
    const bool called = !turn.calls.empty();
    tree.nodes.push_back(std::move(turn));
    if (called && i < calls.size()) {
      const bool failed = MemberOf(calls[i], "failed").AsBool();
      Node result{static_cast<NodeId>(tree.nodes.size()) - 1, Author::kTool, {5}};
      result.results.push_back({.call = 0,
                                .status = failed ? CallStatus::kToolError : CallStatus::kOk,
                                .blame = failed ? Blame::kAgent : Blame::kNone,
                                .content = TextIn(calls[i], "result")});
      tree.nodes.push_back(std::move(result));
    }
    if (i + 1 == turns.size()) {
      leaf.ending = parsed.answer && parsed.faults.empty() ? Ending::kAnswered : Ending::kInvalid;
      leaf.final_state = Json::Of({{"answer", parsed.answer ? Json(*parsed.answer) : Json()}});
    }
  }
  leaf.node = static_cast<NodeId>(tree.nodes.size()) - 1;
  tree.leaves.push_back(std::move(leaf));
  return tree;
}

Score Scored(const std::string& preset, const Tree& tree) {
  for (const Preset& one : BuiltInPresets()) {
    if (one.name == preset) return one.make({})->ScoreTree(tree, {}).value().at(0);
  }
  ADD_FAILURE() << "no preset " << preset;
  return {};
}

double TermOf(const Score& score, std::string_view name) {
  for (const RewardTerm& term : score.terms) {
    if (term.name == name) return term.value.value_or(-99);
  }
  return -99;
}

// The release looks for the next pair of tags and passes over what stands before it: text between
// tags, and a call that is not closed. Hone reads the turn as the grammar has it.
TEST(PublishedPrograms, TapoScoresWholeResponses) {
  const auto dialect = NewDialect("tagged:tapo").value();
  std::map<std::string, int> same, stricter;
  for (const Json& one : CasesOf("responses")) {
    const Score score = Scored("tapo", TreeOf(one, *dialect));
    const double ours = Total(score).value(), theirs = NumberOf(one, "tapo");
    const std::string& mistake = TextIn(one, "mistake");
    if (!IsTheirs(ours, theirs, 1e-9)) {
      EXPECT_TRUE(mistake == "text outside" || mistake == "unclosed call") << DumpJson(one);
      EXPECT_EQ(ours, -1) << DumpJson(one);
      EXPECT_GE(theirs, 0) << DumpJson(one);
      ++stricter[mistake];
      continue;
    }
    EXPECT_EQ(TermOf(score, "accuracy") == 1, MemberOf(one, "accurate").AsBool()) << DumpJson(one);
    ++same[mistake];
  }
  EXPECT_EQ(same["none"], 120);
  for (const char* mistake :
       {"unknown tag", "no answer", "unclosed answer", "text after the answer"}) {
    EXPECT_EQ(same[mistake], 40) << mistake;
  }
  EXPECT_GE(stricter["text outside"], 20);
}

// The release looks for tags: text beside them is no mistake to it, and a tool that failed counts
// as used. Hone reads what these tags allow, and wants a result of each tool.
TEST(PublishedPrograms, ToolStarScoresWholeResponses) {
  const auto dialect = NewDialect("tagged:tapo").value();
  const std::set<std::string> free = {"unknown tag", "text outside", "text after the answer"};
  int same = 0, stricter = 0, without_result = 0;
  for (const Json& one : CasesOf("responses")) {
    const Score score = Scored("tool-star", TreeOf(one, *dialect));
    const double ours = Total(score).value(), theirs = NumberOf(one, "tool_star");
    if (IsTheirs(ours, theirs, 1e-9)) {
      ++same;
    } else if (free.contains(TextIn(one, "mistake"))) {
      EXPECT_EQ(ours, -1) << DumpJson(one);
      EXPECT_GE(theirs, 0) << DumpJson(one);
      ++stricter;
    } else {
      EXPECT_TRUE(IsTheirs(ours + 0.1, theirs, 1e-9)) << ours << " " << DumpJson(one);
      bool failed = false;
      for (const Json& call : MemberOf(one, "calls").AsArray()) {
        failed |= MemberOf(call, "failed").AsBool();
      }
      EXPECT_TRUE(failed) << DumpJson(one);
      ++without_result;
    }
  }
  EXPECT_GE(same, 200);
  EXPECT_GE(stricter, 60);
  EXPECT_GE(without_result, 3);
}

// --- sums ----------------------------------------------------------------------------------------

TEST(PublishedPrograms, OtcWeighsByTheFewestCallsOfARightSibling) {
  int compared = 0;
  for (const Json& one : CasesOf("economy")) {
    const Json::Array &calls = MemberOf(one, "calls").AsArray(),
                      &right = MemberOf(one, "right").AsArray(),
                      &factors = MemberOf(one, "factors").AsArray();
    double fewest = 1e9;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (right[i].AsBool()) fewest = std::min(fewest, calls[i].AsDouble());
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!right[i].AsBool()) continue;  // there 1, times a reward of 0
      const double ours = OtcGrpoFactor(calls[i].AsDouble(), fewest, NumberOf(one, "smoothing"));
      EXPECT_TRUE(IsTheirs(ours, factors[i].AsDouble(), 1e-9)) << ours << " " << DumpJson(one);
      ++compared;
    }
  }
  EXPECT_GE(compared, 400);
}

TEST(PublishedPrograms, ToRlChargesCodeThatDidNotRunOnce) {
  int charged = 0;
  for (const Json& one : CasesOf("execution")) {
    Tree tree;
    tree.task.id = "t";
    tree.task.answer = "4";
    tree.nodes.push_back({kNoNode, Author::kUser, {1}});
    for (const Json& failed : MemberOf(one, "failed").AsArray()) {
      Node turn{static_cast<NodeId>(tree.nodes.size()) - 1, Author::kPolicy, {2}};
      turn.logprobs = turn.entropies = {0};
      turn.calls.push_back({"python", Json::Of({{"code", "1"}}), {0, 1}});
      tree.nodes.push_back(std::move(turn));
      Node result{static_cast<NodeId>(tree.nodes.size()) - 1, Author::kTool, {5}};
      result.results.push_back(
          {.call = 0,
           .status = failed.AsBool() ? CallStatus::kToolError : CallStatus::kOk,
           .blame = failed.AsBool() ? Blame::kAgent : Blame::kNone,
           .content = "x"});
      tree.nodes.push_back(std::move(result));
    }
    Node last{static_cast<NodeId>(tree.nodes.size()) - 1, Author::kPolicy, {2}};
    last.logprobs = last.entropies = {0};
    tree.nodes.push_back(std::move(last));
    tree.leaves.push_back({static_cast<NodeId>(tree.nodes.size()) - 1, Ending::kAnswered,
                           Blame::kNone,
                           Json::Of({{"answer", MemberOf(one, "right").AsBool() ? "4" : "5"}})});
    const double ours = Total(Scored("torl", tree)).value(), theirs = NumberOf(one, "score");
    EXPECT_TRUE(IsTheirs(ours, theirs, 1e-9)) << ours << " " << DumpJson(one);
    charged += theirs != 1 && theirs != -1 ? 1 : 0;
  }
  EXPECT_GE(charged, 15);
}

}  // namespace
}  // namespace hone
