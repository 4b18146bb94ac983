#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "support/kill_suite.h"

// Recipes whose weights must be the same on any number of threads and with any instructions.

namespace hone {

struct Kind {
  std::string name;
  std::vector<std::string> changes;  // of the tiny recipe
};
inline void PrintTo(const Kind& kind, std::ostream* stream) { *stream << kind.name; }

inline std::vector<Kind> AllKinds() {
  const std::string faults =
      "faults=[{kind='server_error', probability=0.2}, {kind='truncated_json', probability=0.2}, "
      "{kind='late_reply', probability=0.1}]";
  return {
      {"ToolpoSimulated", {"simulator.kind=learned", KillSuite::kLearnsSimulator}},
      {"PpoWithCritic", {"credit.method=gae-token", "objective.value.coefficient=0.5"}},
      {"Arpo", {"rollout.strategy=arpo", "credit.method=arpo-hard"}},
      {"TreeGrpo", {"rollout.strategy=tree-grpo", "credit.method=tree-grpo"}},
      {"Portool", {"rollout.strategy=portool", "credit.method=portool"}},
      {"DynamicSampling", {"dynamic_sampling.on=true", "dynamic_sampling.rounds=3"}},
      {"SpearReplay", {"credit.method=spear", "replay.on=true", "replay.capacity=6"}},
      {"Lora", {"model.lora.rank=2", "objective.kl.coefficient=0.01"}},
      {"LiveWithFaults", {"answers.mode=live", faults}},
      {"SimulatedWithFaults", {faults, "curriculum.order=dynamic"}},
  };
}

inline std::vector<Kind> KindsNamed(const std::vector<std::string>& names) {
  std::vector<Kind> kinds;
  for (const Kind& kind : AllKinds()) {
    if (std::find(names.begin(), names.end(), kind.name) != names.end()) kinds.push_back(kind);
  }
  return kinds;
}

class Reproduce : public KillSuite, public testing::WithParamInterface<Kind> {
 protected:
  Finished Run(const std::string& name, const std::string& threads,
               const std::string& instructions) {
    std::vector<std::string> arguments = {Write(name, TinyRecipe(directory_.path() / name)),
                                          "run.threads=" + threads, "stage.0.steps=250",
                                          "stage.0.demonstrator=gold"};
    const std::vector<std::string>& changes = GetParam().changes;
    arguments.insert(arguments.end(), changes.begin(), changes.end());
    return RunToItsEnd(std::move(arguments), instructions);
  }

  // Runs it with each of these, with two threads, and on one.
  void ExpectTheSame(const std::vector<std::string>& instructions) {
    const Finished one = Run("one", "1", "");
    EXPECT_GT(one.gradient, 0) << "or nothing is tested";
    if (GetParam().name != "Lora") {  // over random weights it learns little
      EXPECT_GT(one.calls, 0) << "or nothing is tested";
    }
    if (GetParam().name.ends_with("WithFaults")) {
      EXPECT_GT(one.failures, 0);
    }
    for (const std::string& set : instructions) {
      EXPECT_EQ(Run("with-" + set, "2", set).weights, one.weights) << set;
    }
  }
};

}  // namespace hone
