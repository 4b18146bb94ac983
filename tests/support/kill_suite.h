#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "record/store.h"
#include "support/killed_run.h"
#include "support/live_tools.h"
#include "support/tiny_recipe.h"

// Runs that are killed and gone on with, and what must be true of them at their end. The same for
// the quick test and for the slow one, which kills more.

namespace hone {

class KillSuite : public testing::Test {
 public:
  // So that it makes calls and has something to learn.
  static constexpr char kLearnsSimulator[] =
      "stage=[{kind='sft', steps=250, batch=8, learning_rate=0.01, warmup=5, demonstrator='gold'}, "
      "{kind='simulator', tasks=60, steps=60, batch=16, layers=1, width=32, heads=2, "
      "positions=128, learning_rate=0.01}, {kind='rl', steps=4, groups=4, group=4}]";

 protected:
  struct Finished {
    std::string weights;
    std::chrono::microseconds took{0};
    double calls = 0, gradient = 0, failures = 0;  // of rl, added up
  };
  // `instructions`: the set that the kernels are made of; empty: the best there is.
  static Finished RunToItsEnd(std::vector<std::string> arguments,
                              const std::string& instructions = "") {
    arguments.insert(arguments.begin(), {HONE_BINARY, "train"});
    arguments.emplace_back("--json");
    const auto begin = std::chrono::steady_clock::now();
    if (!instructions.empty()) {
      arguments.insert(arguments.begin(), {"/usr/bin/env", "HONE_ISA=" + instructions});
    }
    const auto result = RunSubprocess(arguments, "", std::chrono::seconds(280));
    Finished finished;
    finished.took = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - begin);
    const std::string output = result.ok() ? result->standard_output : result.error().message();
    const size_t last = output.rfind("{\"event\":\"end\"");
    const Result<Json> end =
        ParseJson(last == std::string::npos ? "" : std::string_view(output).substr(last));
    EXPECT_TRUE(end.ok()) << output << (result.ok() ? result->standard_error : "");
    if (end.ok()) finished.weights = end->Find("weights")->AsString();
    const auto lines = ParseJsonLines(output);
    for (const Json& line : lines.ok() ? *lines : std::vector<Json>()) {
      if (*line.Find("event") != Json("step") || *line.Find("stage") != Json("rl")) continue;
      for (const auto& [sum, name] : std::vector<std::pair<double*, const char*>>{
               {&finished.calls, "tool_calls"},
               {&finished.gradient, "grad_norm"},
               {&finished.failures, "execution_failure_rate"}}) {
        if (const Json* value = line.Find("values")->Find(name)) *sum += value->AsDouble();
      }
    }
    return finished;
  }

  // What was trained on, step by step: nothing is lost, nothing is there twice.
  using Trained = std::vector<std::tuple<int64_t, std::string, int64_t, double>>;
  static Trained TrainedOn(const std::filesystem::path& run) {
    Trained trained;
    const auto store = RunStore::OpenForReading(run / "store.sqlite").value();
    for (const RunStore::TreeSummary& tree : store->ListTrees(0, 1'000'000).value()) {
      trained.emplace_back(tree.step, tree.task, tree.tokens, tree.mean_reward.value_or(-1));
    }
    return trained;
  }

  std::string Write(const std::string& name, const std::string& recipe) {
    const std::filesystem::path file = directory_.path() / (name + ".toml");
    EXPECT_TRUE(WriteFileAtomic(file, recipe).ok());
    return file.string();
  }

