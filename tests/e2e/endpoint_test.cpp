// A model behind an endpoint as the agent: hone eval URL, hone env play --agent, hone data distill.

#include <gtest/gtest.h>

#include "base/file.h"
#include "e2e/program.h"
#include "e2e/serving.h"

namespace hone {
namespace {

class EndpointTest : public testing::Test {
 protected:
  // Trained once for all of them: a desk whose agent does some of its tasks.
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory();
    std::string recipe = TinyRecipe(directory_->path());
    recipe.resize(recipe.rfind("[[stage]]"));
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"steps = 60", "steps = 500"},
                                   {"positions = 192", "positions = 768"}}) {
      ASSERT_NE(recipe.find(from), std::string::npos);
      recipe.replace(recipe.find(from), from.size(), to);
    }
    recipe += "demonstrator = \"gold\"\n";
    ASSERT_TRUE(WriteFileAtomic(Recipe(), recipe).ok());
    const SubprocessResult trained = Hone({"train", Recipe(), "--quiet"});
    ASSERT_EQ(trained.exit_code, 0) << trained.standard_error;
    run_ = (directory_->path() / "tiny").string();
  }
  static void TearDownTestSuite() { delete directory_; }

  std::string Path(const std::string& name) const { return (directory_->path() / name).string(); }
  // The environment that the run was trained in.
  static std::string Recipe() { return (directory_->path() / "tiny.toml").string(); }

  static Json Found(const std::vector<std::string>& arguments) {
    const SubprocessResult result = Hone(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    const auto json = ParseJson(result.standard_output);
    EXPECT_TRUE(json.ok()) << result.standard_output;
    return json.ok() ? *json : Json();
  }

  static TemporaryDirectory* directory_;
  static std::string run_;
};
TemporaryDirectory* EndpointTest::directory_ = nullptr;
std::string EndpointTest::run_;

TEST_F(EndpointTest, AServedAgentDoesWhatItDoesAtHome) {
  const Json home = Found({"eval", run_, "--greedy", "--tasks", "40", "--json"});
  ServedProgram served(run_);
  const Json away = Found({"eval", served.url(), "--env", Recipe(), "--tasks", "40", "--json"});
  const Json *here = home.Find("evaluations")->Find("greedy"),
             *there = away.Find("evaluations")->Find("greedy");
  ASSERT_NE(there, nullptr) << DumpJson(away);
  EXPECT_EQ(*here->Find("outcomes"), *there->Find("outcomes"));
  EXPECT_EQ(*here->Find("calls_by_task"), *there->Find("calls_by_task"));
  EXPECT_NE(here->Find("outcomes")->AsString().find('1'), std::string::npos)
      << "an agent that does nothing shows nothing";
  EXPECT_EQ(*away.Find("environment"), Json("desk"));
  EXPECT_EQ(*home.Find("environment"), Json("desk"));
  EXPECT_GT(away.Find("account")->Find("completions")->AsInteger(), 39);

  const SubprocessResult people =
      Hone({"eval", served.url(), "--env", Recipe(), "--tasks", "6", "--samples", "2"});
  ASSERT_EQ(people.exit_code, 0) << people.standard_error;
  for (const char* part : {"tiny at http://", "on desk, test: 6 tasks", "sampled at 1", "success",
                           "needless calls", "pass@2"}) {
    EXPECT_NE(people.standard_output.find(part), std::string::npos) << people.standard_output;
  }
}

TEST_F(EndpointTest, AnEpisodeOfAModelIsShown) {
  ServedProgram served(run_);
  std::string ends[2];
  for (const bool away : {false, true}) {
    const SubprocessResult shown = Hone({"env", "play", Recipe(), "--split", "test", "--index", "1",
                                         "--agent", away ? served.url() : run_});
    ASSERT_EQ(shown.exit_code, 0) << shown.standard_error;
    EXPECT_NE(shown.standard_output.find("user   "), std::string::npos) << shown.standard_output;
    ends[away ? 1 : 0] = shown.standard_output;
  }
  EXPECT_EQ(ends[0], ends[1]) << "the same agent in the same world";
  const Json summary = Found({"--json", "env", "play", Recipe(), "--agent", run_, "-n", "5"});
  EXPECT_EQ(*summary.Find("tasks"), Json(5));
  ExpectError(Hone({"env", "play", "desk", "--agent", "glod"}), 1, "did you mean \"gold\"?");
}

