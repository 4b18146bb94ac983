// hone eval and hone report as people use them, on a tiny run.

#include <gtest/gtest.h>

#include "base/file.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class EvalTest : public testing::Test {
 protected:
  // The folder of a run that has ended.
  std::string TrainedRun() {
    const std::filesystem::path file = directory_.path() / "tiny.toml";
    EXPECT_TRUE(WriteFileAtomic(file, TinyRecipe(directory_.path())).ok());
    const SubprocessResult result = Hone({"train", file.string(), "--quiet"});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return (directory_.path() / "tiny").string();
  }

  const TemporaryDirectory directory_;
};

TEST_F(EvalTest, ARunIsMeasuredForPeopleAndForProgramsAndHasAPage) {
  const std::string run = TrainedRun();
  const SubprocessResult people = Hone({"eval", run, "--tasks", "6", "--samples", "2"});
  ASSERT_EQ(people.exit_code, 0) << people.standard_error;
  for (const char* part : {"test: 6 tasks", "sampled at 1", "greedy", "success", "needless calls",
                           "success by kind", "pass@2", "pass^2", "gold calls"}) {
    EXPECT_NE(people.standard_output.find(part), std::string::npos) << people.standard_output;
  }
  EXPECT_EQ(people.standard_error, "") << "no bars in files";

  const std::string out = (directory_.path() / "found.json").string();
  const SubprocessResult programs = Hone({"eval", run, "--greedy", "--json", "--out", out});
  ASSERT_EQ(programs.exit_code, 0) << programs.standard_error;
  const Result<Json> found = ParseJson(programs.standard_output);
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(*ParseJson(*ReadFile(out)), *found);
  const Json* evaluations = found->Find("evaluations");
  ASSERT_EQ(evaluations->AsObject().size(), 1u);
  const Json result = *ParseJson(*ReadFile(run + "/result.json"));
  EXPECT_EQ(*found->Find("weights"), *result.Find("weights"));
  const Json state =
      *ParseJson(*ReadFile(run + "/" + result.Find("checkpoint")->AsString() + "/training.json"));
  EXPECT_EQ(*evaluations->Find("greedy")->Find("outcomes"),
            *state.Find("evaluations")->Find("after/test/greedy")->Find("outcomes"))
      << "the same as at the end of the run";

  const std::string page = *ReadFile(run + "/report.html");
  EXPECT_NE(page.find(result.Find("weights")->AsString()), std::string::npos);
  EXPECT_NE(page.find("On-policy ratio exactly 1.0"), std::string::npos);
  std::filesystem::remove(run + "/report.html");
  const SubprocessResult again = Hone({"report", run});
  EXPECT_EQ(again.standard_output, run + "/report.html\n") << again.standard_error;
  EXPECT_EQ(*ReadFile(run + "/report.html"), page);
}

TEST_F(EvalTest, WithoutToolsTheSameTasksAreDoneOnceMoreAndBothAreCompared) {
  const std::string run = TrainedRun();
  const SubprocessResult people = Hone({"eval", run, "--tasks", "6", "--without-tools"});
  ASSERT_EQ(people.exit_code, 0) << people.standard_error;
  for (const char* part : {"sampled at 1, no tools", "greedy, no tools", "calls by kind, sampled",
                           "with tools and without, greedy", "not done without", "gain"}) {
    EXPECT_NE(people.standard_output.find(part), std::string::npos) << people.standard_output;
  }
  const SubprocessResult programs =
      Hone({"eval", run, "--tasks", "6", "--without-tools", "--greedy", "--json"});
  ASSERT_EQ(programs.exit_code, 0) << programs.standard_error;
  const Json found = *ParseJson(programs.standard_output);
  const Json* without = found.Find("evaluations")->Find("greedy-without-tools");
  ASSERT_NE(without, nullptr);
  EXPECT_EQ(without->Find("all")->Find("calls_per_task")->AsDouble(), 0);
  EXPECT_EQ(found.Find("tool_use")->Find("greedy")->Find("pairs")->AsInteger(), 6);
  ExpectError(Hone({"eval", run, "gsm8k:/nowhere", "--without-tools"}), 1, "is for environments");
}

