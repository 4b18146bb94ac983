// Rewards from outside: the passes, the list, and the page that says how to write one.

#include "base/file.h"
#include "e2e/program.h"
#include "record/record_json.h"
#include "rewards/presets.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

// The code blocks of one language on a page, in order.
std::vector<std::string> CodeBlocks(const std::string& page, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string open = "```" + language + "\n";
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    const size_t begin = at + open.size(), end = page.find("```", begin);
    EXPECT_NE(end, std::string::npos);
    blocks.push_back(page.substr(begin, end - begin));
    at = end;
  }
  return blocks;
}

class HowToWriteAReward : public testing::Test {
 protected:
  HowToWriteAReward()
      : page_(ReadFile(HONE_SOURCE_DIR "/docs/howto/write-a-reward.md").value()),
        json_(CodeBlocks(page_, "json")) {}

  // Runs the pass in a folder that holds the program as reward.py.
  SubprocessResult Run(const std::string& program, std::vector<std::string> options) {
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / "reward.py", program).ok());
    SubprocessOptions where;
    where.directory = directory_.path().string();
    options.insert(options.begin(), {HONE_BINARY, "pipe", "rewards"});
    auto result = RunSubprocess(options, json_[0], std::chrono::seconds(120), where);
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : SubprocessResult{-1, "", ""};
  }

  void ExpectJudgeFaults(const SubprocessResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    const auto record = RecordFromJson(ParseJson(result.standard_output).value());
    ASSERT_TRUE(record.ok()) << result.standard_output;
    ASSERT_EQ(record->scores.size(), 2u);
    for (const Score& score : record->scores) {
      EXPECT_EQ(Total(score), std::nullopt);
      ASSERT_TRUE(score.terms.at(0).fault.has_value());
      EXPECT_EQ(score.terms[0].fault->blame, Blame::kJudge);
    }
  }

  TemporaryDirectory directory_;
  std::string page_;
  std::vector<std::string> json_;  // the tree, the scores, the sum
};

TEST_F(HowToWriteAReward, ThePagesProgramDoesWhatThePageSays) {
  const std::string program = CodeBlocks(page_, "python").at(0);
  const auto lines = std::count(program.begin(), program.end(), '\n') -
                     static_cast<long>(program.find("\n\n") != std::string::npos);
  EXPECT_LE(lines, 10);
  const SubprocessResult result = Run(program, {"--command", "python3 reward.py"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  EXPECT_EQ(*ParseJson(result.standard_output)->Find("scores"), *ParseJson(json_.at(1)));
}

TEST_F(HowToWriteAReward, ThePagesSumWorksWithIt) {
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "reward.json", json_.at(2)).ok());
  const SubprocessResult result =
      Run(CodeBlocks(page_, "python").at(0), {"--reward", "reward.json"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  const auto record = RecordFromJson(ParseJson(result.standard_output).value());
  EXPECT_EQ(Total(record->scores[0]), 0.5 * 10 + 1);
  EXPECT_EQ(Total(record->scores[1]), -0.5 * 0.5) << "the gate is shut";
}

TEST_F(HowToWriteAReward, OneThatHangsDiesOrPrintsGarbageIsAJudgeFault) {
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "r.json",
                              R"({"command": ["python3", "reward.py"], "deadline_ms": 500})")
                  .ok());
  ExpectJudgeFaults(Run("import time; time.sleep(1000)", {"--reward", "r.json"}));
  ExpectJudgeFaults(Run("raise SystemExit(3)", {"--command", "python3 reward.py"}));
  ExpectJudgeFaults(Run("print('hello', flush=True); input()", {"--command", "python3 reward.py"}));
}

std::string TreeLine() {
  TreeMaker maker;
  maker.tree.task.messages = *ParseJson(R"([{"role": "user", "content": "hi"}])");
  maker.tree.task.answer = "x";
  maker.tree.task.reward = *ParseJson(R"({"calls": [{"name": "f"}]})");
  maker.Begin().Call("f").Answer("x");
  return DumpJson(RecordToJson({maker.tree, {}, {}})) + "\n";
}

TEST(RewardPasses, EveryPresetScoresATree) {
  for (const Preset& preset : BuiltInPresets()) {
    const SubprocessResult result = Hone({"pipe", "rewards", "--preset", preset.name}, TreeLine());
    EXPECT_EQ(result.exit_code, 0) << preset.name << result.standard_output;
  }
  const auto scored =
      RecordFromJson(ParseJson(Hone({"pipe", "rewards"}, TreeLine()).standard_output).value());
  ASSERT_TRUE(scored.ok());
  EXPECT_EQ(Total(scored->scores.at(0)), 1 + 1.5 + 0.5 + 1 + 10);
}

TEST(RewardPasses, MistakesAreErrors) {
  ExpectError(Hone({"pipe", "rewards", "--preset", "toolrll"}, ""), 1, "did you mean \"toolrl\"");
  ExpectError(Hone({"pipe", "rewards", "--preset", "toolrl", "--command", "true"}, ""), 1,
              "one of");
  ExpectError(Hone({"pipe", "rewards", "--step", "x"}, ""), 1, "--step");
  ExpectError(Hone({"pipe", "answer-match", "--kind", "mathh"}, ""), 1, "did you mean \"math\"");
  const SubprocessResult broken = Hone({"pipe", "rewards"}, R"({"format":"hone.tree","version":1,
      "task":{"id":"t","reward":7},"nodes":[{"author":"user","tokens":[1]}],
      "leaves":[{"node":0,"ending":"user_stop"}]})");
  EXPECT_EQ(broken.exit_code, 1);
}

TEST(RewardPasses, AnswersAreMatchedLineByLine) {
  const SubprocessResult result =
      Hone({"pipe", "answer-match", "--kind", "math"},
           "{\"answer\": \"\\\\frac12\", \"gold\": \"0.5\"}\n"
           "{\"answer\": \"2\", \"gold\": \"3\"}\n{\"answer\": \"2\"}\n");
  EXPECT_EQ(result.exit_code, 1);
  const auto lines = ParseJsonLines(result.standard_output).value();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], *ParseJson(R"({"match": true, "score": 1.0})"));
  EXPECT_EQ(lines[1], *ParseJson(R"({"match": false, "score": 0.0})"));
  EXPECT_NE(lines[2].Find("error"), nullptr);
}

TEST(RewardPasses, TheListNamesEveryPreset) {
  const Json list = ParseJson(Hone({"rewards", "list", "--json"}).standard_output).value();
  EXPECT_EQ(list.AsArray().size(), BuiltInPresets().size());
  const std::string table = Hone({"rewards", "list"}).standard_output;
  const std::string page = ReadFile(HONE_SOURCE_DIR "/docs/rewards.md").value();
  for (const Preset& preset : BuiltInPresets()) {
    EXPECT_NE(table.find(preset.name), std::string::npos) << preset.name;
    EXPECT_NE(page.find("| `" + preset.name + "` |"), std::string::npos) << preset.name;
  }
  for (const AnswerKindNote& note : AnswerKinds()) {
    EXPECT_NE(page.find("| `" + note.name + "` |"), std::string::npos) << note.name;
  }
}

}  // namespace
}  // namespace hone