TEST_F(EndpointTest, BadInputGetsASentence) {
  ExpectError(Hone({"eval", "http://127.0.0.1:9/v1"}), 1, "name an environment with --env");
  ExpectError(Hone({"eval", "http://127.0.0.1:9/v1", "--env", "desk"}), 1, "--model-name");
  ExpectError(Hone({"eval", "http://127.0.0.1:9/v1", "--env", "desk", "--model-name", "m",
                    "--retries", "0"}),
              1, "m at http://127.0.0.1:9/v1 cannot be asked");
  ExpectError(Hone({"eval", "http://127.0.0.1:9/v1", "--env", "desk", "--dialect", "hermes"}), 1,
              "--dialect, --threads and --device are for models");
  ExpectError(Hone({"eval", run_, "--turn-tokens", "9"}), 1, "--turn-tokens");
  ExpectError(Hone({"eval", "http://127.0.0.1:9/v1", "--env", "desk", "--key-variable",
                    "HONE_TEST_NO_SUCH_KEY", "--model-name", "m"}),
              1, "HONE_TEST_NO_SUCH_KEY");
}

TEST_F(EndpointTest, ATeachersSuccessesAreImitated) {
  ServedProgram served(run_);
  const std::string out = Path("taught.jsonl");
  const std::vector<std::string> command = {"--json", "data", "distill", served.url(), "--env",
                                            Recipe(), "-n",   "30",      "-o",         out};
  const Json first = Found(command);
  EXPECT_EQ(*first.Find("wanted"), Json(30));
  EXPECT_EQ(*first.Find("attempts"), Json(30));
  const int64_t kept = first.Find("conversations")->AsInteger();
  EXPECT_GT(kept, 0) << DumpJson(first);
  EXPECT_EQ(kept, first.Find("succeeded")->AsInteger() - first.Find("unreadable")->AsInteger());
  EXPECT_EQ(std::ssize(*ParseJsonLines(*ReadFile(out))), kept);

  // Killed after half of it: it goes on, and ends with the same file.
  const std::string whole = *ReadFile(out), attempts = *ReadFile(out + ".attempts.jsonl");
  size_t half = 0;
  for (int line = 0; line < 15; ++line) half = attempts.find('\n', half) + 1;
  ASSERT_TRUE(WriteFileAtomic(out + ".attempts.jsonl", attempts.substr(0, half + 20)).ok());
  std::filesystem::remove(out);
  const int64_t before = served.Health().Find("requests")->AsInteger();
  const Json again = Found(command);
  EXPECT_EQ(*again.Find("conversations"), Json(kept));
  EXPECT_EQ(*ReadFile(out), whole);
  EXPECT_LT(served.Health().Find("requests")->AsInteger() - before, before)
      << "what was played is not played again";
  ExpectError(Hone({"data", "distill", served.url(), "--env", Recipe(), "-n", "30", "-o", out,
                    "--seed", "7"}),
              1, "seed is 0 there and 7 here");

  // The same teacher from its folder shows the same tasks as well.
  const std::string local = Path("local.jsonl");
  const Json here = Found({"--json", "data", "distill", run_, "-n", "30", "-o", local});
  EXPECT_EQ(*here.Find("succeeded"), *first.Find("succeeded"));
  EXPECT_EQ(*here.Find("conversations"), Json(kept));

  for (const std::string& file : {out, local}) {
    const SubprocessResult checked = Hone({"data", "check", file});
    EXPECT_EQ(checked.exit_code, 0) << checked.standard_output;
  }
  std::string recipe = *ReadFile(Recipe());
  recipe.resize(recipe.find("[[stage]]"));
  const std::string named = "name = \"tiny\"";
  ASSERT_NE(recipe.find(named), std::string::npos) << recipe;
  recipe.replace(recipe.find(named), named.size(), "name = \"pupil\"");
  recipe +=
      "[[stage]]\nkind = \"sft\"\ndata = [\"" + out + "\"]\nsteps = 8\nbatch = 8\nheld_out = 0\n";
  const std::string pupil = Path("pupil.toml");
  ASSERT_TRUE(WriteFileAtomic(pupil, recipe).ok());
  const SubprocessResult trained = Hone({"train", pupil, "--quiet"});
  EXPECT_EQ(trained.exit_code, 0) << trained.standard_error;
}

}  // namespace
}  // namespace hone
