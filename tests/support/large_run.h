#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/rng.h"
#include "support/tree_maker.h"
#include "train/folder/run_folder.h"

// A run as large as a week of training leaves it, made in seconds: for whoever must stay quick
// however much there is.

namespace hone {

// A group of trajectories that call a tool up to three times, with rewards and credit.
inline ScoredTree LargeRunGroup(uint64_t number, int trajectories) {
  Rng rng(number);
  TreeMaker maker;
  maker.tree.task.id = "task-" + std::to_string(number);
  maker.tree.task.messages = Json::ArrayOf(std::vector<Json>{
      Json::Of({{"role", "user"},
                {"content", "How many of order " + std::to_string(number) + " are left?"}})});
  for (int i = 0; i < trajectories; ++i) {
    maker.Begin();
    for (uint64_t call = rng.Below(4); call > 0; --call) {
      maker.Call("inventory", R"({"item": "lamp", "place": "north"})", CallStatus::kOk,
                 "there are 17 of them");
    }
    maker.Answer("17");
  }
  ScoredTree record{.tree = maker.tree, .scores = {}, .advantages = {}};
  for (int32_t leaf = 0; leaf < trajectories; ++leaf) {
    const double reward = rng.Below(2) == 0 ? 0.0 : 1.0;
    record.scores.push_back({leaf, {{.name = "outcome", .value = reward}}});
    Advantages& advantages = record.advantages.emplace_back();
    advantages.leaf = leaf;
    const auto index = static_cast<size_t>(leaf);
    for (const NodeId id : WholePathTo(maker.tree, maker.tree.leaves[index].node)) {
      const Node& node = maker.tree.nodes[static_cast<size_t>(id)];
      if (node.author != Author::kPolicy) continue;
      advantages.values.insert(advantages.values.end(), node.tokens.size(),
                               static_cast<float>(reward - 0.5));
    }
  }
  return record;
}

// `steps` steps with `groups` groups of `trajectories` each, and 50 numbers per step.
inline Result<void> MakeLargeRun(const std::filesystem::path& folder, int64_t steps, int groups,
                                 int trajectories) {
  HONE_RETURN_IF_ERROR(WriteFileAtomic(
      folder / "recipe.toml",
      "[run]\nseed = 1\n[credit]\nmethod = \"grpo\"\n[[stage]]\nkind = \"rl\"\nsteps = " +
          std::to_string(steps) + "\n"));
  HONE_ASSIGN_OR_RETURN(const auto log, RunLog::Open(folder, 0));
  for (int64_t step = 0; step < steps; ++step) {
    const double x = static_cast<double>(step) / static_cast<double>(steps);
    std::map<std::string, double> values;
    for (const char* name : {"when", "which", "how", "entropy", "approx_kl", "grad_norm"}) {
      values[name] = 0.5 + 0.4 * std::sin(20 * x);
    }
    for (int i = 0; i < 40; ++i) values["time/pass-" + std::to_string(i)] = 0.1 * i + x;
    values["success"] = 1 - std::exp(-3 * x);
    values["reward/mean"] = values["reward/outcome"] = values["success"];
    values["trajectories"] = groups * trajectories;
    values["time/step"] = 3;
    values["tokens_per_second"] = 1000 + 50 * std::cos(50 * x);
    std::vector<ScoredTree> records;
    std::vector<const ScoredTree*> pointers;
    for (int group = 0; group < groups; ++group) {
      records.push_back(LargeRunGroup(static_cast<uint64_t>(step * groups + group), trajectories));
    }
    for (const ScoredTree& record : records) pointers.push_back(&record);
    HONE_RETURN_IF_ERROR(log->Add(static_cast<double>(3 * step), step, values, pointers));
  }
  return {};
}

}  // namespace hone
