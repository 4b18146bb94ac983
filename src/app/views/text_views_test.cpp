#include "app/views/text_views.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/random_record.h"

namespace hone {
namespace {

const Tokenizer& Golden() {
  static const Tokenizer tokenizer =
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer").value();
  return tokenizer;
}

TEST(TokensView, ShowsTokensApartAndBrokenCharactersAsBytes) {
  const auto ids = Golden().Encode("wörld");
  EXPECT_EQ(TokensView(Golden(), ids, {}), "w|\\xc3|\\xb6|r|ld\n\n86 127 114 81 655\n5 tokens\n");
}

TEST(ParsedTurnView, SaysWhatWasReadAndWhatWasNot) {
  const auto dialect = NewDialect("tagged:desk").value();
  const std::string good = "<answer>fog</answer>", bad = "<tool_call>{</tool_call>";
  EXPECT_EQ(ParsedTurnView(good, dialect->Parse(good, TurnEnd::kEnded), {}), "answer    fog\n");
  EXPECT_EQ(ParsedTurnView(bad, dialect->Parse(bad, TurnEnd::kEnded), {}),
            "fault     bad_json (bytes 0 to 24): <tool_call>: not JSON: a key in double quotes is "
            "missing\n");
}

TEST(ParsedTurnView, NotesACallInAFormatThatWasNotChosen) {
  const auto dialect = NewDialect("hermes").value();
  const std::string turn = "[TOOL_CALLS]f[ARGS]{\"a\": 1}";
  const ParsedTurn parsed = dialect->Parse(turn, TurnEnd::kEnded);
  EXPECT_NE(ParsedTurnView(turn, parsed, {}).find("?calls=mistral"), std::string::npos);
  EXPECT_TRUE(ParsedTurnJson(turn, parsed, nullptr, {}).Find("note") != nullptr);
  EXPECT_EQ(ParsedTurnJson("x", dialect->Parse("x", TurnEnd::kEnded), nullptr, {}).Find("note"),
            nullptr);
}

TEST(TreesView, AnUnscoredTreeHasNoReward) {
  const std::string view =
      TreesView({{1, 0, "a", 2, 1, 30, std::nullopt}, {2, 0, "b", 2, 1, 30, 0.0}}, {});
  EXPECT_NE(view.find("–"), std::string::npos);
  EXPECT_NE(view.find("0.000"), std::string::npos);
}

// --- TreeView (tree_view.cpp)
// ---------------------------------------------------------------------

TEST(TreeView, EveryRecordCanBeShownWithAndWithoutATokenizer) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const ScoredTree record = RandomRecord(Rng(seed));
    for (const bool colour : {false, true}) {
      const Terminal terminal{.colour = colour};
      const std::string with = TreeView(record, &Golden(), terminal);
      const std::string without = TreeView(record, nullptr, terminal);
      for (size_t i = 0; i < record.tree.nodes.size(); ++i) {
        EXPECT_NE(with.find("#" + std::to_string(i) + " "), std::string::npos);
      }
      EXPECT_NE(without.find("no tokenizer"), std::string::npos);
      EXPECT_EQ(with.find('\x1b') != std::string::npos, colour);
    }
  }
}

ScoredTree OneTurn() {
  ScoredTree record;
  record.tree.task.id = "t";
  Node prompt, turn;
  prompt.author = Author::kUser;
  prompt.tokens = Golden().Encode("hi");
  turn.parent = 0;
  turn.author = Author::kPolicy;
  turn.tokens = Golden().Encode("ab<|im_end|>");
  turn.logprobs.assign(turn.tokens.size(), 0);
  turn.entropies.assign(turn.tokens.size(), 0);
  record.tree.nodes = {prompt, turn};
  record.tree.leaves = {{.node = 1, .ending = Ending::kFailed, .blame = Blame::kJudge}};
  return record;
}

