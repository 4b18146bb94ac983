#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "lab/proof.h"

namespace hone {

// Finished runs as `hone prove` would find them, with made-up numbers: six seeds of every role for
// each length. `reached`: the trajectories that the roles took to the goal, in their order; 0:
// never. Runs that were sooner end higher.
struct ProofRuns {
  explicit ProofRuns(const std::map<int, std::vector<double>>& reached) {
    for (const auto& [length, times] : reached) {
      ComparedSection section{.title = "Chains of " + std::to_string(length),
                              .seeds = {1, 2, 3, 4, 5, 6}};
      for (size_t role = 0; role < times.size(); ++role) {
        ComparedArm& arm = section.arms.emplace_back();
        arm.name =
            std::string(RoleName(static_cast<ProofRole>(role))) + "-" + std::to_string(length);
        arm.label = RoleLabel(static_cast<ProofRole>(role));
        for (const uint64_t seed : section.seeds) {
          arm.runs.push_back(&runs.emplace_back(Run(arm.name, seed, times[role])));
        }
      }
      sections.push_back(std::move(section));
      predictions.push_back(
          {.length = length,
           .methods = {{.method = PredictedMethods()[0], .noise = {6}, .sum = 6},
                       {.method = PredictedMethods()[1], .noise = {4}, .sum = 4},
                       {.method = PredictedMethods()[2], .noise = {8}, .sum = 8}}});
    }
  }

  std::deque<ComparedRun> runs;  // whose addresses stay
  std::vector<ComparedSection> sections;
  std::vector<lab::ChainPrediction> predictions;

 private:
  static ComparedRun Run(const std::string& arm, uint64_t seed, double reached) {
    ComparedRun run{.arm = arm, .seed = seed, .status = ComparedRun::Status::kFinished};
    const double off = 10 * static_cast<double>(seed);
    run.dev = {{.trajectories = 100, .sampled = 0.3}};
    if (reached > 0) run.dev.push_back({.trajectories = reached + off, .sampled = 0.85});
    run.dev.push_back({.trajectories = 4000, .sampled = reached > 0 ? 0.9 : 0.6});
    run.trajectories = 4000;
    const double success = reached > 0 ? 0.95 - reached / 4000 : 0.1;
    std::string outcomes;
    Json::Array calls;
    for (int task = 0; task < 100; ++task) {
      outcomes += task < 100 * success ? '1' : '0';
      calls.emplace_back(task < reached / 100 ? int64_t{3} : int64_t{2});
    }
    run.evaluations =
        Json::Of({{"after/test/sampled", Json::Of({{"tasks", int64_t{100}},
                                                   {"all", Json::Of({{"success", success}})},
                                                   {"outcomes", std::move(outcomes)},
                                                   {"calls_by_task", std::move(calls)}})}});
    return run;
  }
};

}  // namespace hone
