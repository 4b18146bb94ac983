// hone compare as people use it: several runs at a time, killed, gone on with, refused, failing.

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class CompareTest : public testing::Test {
 protected:
  CompareTest() {
    for (const char* name : {"first", "second"}) {
      std::string text = TinyRecipe("unused");
      if (std::string_view(name) == "second") {
        text.replace(text.find("toolpo"), 6, "rloo");
      }
      EXPECT_TRUE(WriteFileAtomic(directory_.path() / (std::string(name) + ".toml"), text).ok());
    }
  }

  std::string Path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::vector<std::string> Command(const std::string& out,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {
        "compare", Path("first.toml"), Path("second.toml"), "--seeds", "2", "--jobs", "2",
        "--out",   Path(out),          "--no-controls"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  // The report without what is different every time.
  Json ReportOf(const std::string& out) const {
    const Result<std::string> text = ReadFile(directory_.path() / out / "compare.json");
    EXPECT_TRUE(text.ok());
    return text.ok() ? Timeless(*ParseJson(*text)) : Json();
  }
  static Json Timeless(const Json& json) {
    if (json.is_array()) {
      Json::Array array;
      for (const Json& element : json.AsArray()) array.push_back(Timeless(element));
      return array;
    }
    if (!json.is_object()) return json;
    Json::Object object;
    for (const auto& [key, value] : json.AsObject()) {
      if (key == "seconds" || key == "folder" || key == "command") continue;
      object.emplace_back(key, Timeless(value));
    }
    return object;
  }

  static int StartAndSignal(const std::vector<std::string>& arguments, int signal,
                            std::chrono::microseconds after) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<char*> argv = {const_cast<char*>(HONE_BINARY)};
      for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      if (std::freopen("/dev/null", "w", stdout) == nullptr ||
          std::freopen("/dev/null", "w", stderr) == nullptr) {
        ::_exit(126);
      }
      ::execv(HONE_BINARY, argv.data());
      ::_exit(127);
    }
    std::this_thread::sleep_for(after);
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  const TemporaryDirectory directory_;
};

TEST_F(CompareTest, KilledAndGoneOnWithItReportsTheSame) {
  const auto begin = std::chrono::steady_clock::now();
  const SubprocessResult whole = Hone(Command("whole"));
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  ASSERT_EQ(whole.exit_code, 0) << whole.standard_error;
  for (const char* part : {"# Comparison", "first (baseline)", "Differences to first",
                           "Trajectories until 80 %", "Every run"}) {
    EXPECT_NE(whole.standard_output.find(part), std::string::npos) << whole.standard_output;
  }
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "whole/compare.html"));
  EXPECT_EQ(*ReadFile(directory_.path() / "whole/compare.md"),
            whole.standard_output.substr(whole.standard_output.find("# Comparison")));

  int killed = 0;
  for (const double share : {0.3, 0.4}) {
    const std::chrono::microseconds after(
        static_cast<int64_t>(share * static_cast<double>(took.count())));
    killed += WIFSIGNALED(StartAndSignal(Command("killed"), SIGKILL, after)) ? 1 : 0;
  }
  EXPECT_GT(killed, 0);
  const SubprocessResult end = Hone(Command("killed"));
  ASSERT_EQ(end.exit_code, 0) << end.standard_error;
  const Json expected = ReportOf("whole"), report = ReportOf("killed");
  EXPECT_EQ(DumpJson(report), DumpJson(expected));
  // Both arms of a seed began alike, and no seed like another; nothing is repeated.
  std::map<int64_t, std::set<std::string>> starts;
  std::set<std::string> weights;
  for (const Json& run : report.Find("runs")->AsArray()) {
    starts[run.Find("seed")->AsInteger()].insert(run.Find("start")->AsString());
    weights.insert(run.Find("weights")->AsString());
    EXPECT_EQ(run.Find("real_calls")->AsDouble(), 0) << "simulated";
  }
  EXPECT_EQ(starts[1].size(), 1);
  EXPECT_EQ(starts[2].size(), 1);
  EXPECT_NE(starts[1], starts[2]);
  EXPECT_EQ(weights.size(), 4);
  EXPECT_TRUE(report.Find("problems")->AsArray().empty());

  const SubprocessResult again = Hone(Command("killed", {"--json"}));
  EXPECT_NE(again.standard_output.find("\"finished_before\":4"), std::string::npos);
  EXPECT_EQ(again.standard_output.find("run_begin"), std::string::npos);
  // What the ledger keeps is enough for the same report where the folders are gone.
  const std::vector<std::string> from_ledger = {"--ledger", Path("ledger.jsonl"), "--report-only"};
  const SubprocessResult kept = Hone(Command("whole", from_ledger));
  ASSERT_EQ(kept.exit_code, 0) << kept.standard_error;
  const SubprocessResult remade = Hone(Command("elsewhere", from_ledger));
  ASSERT_EQ(remade.exit_code, 0) << remade.standard_error;
  const auto sections = [](const std::string& text) { return text.substr(text.find("## ")); };
  EXPECT_EQ(sections(remade.standard_output), sections(whole.standard_output));

  const SubprocessResult changed = Hone(Command("killed", {"--set", "stage.1.steps=5"}));
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_NE(changed.standard_error.find("holds a run of another recipe"), std::string::npos)
      << changed.standard_error;
}