TEST(TreeView, CreditStandsBeforeTheTokensThatHaveIt) {
  ScoredTree record = OneTurn();
  record.advantages = {{0, std::vector<float>(record.tree.nodes[1].tokens.size(), 0.5f)}};
  record.advantages[0].values.back() = -1;
  EXPECT_NE(TreeView(record, &Golden(), {}).find("{+0.50}ab{-1.00}<|im_end|>"), std::string::npos);
  const std::string coloured = TreeView(record, &Golden(), {.colour = true});
  EXPECT_NE(coloured.find("\x1b[48;5;28mab\x1b[0m\x1b[48;5;124m<|im_end|>"), std::string::npos);
}

TEST(TreeView, ThoughtsAreSetApartOnATerminal) {
  ScoredTree record = OneTurn();
  const std::string before = TreeView(record, &Golden(), {});
  EXPECT_EQ(before.find("thought"), std::string::npos);
  Node& turn = record.tree.nodes[1];
  turn.thoughts = {{0, static_cast<int32_t>(turn.tokens.size()) - 1}};
  turn.closed_thoughts = 1;
  const std::string plain = TreeView(record, &Golden(), {});
  EXPECT_NE(plain.find(fmt::format("thought {} tokens, closed by a limit", turn.tokens.size() - 1)),
            std::string::npos);
  EXPECT_NE(plain.find("ab<|im_end|>"), std::string::npos) << "not a sign in what was said";
  EXPECT_NE(TreeView(record, &Golden(), {.colour = true}).find("\x1b[2;3mab\x1b[0m<|im_end|>"),
            std::string::npos);
  record.advantages = {{0, std::vector<float>(turn.tokens.size(), 0.5f)}};
  EXPECT_NE(TreeView(record, &Golden(), {.colour = true}).find("\x1b[3;48;5;34mab\x1b[0m"),
            std::string::npos)
      << "in its credit's colour";
}

TEST(TreeView, CreditNeverCutsACharacter) {
  ScoredTree record = OneTurn();
  Node& turn = record.tree.nodes[1];
  turn.tokens = Golden().Encode("語😀é");
  turn.logprobs.assign(turn.tokens.size(), 0);
  turn.entropies.assign(turn.tokens.size(), 0);
  record.advantages = {{0, {}}};
  for (size_t i = 0; i < turn.tokens.size(); ++i)
    record.advantages[0].values.push_back(static_cast<float>(i));
  const std::string view = TreeView(record, &Golden(), {});
  for (const char* character : {"語", "😀", "é"})
    EXPECT_NE(view.find(character), std::string::npos) << view;
}

TEST(TreeView, TellsWhomToBlameAndWhatWasNotScored) {
  ScoredTree record = OneTurn();
  record.scores = {{0, {{"judge", std::nullopt, 1.0, kNoNode, {}}}}};
  const std::string view = TreeView(record, &Golden(), {});
  EXPECT_NE(view.find("● failed (blame judge)  not scored  judge absent"), std::string::npos)
      << view;
}

TEST(TreeView, LongTextsAreCutUnlessAskedFor) {
  ScoredTree record = OneTurn();
  record.tree.nodes[0].tokens = Golden().Encode(std::string(100, '\n') + "end");
  EXPECT_NE(TreeView(record, &Golden(), {}).find("more lines"), std::string::npos);
  EXPECT_EQ(TreeView(record, &Golden(), {}, {.lines_per_node = 0}).find("more lines"),
            std::string::npos);
}

TEST(TreeView, ADeepEpisodeIsNoProblem) {
  ScoredTree record = OneTurn();
  record.tree.leaves[0].node = 20001;
  for (NodeId i = 2; i <= 20001; ++i) {
    record.tree.nodes.push_back({.parent = i - 1, .author = Author::kUser, .tokens = {1}});
  }
  EXPECT_NE(TreeView(record, &Golden(), {}).find("#20001 "), std::string::npos);
}

TEST(Views, TheRequestIsWhatTheUserSaidLast) {
  Task task;
  EXPECT_EQ(RequestOf(task), "");
  task.messages =
      *ParseJson(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                                {"role": "user", "content": "c"}, {"role": "tool", "content": "d"}])");
  EXPECT_EQ(RequestOf(task), "c");
}

}  // namespace
}  // namespace hone
