#include "rewards/command_rewarder.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

TreeMaker TwoLeaves() {
  TreeMaker maker;
  maker.Begin().Answer("a short answer");
  maker.Begin().Answer("x");
  return maker;
}

std::unique_ptr<Rewarder> Python(const std::string& body,
                                 std::chrono::milliseconds deadline = std::chrono::seconds(20),
                                 int64_t processes = 1) {
  const std::string program =
      "import json, sys, time\nfor line in sys.stdin:\n  ask = json.loads(line)\n"
      "  def say(**answer): print(json.dumps({'request': ask['request'], **answer}), flush=True)\n"
      "  leaves = ask['tree']['leaves']\n  " +
      body + "\n";
  return NewCommandRewarder(
             {.command = {"python3", "-c", program}, .deadline = deadline, .processes = processes})
      .value();
}

std::vector<Score> Scored(Rewarder* rewarder, const Tree& tree) {
  auto scores = rewarder->ScoreTree(tree, {.step = 3});
  EXPECT_TRUE(scores.ok()) << (scores.ok() ? "" : scores.error().message());
  return scores.ok() ? *scores : std::vector<Score>();
}

void ExpectJudgeFault(Rewarder* rewarder, std::string_view part) {
  const TreeMaker maker = TwoLeaves();
  const std::vector<Score> scores = Scored(rewarder, maker.tree);
  ASSERT_EQ(scores.size(), 2u);
  for (const Score& score : scores) {
    EXPECT_EQ(Total(score), std::nullopt);
    ASSERT_EQ(score.terms.size(), 1u);
    ASSERT_TRUE(score.terms[0].fault.has_value());
    EXPECT_EQ(score.terms[0].fault->blame, Blame::kJudge);
    EXPECT_NE(score.terms[0].fault->message.find(part), std::string::npos)
        << score.terms[0].fault->message;
  }
}

TEST(CommandRewarder, SeesTheTreeAndItsFinalStatesAndIsKeptRunning) {
  const auto rewarder = Python(
      "n = globals().get('n', 0) + 1; say(rewards=[len(leaf['final_state']['answer']) + 100 * n + "
      "1000 * ask['step'] for leaf in leaves])");
  const TreeMaker maker = TwoLeaves();
  const auto first = Scored(rewarder.get(), maker.tree);
  EXPECT_EQ(Total(first[0]), 3114);
  EXPECT_EQ(Total(first[1]), 3101);
  EXPECT_EQ(Total(Scored(rewarder.get(), maker.tree)[1]), 3201) << "the same process";
}

TEST(CommandRewarder, TermsMayBePlaced) {
  const auto rewarder = Python(
      "say(scores=[{'leaf': 1, 'terms': [{'name': 'short', 'value': 0.5, 'node': 2, "
      "'span': [0, 3]}]}])");
  const TreeMaker maker = TwoLeaves();
  const auto scores = Scored(rewarder.get(), maker.tree);
  EXPECT_TRUE(scores[0].terms.empty()) << "not scored";
  EXPECT_EQ(scores[1].terms[0], (RewardTerm{"short", 0.5, 1, 2, Span{0, 3}}));
}

TEST(CommandRewarder, NullIsNotScoredWithoutAFault) {
  const auto rewarder = Python("say(rewards=[None, 1])");
  const TreeMaker maker = TwoLeaves();
  const auto scores = Scored(rewarder.get(), maker.tree);
  EXPECT_EQ(Total(scores[0]), std::nullopt);
  EXPECT_FALSE(scores[0].terms[0].fault.has_value());
}

TEST(CommandRewarder, OneThatHangsIsAJudgeFault) {
  const auto rewarder = Python("time.sleep(1000)", std::chrono::milliseconds(300));
  ExpectJudgeFault(rewarder.get(), "python3");
  ExpectJudgeFault(rewarder.get(), "python3");
}

TEST(CommandRewarder, OneThatDiesIsAJudgeFaultAndIsStartedAgain) {
  TemporaryDirectory directory;
  const std::string file = (directory.path() / "ran").string();
  const auto rewarder = Python("import os; first = not os.path.exists('" + file + "'); open('" +
                               file + "', 'w'); first and sys.exit(7); say(rewards=[1, 1])");
  ExpectJudgeFault(rewarder.get(), "status 7");
  const TreeMaker maker = TwoLeaves();
  EXPECT_EQ(Total(Scored(rewarder.get(), maker.tree)[0]), 1);
}

TEST(CommandRewarder, GarbageIsAJudgeFault) {
  for (const auto& [body, part] : std::vector<std::pair<const char*, const char*>>{
           {"print('hello', flush=True)", "line 1"},
           {"say()", "\"rewards\" or \"scores\""},
           {"say(rewards=[1])", "1 numbers for 2 leaves"},
           {"say(rewards=['a', 1])", "rewards[0]"},
           {"print(json.dumps({'rewards': [1, 1]}), flush=True)", "\"request\": 1"},
           {"print('{\"request\": 1, \"rewards\": [NaN, 1]}', flush=True)", "line 1"},
           {"say(scores=[{'leaf': 5, 'terms': []}])", "leaf"},
           {"say(scores=[{'leaf': 0, 'terms': [{'name': 'x', 'value': 1, 'node': 99}]}])", "node"},
           {"sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()", "python3"}}) {
    const auto rewarder = Python(body);
    ExpectJudgeFault(rewarder.get(), part);
  }
}