TEST_F(CompareTest, AnArmThatFailsIsListedAndTheOthersAreMade) {
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "arms.toml", R"(title = "Two arms"
[[arm]]
name = "bad"
recipe = "first.toml"
set = ["run.cache=/proc/nowhere"]
[[arm]]
name = "good"
recipe = "second.toml"
)")
                  .ok());
  const SubprocessResult result = Hone({"compare", Path("arms.toml"), "--no-controls", "--out",
                                        Path("out"), "--markdown", Path("results.md")});
  EXPECT_EQ(result.exit_code, 3) << result.standard_error;
  const std::string text = *ReadFile(directory_.path() / "results.md");
  EXPECT_NE(text.find("failed: cannot write /proc/nowhere"), std::string::npos) << text;
  EXPECT_NE(text.find("bad: not finished (seed 1)"), std::string::npos) << text;
  EXPECT_NE(text.find("| good | 1    | finished"), std::string::npos) << text;
}

TEST_F(CompareTest, AFairComparisonChoosesSettingsMeasuresTheStartAndPaysOneArmForTheOutcome) {
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "fair.toml", R"(title = "Fair"
fair = true
tuning_seeds = [101]
controls = ["start@0.3", "start@0.5", "start", "start-greedy"]
[[arm]]
name = "paid"
recipe = "first.toml"
grid = { "stage.1.learning_rate" = [1e-4, 3e-3] }
)")
                  .ok());
  const auto compare = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> command = {"compare", Path("fair.toml"), "--jobs",   "2",
                                        "--out",   Path(out),         "--ledger", Path("l.jsonl")};
    command.insert(command.end(), more.begin(), more.end());
    return Hone(command);
  };
  // Nothing is there yet; then tuning runs alone, which must not be taken for results.
  EXPECT_EQ(compare("out", {"--report-only"}).exit_code, 1);
  const SubprocessResult whole = compare("out", {});
  ASSERT_EQ(whole.exit_code, 0) << whole.standard_error;
  const Json report = ReportOf("out");
  // Two arms (the made one has the same grid), and two temperatures of one start.
  std::map<std::string, const Json*> runs;
  for (const Json& run : report.Find("runs")->AsArray()) runs[run.Find("arm")->AsString()] = &run;
  ASSERT_EQ(runs.size(), 4u) << whole.standard_output;
  for (const char* name : {"start-0.3-paid", "start-0.5-paid"}) {
    ASSERT_TRUE(runs.contains(name));
    EXPECT_EQ(*runs[name]->Find("weights"), *runs["paid"]->Find("start")) << "what rl begins with";
  }
  EXPECT_EQ(*runs["paid"]->Find("start"), *runs["outcome-only-paid"]->Find("start"));
  const Json& section = report.Find("sections")->AsArray()[0];
  for (const Json& control : section.Find("controls")->AsArray()) {
    EXPECT_FALSE(control.Find("success")->is_null()) << DumpJson(control);
  }
  const Json::Array& tuned = report.Find("tuning")->AsArray();
  ASSERT_EQ(tuned.size(), 2u);
  int chosen = 0;
  for (const Json& setting : tuned[0].Find("settings")->AsArray()) {
    chosen += setting.Find("chosen")->AsBool() ? 1 : 0;
    EXPECT_FALSE(setting.Find("mean")->is_null());
  }
  EXPECT_EQ(chosen, 1);
  for (const char* part : {"Tuning runs, thrown away", "| stage.1.learning_rate=0.003", "| 101 ",
                           "start without rl, T = 0.3", "outcome alone (made from paid)"}) {
    EXPECT_NE(whole.standard_output.find(part), std::string::npos) << part;
  }
  // Tuning runs measured no test, and are in no other table.
  const std::string ledger = *ReadFile(directory_.path() / "l.jsonl");
  const std::vector<Json> lines = ParseJsonLines(ledger).value();
  EXPECT_EQ(lines.size(), 8u);
  for (const Json& line : lines) {
    const Json& run = *line.Find("run");
    if (run.Find("seed")->AsInteger() != 101) continue;
    EXPECT_EQ(run.Find("evaluations")->Find("after/test/sampled"), nullptr);
  }
  // From the ledger alone everything is derived again, the choice included.
  const SubprocessResult again = compare("elsewhere", {"--report-only"});
  ASSERT_EQ(again.exit_code, 0) << again.standard_error;
  const auto sections = [](const std::string& text) { return text.substr(text.find("### ")); };
  EXPECT_EQ(sections(again.standard_output), sections(whole.standard_output));
  // Without some of it, it says what is missing and does not fail.
  std::string rest;
  for (const Json& line : lines) {
    const std::string arm = line.Find("run")->Find("arm")->AsString();
    if (arm.starts_with("start-0.3") || arm == "paid.tune-stage.1.learning_rate_0.003") continue;
    rest += DumpJson(line) + "\n";
  }
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "l.jsonl", rest).ok());
  const SubprocessResult less = compare("nowhere", {"--report-only"});
  ASSERT_EQ(less.exit_code, 0) << less.standard_error;
  for (const char* part : {"paid: no setting is chosen: 1 of 2 tuning runs are missing",
                           "paid: not finished (seed 1)", "not measured"}) {
    EXPECT_NE(less.standard_output.find(part), std::string::npos) << less.standard_output;
  }
}

TEST_F(CompareTest, AnInterruptLetsTheRunsSaveAndSaysHowToGoOn) {
  const std::vector<std::string> command = Command("stopped", {"--set", "stage.1.steps=100000"});
  int status = 0;
  for (int64_t ms = 2000; ms < 60'000; ms *= 2) {
    status = StartAndSignal(command, SIGINT, std::chrono::milliseconds(ms));
    if (WIFEXITED(status)) break;  // else it came before anybody listened
  }
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  std::vector<std::string> report = command;
  report.push_back("--report-only");
  const SubprocessResult shown = Hone(report);
  ASSERT_EQ(shown.exit_code, 0) << shown.standard_error;
  EXPECT_NE(shown.standard_output.find("| unfinished"), std::string::npos) << shown.standard_output;
  EXPECT_NE(shown.standard_output.find("| not begun"), std::string::npos) << shown.standard_output;
}

}  // namespace
}  // namespace hone
