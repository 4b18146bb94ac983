// docs/python.md, run as it is written: tools, rewards and environments in Python that nobody
// installed.

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "e2e/program.h"
#include "support/page_blocks.h"

namespace hone {
namespace {

class PythonPage : public testing::Test {
 protected:
  PythonPage() : blocks_(BlocksOf(ReadFile(HONE_SOURCE_DIR "/docs/python.md").value())) {
    for (const auto& [name, text] : blocks_) {
      const size_t space = name.find(' ');
      if (space == std::string::npos || name.find('.', space) == std::string::npos) continue;
      Write(name.substr(space + 1), text);
    }
  }

  void Write(const std::string& name, std::string text) {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
  }

  // Runs the program in the folder of the page's files, without any help for Python.
  SubprocessResult Run(std::vector<std::string> arguments, std::string_view input = "") {
    arguments.insert(arguments.begin(), HONE_BINARY);
    SubprocessOptions options;
    options.directory = folder_.path().string();
    options.environment = {"PATH=/usr/bin:/bin", "HOME=" + folder_.path().string()};
    auto result = RunSubprocess(arguments, input, std::chrono::seconds(120), options);
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : SubprocessResult{-1, "", ""};
  }

  TemporaryDirectory folder_;
  std::map<std::string, std::string> blocks_;
};

TEST_F(PythonPage, TheToolIsCalledAsThePageSays) {
  const SubprocessResult called =
      Run({"tools", "call", "stock", R"({"item": "lamp"})", "--tools", "tools.toml"});
  EXPECT_EQ(called.exit_code, 0) << called.standard_error;
  EXPECT_EQ(called.standard_output, blocks_.at("text tools"));
  EXPECT_NE(blocks_.at("sh tools").find(R"(hone tools call stock '{"item": "lamp"}')"),
            std::string::npos);
  const SubprocessResult refused =
      Run({"tools", "call", "stock", R"({"item": "gold"})", "--tools", "tools.toml"});
  EXPECT_NE((refused.standard_output + refused.standard_error).find("there is no gold"),
            std::string::npos);
}

TEST_F(PythonPage, TheClassOfToolsKeepsTheStateOfATrajectory) {
  Write("basket.toml", "[[tools]]\nkind = \"command\"\ncommand = [\"python3\", \"basket.py\"]\n");
  const SubprocessResult called = Run({"tools", "call", "-", "--tools", "basket.toml"},
                                      R"({"tool": "add", "arguments": {"thing": "pen"}})"
                                      "\n"
                                      R"({"tool": "add", "arguments": {"thing": "ink"}})"
                                      "\n");
  EXPECT_EQ(called.exit_code, 0) << called.standard_error;
  EXPECT_EQ(called.standard_output, "[\"pen\"]\n[\"pen\",\"ink\"]\n");
}

constexpr std::string_view kTwoSamples =
    R"({"format": "hone.tree", "version": 1, "task": {"id": "capital", "prompt": "Capital?", "answer": "Paris"},)"
    R"( "nodes": [{"author": "user", "tokens": [1]}, {"parent": 0, "author": "policy", "tokens": [3],)"
    R"( "logprobs": [-0.1], "entropies": [0.3]}, {"parent": 0, "author": "policy", "tokens": [5],)"
    R"( "logprobs": [-0.5], "entropies": [0.6]}], "leaves": [{"node": 1, "ending": "answered",)"
    R"( "final_state": {"answer": "Paris"}}, {"node": 2, "ending": "answered", "final_state": {"answer": "Rome"}}]})";

TEST_F(PythonPage, TheRewardScoresTrees) {
  const SubprocessResult scored =
      Run({"pipe", "rewards", "--command", "python3 reward.py"}, kTwoSamples);
  EXPECT_EQ(scored.exit_code, 0) << scored.standard_error;
  const Json tree = ParseJson(scored.standard_output).value();
  EXPECT_EQ(DumpJson(*tree.Find("scores")),
            R"([{"leaf":0,"terms":[{"name":"outcome","value":1.0}]},)"
            R"({"leaf":1,"terms":[{"name":"outcome","value":0.0}]}])");
}

TEST_F(PythonPage, ABugInARewardIsAJudgeFaultOfItsTrajectoryAlone) {
  Write("reward.py",
        "import hone\n@hone.reward\ndef score(task, trajectory):\n"
        "    return {'Paris': 1}[trajectory.answer]\nhone.run()\n");
  const SubprocessResult scored =
      Run({"pipe", "rewards", "--command", "python3 reward.py"}, kTwoSamples);
  EXPECT_EQ(scored.exit_code, 0) << scored.standard_error;
  const Json tree = ParseJson(scored.standard_output).value();
  EXPECT_EQ(DumpJson(*tree.Find("scores")),
            R"x([{"leaf":0,"terms":[{"name":"outcome","value":1.0}]},{"leaf":1,"terms":[)x"
            R"x({"name":"outcome","value":null,)x"
            R"x("fault":{"blame":"judge","message":"KeyError: 'Rome' (reward.py:4)"}}]}])x");
}

TEST_F(PythonPage, TheEnvironmentIsPlayed) {
  Write("numbers.jsonl", R"({"id": "n1", "prompt": "?", "metadata": {"number": 7}})"
                         "\n");
  const SubprocessResult played = Run({"env", "play", "guess.toml"}, "3\n7\n");
  EXPECT_EQ(played.exit_code, 0) << played.standard_error;
  for (const char* part : {"I think of a number", "No. Try again.", "answered, 0 calls, success"}) {
    EXPECT_NE(played.standard_output.find(part), std::string::npos) << played.standard_output;
  }
}

// Training with an environment and a reward in Python; what comes of it is the weights' hash.
std::string WeightsOf(const std::filesystem::path& run) {
  const Result<std::string> text = ReadFile(run / "result.json");
  EXPECT_TRUE(text.ok()) << text.error().message();
  const Json result = text.ok() ? ParseJson(*text).value() : Json();
  const Json* weights = result.Find("weights");
  return weights == nullptr ? "" : weights->AsString();
}

TEST_F(PythonPage, TheNumberOfProcessesDoesNotChangeWhatIsLearned) {
  std::string tasks;
  for (int i = 0; i < 6; ++i) {
    tasks += fmt::format(R"({{"id": "n{0}", "prompt": "?", "answer": "{0}", "metadata": {{)"
                         R"("number": {0}, "plan": {{"calls": [], "answer": "{0}"}}}}}})"
                         "\n",
                         i);
  }
  Write("numbers.jsonl", tasks);
  Write("train.toml",
        "[run]\nname = \"one\"\n[model.fresh]\nlayers = 1\nwidth = 32\nheads = 2\n"
        "[model.tokenizer]\ntexts = 6\nmin_frequency = 2\nvocabulary = 300\n[environment]\n"
        "kind = \"command\"\ncommand = [\"python3\", \"guess.py\"]\ntrain = \"numbers.jsonl\"\n"
        "dev = \"numbers.jsonl\"\ntest = \"numbers.jsonl\"\n[environment.rules]\nturns = 2\n"
        "[rewards]\ncommand = [\"python3\", \"reward.py\"]\n[[stage]]\nkind = \"sft\"\nsteps = 10\n"
        "demonstrations = 6\n[[stage]]\nkind = \"rl\"\nsteps = 2\ngroups = 3\ngroup = 2\n"
        "[evaluation]\nevery = 0\ntest_tasks = 2\ndev_tasks = 2\n");
  const SubprocessResult one = Run({"train", "train.toml"});
  ASSERT_EQ(one.exit_code, 0) << one.standard_error;
  const SubprocessResult many = Run({"train", "train.toml", "run.name=many", "run.cache=other",
                                     "environment.processes=3", "rewards.processes=4"});
  ASSERT_EQ(many.exit_code, 0) << many.standard_error;
  const std::string weights = WeightsOf(folder_.path() / "runs" / "one");
  EXPECT_EQ(weights.size(), 64u);
  EXPECT_EQ(WeightsOf(folder_.path() / "runs" / "many"), weights);

  // The package's client reads the run that the program wrote.
  Write("read.py",
        "import hone\nrun = hone.Run('runs/one')\n"
        "found = list(run.trajectories())\n"
        "assert len(found) == sum(tree['leaves'] for tree in run.trees()) > 0\n"
        "assert {one.task.id for one in found} <= {f'n{i}' for i in range(6)}\n"
        "assert all(one.score in (0, 1) for one in found), [one.score for one in found]\n"
        "print(run.result['weights'], len(run.metric('reward/mean')))\n");
  SubprocessOptions options;
  options.directory = folder_.path().string();
  options.environment = {"PYTHONPATH=" HONE_SOURCE_DIR "/python", "HONE_BINARY=" HONE_BINARY};
  const auto read =
      RunSubprocess({"/usr/bin/python3", "-B", "read.py"}, "", std::chrono::seconds(120), options);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->standard_output, weights + " 2\n") << read->standard_error;
}

}  // namespace
}  // namespace hone