TEST(CommandRewarder, AnAnswerTooManyIsNeverTakenForTheNextTrees) {
  const auto rewarder = Python("say(rewards=[1, 1]); say(rewards=[2, 2])");
  const TreeMaker maker = TwoLeaves();
  EXPECT_EQ(Total(Scored(rewarder.get(), maker.tree)[0]), 1);
  ExpectJudgeFault(rewarder.get(), "\"request\": 2");
  EXPECT_EQ(Total(Scored(rewarder.get(), maker.tree)[0]), 1);
}

// Trees whose answers are their numbers.
std::vector<Tree> NumberedTrees(int count) {
  std::vector<Tree> trees;
  for (int i = 0; i < count; ++i) {
    TreeMaker maker;
    maker.Begin().Answer(std::to_string(i));
    trees.push_back(maker.tree);
  }
  return trees;
}

std::vector<std::vector<Score>> ScoredAll(Rewarder* rewarder, const std::vector<Tree>& trees) {
  std::vector<const Tree*> all;
  for (const Tree& tree : trees) all.push_back(&tree);
  auto scores = rewarder->ScoreTrees(all, {.step = 3});
  EXPECT_TRUE(scores.ok()) << (scores.ok() ? "" : scores.error().message());
  return scores.ok() ? *scores : std::vector<std::vector<Score>>();
}

TEST(CommandRewarder, AnyNumberOfProcessesGivesTheSameScoresInTheSameOrder) {
  // By the answer and by the request's number; one of them raises.
  constexpr char kBody[] =
      "say(rewards=[1 / (int(leaf['final_state']['answer']) - 5) + 100 * ask['request'] for leaf "
      "in "
      "leaves])";
  const std::vector<Tree> trees = NumberedTrees(24);
  const auto one = Python(kBody), four = Python(kBody, std::chrono::seconds(20), 4);
  for (int round = 0; round < 2; ++round) {
    const auto expected = ScoredAll(one.get(), trees), given = ScoredAll(four.get(), trees);
    ASSERT_EQ(given.size(), 24u);
    EXPECT_EQ(given, expected);
    EXPECT_EQ(Total(given[7][0]), 0.5 + 100 * (24 * round + 8));
    EXPECT_NE(given[5][0].terms[0].fault->message.find("ZeroDivisionError"), std::string::npos);
  }
}

TEST(CommandRewarder, ProcessesScoreAtTheSameTime) {
  // Each waits until the other has its tree, too: one process alone would never answer.
  TemporaryDirectory directory;
  const std::string folder = directory.path().string();
  const auto rewarder = Python("import os; open('" + folder +
                                   "/' + leaves[0]['final_state']['answer'], 'w').close()\n"
                                   "  while len(os.listdir('" +
                                   folder + "')) < 2: time.sleep(0.001)\n  say(rewards=[1])",
                               std::chrono::seconds(60), 2);
  const auto scores = ScoredAll(rewarder.get(), NumberedTrees(2));
  EXPECT_EQ(Total(scores[0][0]), 1);
  EXPECT_EQ(Total(scores[1][0]), 1);
}

TEST(CommandRewarder, OneThatHangsCostsItsOwnDeadlineAlone) {
  const std::chrono::milliseconds deadline(1500);
  const auto rewarder =
      Python("if leaves[0]['final_state']['answer'] == '3': time.sleep(1000)\n  say(rewards=[1])",
             deadline, 4);
  const auto begin = std::chrono::steady_clock::now();
  const auto scores = ScoredAll(rewarder.get(), NumberedTrees(12));
  const auto took = std::chrono::steady_clock::now() - begin;
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(Total(scores[i][0]), i == 3 ? std::nullopt : std::optional<double>(1)) << i;
  }
  EXPECT_GE(took, deadline);
  EXPECT_LT(took, 20 * deadline) << "it did not wait for the one that hangs";
  EXPECT_EQ(Total(ScoredAll(rewarder.get(), NumberedTrees(1))[0][0]), 1) << "it was replaced";
}

TEST(CommandRewarder, LeavesThatOthersBrokeStayUnscored) {
  TreeMaker maker;
  maker.Begin().Call("f").End(Ending::kFailed, {}, Blame::kTool);
  const auto good = Python("say(rewards=[1])"), bad = Python("sys.exit(1)");
  EXPECT_TRUE(Scored(good.get(), maker.tree)[0].terms.empty());
  EXPECT_TRUE(Scored(bad.get(), maker.tree)[0].terms.empty());
}

TEST(CommandRewarder, AProgramThatIsNotThereIsAnError) {
  EXPECT_FALSE(NewCommandRewarder({{"/no/such/program"}}).ok());
  EXPECT_FALSE(NewCommandRewarder({{}}).ok());
}

TEST(CommandRewarder, StoppingIsAnErrorAndNotAFault) {
  const auto rewarder = Python("time.sleep(1000)");
  std::stop_source stop;
  stop.request_stop();
  const TreeMaker maker = TwoLeaves();
  const auto scores = rewarder->ScoreTree(maker.tree, {0, stop.get_token()});
  ASSERT_FALSE(scores.ok());
  EXPECT_EQ(scores.error().code(), ErrorCode::kStopped);
}

}  // namespace
}  // namespace hone