TEST_F(EvalTest, WhatARunDoesNotKnowIsShownAndItsAttemptsArePaired) {
  const std::string run = TrainedRun();
  const auto path = [&](const char* name) { return (directory_.path() / name).string(); };
  const SubprocessResult needs =
      Hone({"data", "needs", run, "-n", "4", "-k", "2", "-o", path("needs.jsonl"), "--json"});
  ASSERT_EQ(needs.exit_code, 0) << needs.standard_error;
  EXPECT_EQ(ParseJson(needs.standard_output)->Find("tasks")->AsArray().size(), 4u);
  EXPECT_EQ(Hone({"data", "check", path("needs.jsonl")}).exit_code, 0);
  const SubprocessResult pairs = Hone({"data", "distill", run, "-n", "8", "-k", "6", "-o",
                                       path("good.jsonl"), "--pairs", path("pairs.jsonl")});
  ASSERT_EQ(pairs.exit_code, 0) << pairs.standard_error;
  EXPECT_TRUE(std::filesystem::exists(path("pairs.jsonl")));
  ExpectError(Hone({"data", "distill", run, "-o", path("a.jsonl"), "--pairs", path("b.jsonl")}), 1,
              "--samples 2 or more");
  ExpectError(Hone({"data", "needs", "http://127.0.0.1:1/v1", "-o", path("c.jsonl")}), 1,
              "a model of this machine");
}

TEST_F(EvalTest, TheCreditOfARunIsAudited) {
  const std::string run = TrainedRun(), page = (directory_.path() / "audit.html").string();
  const SubprocessResult some =
      Hone({"credit", "audit", run, "-m", "grpo", "-m", "toolpo", "--groups", "8", "--html", page});
  ASSERT_EQ(some.exit_code, 0) << some.standard_error;
  for (const char* part : {"64 trajectories of 8 tasks", "grpo", "toolpo", "needless calls that"}) {
    EXPECT_NE(some.standard_output.find(part), std::string::npos) << some.standard_output;
  }
  EXPECT_NE(ReadFile(page)->find("<svg"), std::string::npos);

  const SubprocessResult all = Hone({"credit", "audit", run, "--groups", "8", "--json"});
  ASSERT_EQ(all.exit_code, 0) << all.standard_error;
  const Json found = *ParseJson(all.standard_output);
  const size_t methods = found.Find("audits")->AsArray().size();
  EXPECT_GT(methods, 20u);
  EXPECT_GT(found.Find("refused")->AsArray().size(), 0u) << "those that the reward cannot feed";

  const SubprocessResult unknown = Hone({"credit", "audit", run, "-m", "grpoo"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.standard_error.find("grpoo"), std::string::npos);
}

TEST_F(EvalTest, BadInputGetsASentence) {
  ExpectError(Hone({"eval", "/nowhere", "--env", "desk"}), 1, "there is no folder \"/nowhere\"");
  ExpectError(Hone({"eval", directory_.path().string()}), 1, "neither a run nor a model");
  ExpectError(Hone({"eval", "/nowhere", "--split", "tset"}), 1, "did you mean \"test\"?");
  const std::string model = HONE_SOURCE_DIR "/tests/golden/models/qwen3";
  ExpectError(Hone({"eval", model}), 1, "name an environment with --env");
  ExpectError(Hone({"eval", model, "--env", "dask"}), 1, "did you mean \"desk\"?");
  ExpectError(Hone({"eval", model, "--env", "desk"}), 1, "tokenizer");
  ExpectError(Hone({"report", directory_.path().string()}), 1, "no recipe.toml");
}

}  // namespace
}  // namespace hone