  // Imitation, a learned simulator, rl against it, evaluation on real tools.
  std::string SimulatedRecipe(const std::string& name) {
    return Write(name, TinyRecipe(directory_.path() / name));
  }
  std::vector<std::string> Simulated(const std::string& recipe) const {
    return With({recipe, "run.store_groups=-1", "simulator.kind=learned", kLearnsSimulator});
  }
  std::vector<std::string> With(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), changes_.begin(), changes_.end());
    return arguments;
  }

  // Kills it at these moments, one after the other, and lets it finish.
  Finished KillAndFinish(const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, const std::filesystem::path& cache,
                         const std::vector<Moment>& moments, std::chrono::microseconds whole) {
    std::vector<std::string> command = arguments;
    command.insert(command.begin(), "train");
    command.emplace_back("--json");
    for (const Moment moment : moments) {
      const StoppedRun run = KillAt(moment, HONE_BINARY, command, folder, cache, whole, &rng_);
      if (!run.killed()) {
        EXPECT_EQ(WEXITSTATUS(run.status), 0) << run.output;
        ++killed_["after its end"];
        continue;
      }
      ++killed_[WhereItWas(run, folder, cache)];
    }
    return RunToItsEnd(arguments);
  }

  void KillSimulated(const std::vector<std::vector<Moment>>& runs) {
    const Finished whole = RunToItsEnd(Simulated(SimulatedRecipe("whole")));
    EXPECT_GT(whole.calls * whole.gradient, 0) << "or nothing is tested";
    const Trained trained = TrainedOn(directory_.path() / "whole/tiny");
    ASSERT_GT(trained.size(), 4u) << "or nothing is tested";
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::string name = "killed-" + std::to_string(i);
      const std::filesystem::path out = directory_.path() / name;
      const Finished end = KillAndFinish(Simulated(SimulatedRecipe(name)), out / "tiny",
                                         out / "cache", runs[i], whole.took);
      EXPECT_EQ(end.weights, whole.weights) << Moments(runs[i]);
      EXPECT_EQ(TrainedOn(out / "tiny"), trained) << Moments(runs[i]);
      std::filesystem::remove_all(out);
    }
  }

  void KillLive(const std::vector<std::vector<Moment>>& runs) {
    const LiveTools calm(directory_.path() / "calm");
    const Finished whole = RunToItsEnd(With({Write("calm", calm.Recipe())}));
    ASSERT_FALSE(calm.LettersSent().empty()) << "or nothing is tested";
    EXPECT_EQ(calm.LettersSent(), calm.LettersCalledFor());
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::string name = "live-" + std::to_string(i);
      const LiveTools tools(directory_.path() / name);
      const std::string recipe = Write(name, tools.Recipe());
      const Finished end = KillAndFinish(With({recipe}), tools.run(),
                                         tools.run().parent_path() / "cache", runs[i], whole.took);
      ExpectNoLetterTwice(tools);
      ExpectReplayEquals(tools, recipe, end.weights);
    }
  }

  // From its journal, in another folder, without asking anybody.
  void ExpectReplayEquals(const LiveTools& tools, const std::string& recipe,
                          const std::string& weights) {
    const auto asked = std::filesystem::file_size(tools.log());
    const TemporaryDirectory again;
    const Finished replay =
        RunToItsEnd(With({recipe, "run.out=" + again.path().string(), "answers.mode=replay",
                          "answers.journal=" + tools.journal().string(), "evaluation.test_tasks=0",
                          "evaluation.every=0"}));
    EXPECT_EQ(replay.weights, weights);
    EXPECT_EQ(TrainedOn(again.path() / "live"), TrainedOn(tools.run()));
    EXPECT_EQ(std::filesystem::file_size(tools.log()), asked);
  }

  // The tool carried out no more than the journal gave names to, and nobody who may have sent a
  // letter was begun again.
  static void ExpectNoLetterTwice(const LiveTools& tools) {
    const std::map<std::string, int64_t> called_for = tools.LettersCalledFor();
    for (const auto& [letter, count] : tools.LettersSent()) {
      const auto found = called_for.find(letter);
      EXPECT_LE(count, found == called_for.end() ? 0 : found->second) << letter;
    }
    const auto journal = Journal::OpenForReading(tools.journal()).value();
    const std::vector<NumberedEntry> calls = journal->List({}, 0, 1'000'000).value();
    std::set<std::string> paths;
    for (const NumberedEntry& one : calls) {
      paths.insert(one.entry.identity.task + " " + one.entry.identity.path);
    }
    for (const NumberedEntry& one : calls) {
      if (one.entry.content.tool != "send") continue;
      const CallIdentity& identity = one.entry.identity;
      EXPECT_FALSE(paths.contains(identity.task + " " + identity.path + "~1")) << identity.Text();
    }
  }

  static std::string Moments(const std::vector<Moment>& moments) {
    std::string text = "killed at";
    for (const Moment moment : moments) text += " " + std::to_string(static_cast<int>(moment));
    return text;
  }

  const TemporaryDirectory directory_;
  std::vector<std::string> changes_;  // of the recipes
  // Other moments each time.
  Rng rng_{static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())};
  std::map<std::string, int> killed_;  // where they were
};

}  // namespace hone
