// Several environments in one run, and files of tasks in place of suites.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json_lines.h"
#include "e2e/program.h"

namespace hone {
namespace {

class MixtureTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = directory_.path() / name;
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return file.string();
  }

  // Sums with a plan each, whose gold calls nobody writes down a second time.
  std::string Sums(const std::string& name, int first) {
    std::string lines;
    for (int i = first; i < first + 6; ++i) {
      const std::string a = std::to_string(i), sum = std::to_string(i + 2);
      lines += R"({"id": "s)" + a + R"(", "prompt": ")" + a + R"( + 2 ?", "answer": ")" + sum +
               R"(", "metadata": {"plan": {"calls": [{"name": "calculator", "arguments": )" +
               R"({"expression": ")" + a + R"(+2"}}], "answer": "${0}"}}})" + "\n";
    }
    return Write(name, lines);
  }

  std::string Recipe(const std::string& environments, const std::string& stages) {
    return Write("mix.toml", R"([run]
name = "mix"
threads = 1
out = ")" + directory_.path().string() +
                                 R"("
[model]
dialect = "tagged:desk"
[model.fresh]
layers = 1
width = 32
heads = 2
positions = 192
[model.tokenizer]
texts = 60
vocabulary = 400
min_frequency = 4
[rollout]
turn_tokens = 24
[rewards]
preset = "desk"
[credit]
method = "toolpo"
[evaluation]
every = 2
dev_tasks = 4
test_tasks = 4
more = []
)" + environments + stages);
  }

  std::string Both() {
    return R"(
[[environment]]
kind = "desk"
[environment.tasks]
kinds = ["day_after", "clock"]
chatter = 0.0
[[environment]]
kind = "data"
name = "sums"
list_tools = false
train = ")" +
           Sums("train.jsonl", 10) +
           R"("
dev = ")" + Sums("dev.jsonl", 30) +
           R"("
test = ")" +
           Sums("test.jsonl", 50) +
           R"("
[environment.rules]
turns = 3
[[tools]]
kind = "calculator"
)";
  }

  const TemporaryDirectory directory_;
};

constexpr char kStages[] = R"(
[[stage]]
kind = "sft"
steps = 30
batch = 8
learning_rate = 0.01
warmup = 5
[[stage]]
kind = "rl"
mix = ["desk=1"]
steps = 2
groups = 4
group = 4
[[stage]]
kind = "rl"
mix = ["sums=3", "desk=1"]
steps = 2
groups = 4
group = 4
)";

TEST_F(MixtureTest, TwoEnvironmentsAreTrainedMeasuredAndReportedApart) {
  const std::string recipe = Recipe(Both(), kStages);
  const SubprocessResult result = Hone({"train", recipe, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const Result<std::vector<Json>> lines = ParseJsonLines(result.standard_output);
  ASSERT_TRUE(lines.ok());
  const Json& end = lines->back();
  const Json* forgetting = end.Find("forgetting");
  ASSERT_NE(forgetting, nullptr) << DumpJson(end);
  EXPECT_EQ(DumpJson(*forgetting->Find("stages")), R"(["1 sft","2 rl","3 rl"])");
  for (const char* name : {"desk", "sums"}) {
    const Json* one = forgetting->Find("environments")->Find(name);
    ASSERT_NE(one, nullptr) << name;
    EXPECT_EQ(one->Find("after")->AsArray().size(), 3u);
    EXPECT_TRUE(one->Find("forgotten")->is_object());
    const Json* test = end.Find("evaluations")->Find("after/test/sampled")->Find("environments");
    EXPECT_EQ(test->Find(name)->Find("outcomes")->AsString().size(), 4u);
  }
  // Plans are gold calls where the tools themselves answer.
  const Json* sums =
      end.Find("evaluations")->Find("after/test/sampled")->Find("environments")->Find("sums");
  EXPECT_EQ(sums->Find("gold_calls_per_task")->AsDouble(), 1);

  const std::string run = (directory_.path() / "mix").string();
  const Result<std::string> log = ReadFile(directory_.path() / "mix/metrics.jsonl");
  ASSERT_TRUE(log.ok());
  EXPECT_NE(log->find("dev/sampled/sums"), std::string::npos);
  ASSERT_EQ(Hone({"report", run}).exit_code, 0);
  const Result<std::string> page = ReadFile(directory_.path() / "mix/report.html");
  ASSERT_TRUE(page.ok());
  EXPECT_NE(page->find("What is left of each environment"), std::string::npos);
  EXPECT_NE(page->find("environment sums"), std::string::npos);

  const SubprocessResult again = Hone({"eval", run, "--split", "dev", "--greedy"});
  ASSERT_EQ(again.exit_code, 0) << again.standard_error;
  EXPECT_NE(again.standard_output.find("desk + sums"), std::string::npos) << again.standard_output;
}

TEST_F(MixtureTest, WrongMixturesAreRefusedWithWhatIsWrong) {
  const std::string recipe = Recipe(Both(), kStages);
  const SubprocessResult mix = Hone({"train", recipe, "stage.1.mix=['dsk=1']",
                                     "environment.1.weight=0", "environment.0.name=sums"});
  EXPECT_EQ(mix.exit_code, 1);
  for (const char* part :
       {"there is no \"dsk\"", "environment[1].weight", "two environments are called \"sums\""}) {
    EXPECT_NE(mix.standard_error.find(part), std::string::npos) << mix.standard_error;
  }
  const SubprocessResult one = Hone({"train", "recipes/quickstart.toml", "stage.2.mix=['desk=1']"});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_NE(one.standard_error.find("there is one environment"), std::string::npos)
      << one.standard_error;
}

TEST_F(MixtureTest, ARunIsMeasuredOnAFileOfTasks) {
  const std::string recipe = Recipe(R"([environment]
kind = "data"
list_tools = false
train = ")" + Sums("train.jsonl", 10) +
                                        R"("
dev = ")" + Sums("dev.jsonl", 30) +
                                        R"("
test = ")" + Sums("test.jsonl", 50) +
                                        R"("
[environment.rules]
turns = 3
[[tools]]
kind = "calculator"
)",
                                    R"([[stage]]
kind = "sft"
steps = 10
batch = 8
)");
  ASSERT_EQ(Hone({"train", recipe, "--quiet"}).exit_code, 0);
  const std::string run = (directory_.path() / "mix").string();
  const SubprocessResult tasks = Hone({"eval", run, Sums("other.jsonl", 70), "--greedy", "--json"});
  ASSERT_EQ(tasks.exit_code, 0) << tasks.standard_error;
  const Result<Json> found = ParseJson(tasks.standard_output);
  ASSERT_TRUE(found.ok());
  const Json* greedy = found->Find("evaluations")->Find("greedy");
  EXPECT_EQ(*greedy->Find("tasks"), Json(6));
  EXPECT_EQ(greedy->Find("all")->Find("gold_calls_per_task")->AsDouble(), 1);
  // Rows as others have them; without --env a file that needs no tools is a suite.
  const std::string rows = Write("rows.jsonl", R"({"question": "70 + 2 ?", "answer": "72"})");
  const SubprocessResult named = Hone({"eval", run, rows, "--greedy"});
  EXPECT_EQ(named.exit_code, 0) << named.standard_error;
  const SubprocessResult desk = Hone({"eval", run, rows, "--env", "desk"});
  EXPECT_EQ(desk.exit_code, 1);
  EXPECT_NE(desk.standard_error.find("brings its own tasks"), std::string::npos)
      << desk.standard_error;
}

}  // namespace
}  // namespace hone
