#include "learn/together/slices.h"

#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "learn/update.h"
#include "support/in_each_process.h"
#include "support/tiny_training.h"

namespace hone {
namespace {

std::vector<TrainingGroup> Groups(Engine* engine, size_t count) {
  std::vector<TrainingGroup> groups;
  for (size_t i = 0; i < count; ++i) {
    Tree tree = BranchingGroup(11 + i);
    const TreeLogprobs scores = engine->LogProbs({&tree, 1})[0];
    for (size_t n = 0; n < tree.nodes.size(); ++n) {
      Node& node = tree.nodes[n];
      if (!node.logprobs.empty()) node.logprobs = scores[n].logprobs;
    }
    groups.push_back(MakeTrainingGroup(tree, SomeAdvantages(tree)));
  }
  return groups;
}

struct Outcome {
  std::string weights;
  UpdateReport report;
};

// Two mini-batches of seven groups, on-policy, with replay.
Outcome Update(int64_t slices, Cluster* cluster, PolicyLoss loss = PolicyLoss::kClip,
               DeviceKind device = DeviceKind::kCpu) {
  constexpr int64_t kHeadOfADevice = 16;
  Engine engine(TinyModel(false, kHeadOfADevice), {.threads = 1, .device = device});
  const auto groups = Groups(&engine, 7);
  UpdateOptions options;
  options.objective.policy = loss;
  options.optimizer.learning_rate = 1e-3;
  options.batches = {.mini_batches = 2, .call_tokens = 200, .slices = slices};
  options.on_policy = true;
  options.replayed = Groups(&engine, 3);
  options.replay_objective = options.objective;
  options.replay_objective.weight = 0.1;
  options.cluster = cluster;
  Outcome outcome;
  outcome.report = UpdatePolicy(options, groups, Rng(5), &engine);
  outcome.weights = engine.WeightsHash();
  return outcome;
}

TEST(Slices, AnyNumberOfProcessesHasTheWeightsOfOne) {
  for (const int64_t slices : {1, 2, 3, 4, 6, 8}) {
    const Outcome alone = Update(slices, nullptr);
    for (const int processes : {2, 3, 4, 5}) {
      InEachProcess(processes, [&](Cluster* cluster) {
        const Outcome here = Update(slices, cluster);
        EXPECT_EQ(here.weights, alone.weights) << slices << " slices, " << processes;
        EXPECT_EQ(here.report.all.Named(), alone.report.all.Named());
        EXPECT_EQ(here.report.largest_gradient, alone.report.largest_gradient);
      });
    }
  }
}

TEST(Slices, TokensThatAreChosenOverAllOfThemAreTheSame) {
  const Outcome alone = Update(4, nullptr, PolicyLoss::kCovarianceClip);
  InEachProcess(2, [&](Cluster* cluster) {
    EXPECT_EQ(Update(4, cluster, PolicyLoss::kCovarianceClip).weights, alone.weights);
  });
}

TEST(Slices, AreAnotherOrderOfTheSameSum) {
  const Outcome whole = Update(1, nullptr), cut = Update(4, nullptr);
  EXPECT_NE(whole.weights, cut.weights) << "this says nothing about slices";
  EXPECT_NEAR(whole.report.largest_gradient, cut.report.largest_gradient,
              1e-5 * whole.report.largest_gradient);
  EXPECT_NEAR(whole.report.first.loss, cut.report.first.loss, 1e-9);
  EXPECT_EQ(whole.report.first.tokens, cut.report.first.tokens);
}

// On a device sums are made there; between processes, by the hosts.
TEST(Slices, ADeviceAddsThemUpAsSeveralProcessesDo) {
  for (const int64_t slices : {3, 8}) {
    const Outcome alone = Update(slices, nullptr, PolicyLoss::kClip, DeviceKind::kReference);
    InEachProcess(slices == 3 ? 2 : 5, [&](Cluster* cluster) {
      EXPECT_EQ(Update(slices, cluster, PolicyLoss::kClip, DeviceKind::kReference).weights,
                alone.weights);
    });
    EXPECT_NE(Update(1, nullptr, PolicyLoss::kClip, DeviceKind::kReference).weights, alone.weights);
  }
}

TEST(Slices, EverySliceIsSomebodys) {
  for (const int64_t count : {1, 2, 5, 8}) {
    for (const int processes : {1, 2, 3, 7, 9}) {
      std::mutex mutex;
      std::map<int64_t, int> owned;
      InEachProcess(processes, [&](Cluster* cluster) {
        const Slices slices(count, cluster);
        const std::lock_guard<std::mutex> lock(mutex);
        for (int64_t s = 0; s < count; ++s) owned[s] += slices.IsMine(s) ? 1 : 0;
        EXPECT_TRUE(!cluster->leads() || slices.IsMine(0));
      });
      for (const auto& [slice, owners] : owned) EXPECT_EQ(owners, 1) << slice;
    }
  }
}

TEST(Slices, WhatEachSaysIsInTheirOrder) {
  InEachProcess(3, [](Cluster* cluster) {
    const Slices slices(8, cluster);
    std::vector<std::string> said;
    for (int64_t s = slices.mine().first; s < slices.mine().second; ++s) {
      said.push_back("slice " + std::to_string(s));
    }
    const std::vector<std::string> all = slices.Share(said);
    ASSERT_EQ(all.size(), 8u);
    for (size_t s = 0; s < all.size(); ++s) EXPECT_EQ(all[s], "slice " + std::to_string(s));
  });
}

}  // namespace
}  // namespace hone
