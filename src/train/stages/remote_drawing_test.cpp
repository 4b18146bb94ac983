#include "train/stages/remote_drawing.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/lora.h"
#include "support/tiny_training.h"

namespace hone {
namespace {

TEST(RemoteDrawing, ThePolicyIsAskedAboutEveryTokenThatItMayLearnFrom) {
  Engine engine(TinyModel(), {.threads = 1});
  std::vector<Tree> trees = {BranchingGroup(1), BranchingGroup(2)};
  const std::vector<TreeLogprobs> said = engine.LogProbs(trees);
  int64_t tokens = 0, moved = 0;
  for (size_t i = 0; i < trees.size(); ++i) {
    for (size_t n = 0; n < trees[i].nodes.size(); ++n) {
      Node& node = trees[i].nodes[n];
      if (node.author != Author::kPolicy) continue;
      node.logprobs = said[i][n].logprobs;
      node.entropies.clear();
      if (n == 1) node.sampling.temperature = 0;  // a greedy turn is not compared
      if (n != 1) tokens += static_cast<int64_t>(node.tokens.size());
      if (n == 3) {
        for (float& logprob : node.logprobs) logprob -= 0.5f;
        moved += static_cast<int64_t>(node.tokens.size());
      }
    }
  }
  const EngineMismatch mismatch = CompareWithPolicy(&engine, 16, &trees);
  EXPECT_EQ(mismatch.tokens, tokens);
  EXPECT_EQ(mismatch.exact, tokens - moved);
  EXPECT_NEAR(mismatch.off, 0.5 * static_cast<double>(moved), 1e-5);
  EXPECT_NEAR(mismatch.kl, (std::exp(0.5) - 1.5) * static_cast<double>(moved), 1e-4);
  EXPECT_NEAR(mismatch.max_ratio, std::exp(0.5), 1e-5);
  for (size_t i = 0; i < trees.size(); ++i) {
    for (size_t n = 0; n < trees[i].nodes.size(); ++n) {
      if (trees[i].nodes[n].author != Author::kPolicy) continue;
      EXPECT_EQ(trees[i].nodes[n].entropies, said[i][n].entropies);
    }
  }

  StepValues values;
  EngineMismatch().AddTo(&values);
  EXPECT_TRUE(values.empty()) << "nothing was drawn";
  EngineMismatch both = mismatch;
  both.Add(mismatch);
  both.AddTo(&values);
  EXPECT_EQ(values["mismatch/tokens"], static_cast<double>(2 * tokens));
  EXPECT_NEAR(values["mismatch/mean_abs"],
              0.5 * static_cast<double>(moved) / static_cast<double>(tokens), 1e-5);
}

TEST(RemoteDrawing, WhatIsFarApartIsStillANumber) {
  EngineMismatch mismatch;
  mismatch.Add(-800, 0);  // e^800 is more than a double holds
  mismatch.Add(0, -800);
  StepValues values;
  mismatch.AddTo(&values);
  EXPECT_EQ(values["mismatch/mean_abs"], 800);
  EXPECT_NEAR(values["mismatch/kl"], (std::exp(20.0) - 21 + 19) / 2, 1);
  EXPECT_NEAR(values["mismatch/max_ratio"], std::exp(20.0), 1);
}

TEST(RemoteDrawing, AFolderOfSomebodyElseIsNeitherReplacedNorRemoved) {
  TemporaryDirectory directory;
  Engine engine(TinyModel(), {.threads = 1});
  const std::filesystem::path thesis = directory.path() / "home" / "thesis.tex";
  ASSERT_TRUE(WriteFileAtomic(thesis, "years").ok());
  for (const std::filesystem::path& folder :
       {thesis.parent_path(), thesis.parent_path() / "", thesis}) {
    const auto written = WriteForServer(engine, RemoteApi::kCompletions, folder);
    ASSERT_FALSE(written.ok());
    EXPECT_NE(written.error().message().find("policy.push_folder"), std::string::npos);
    EXPECT_EQ(ReadFile(thesis).value(), "years");
  }
  // Nor what lies where it would be written first.
  const std::filesystem::path aside = directory.path() / "pushed.writing" / "mine";
  ASSERT_TRUE(WriteFileAtomic(aside, "as well").ok());
  EXPECT_FALSE(WriteForServer(engine, RemoteApi::kCompletions, directory.path() / "pushed").ok());
  EXPECT_EQ(ReadFile(aside).value(), "as well");

  // An empty folder is ours from then on; a slash at the end says the same.
  const std::filesystem::path empty = directory.path() / "empty";
  std::filesystem::create_directory(empty);
  for (const std::filesystem::path& folder : {empty / "", empty, empty / ""}) {
    ASSERT_TRUE(WriteForServer(engine, RemoteApi::kCompletions, folder).ok()) << folder;
    EXPECT_TRUE(Exists(empty / "config.json"));
    EXPECT_FALSE(Exists(empty / ".writing"));
    EXPECT_FALSE(Exists(directory.path() / "empty.writing"));
  }
}

// What a server loads from the folder, and says of a tree.
std::vector<float> SaidFrom(const std::filesystem::path& folder, const Tree& tree) {
  const auto engine = Engine::Open(folder, {.threads = 1});
  EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().message());
  return (*engine)->LogProbs({&tree, 1})[0][1].logprobs;
}

TEST(RemoteDrawing, TheFolderForAServerHasTheWeightsToTheBit) {
  TemporaryDirectory directory;
  const Tree tree = BranchingGroup(3);
  const std::filesystem::path folder = directory.path() / "pushed";
  {
    Engine engine(TinyModel(), {.threads = 1});
    ASSERT_TRUE(WriteForServer(engine, RemoteApi::kCompletions, folder).ok());
    EXPECT_EQ(SaidFrom(folder, tree), engine.LogProbs({&tree, 1})[0][1].logprobs);
  }
  // Over what is there; with adapters beside them, or merged in.
  Model adapted = TinyModel();
  ASSERT_TRUE(AddLora({.rank = 2}, &adapted).ok());
  for (const LoraModule& module : adapted.lora) {
    for (float& value : adapted.parameters[static_cast<size_t>(module.b)].value) value = 0.01f;
  }
  Engine engine(adapted, {.threads = 1});
  const std::vector<float> said = engine.LogProbs({&tree, 1})[0][1].logprobs;
  ASSERT_TRUE(WriteForServer(engine, RemoteApi::kCompletions, folder).ok());
  EXPECT_EQ(SaidFrom(folder, tree), said);
  ASSERT_TRUE(WriteForServer(engine, RemoteApi::kSglang, folder).ok());
  EXPECT_FALSE(Exists(folder / kAdapterFolder));
  const std::vector<float> merged = SaidFrom(folder, tree);
  ASSERT_EQ(merged.size(), said.size());
  for (size_t t = 0; t < said.size(); ++t) EXPECT_NEAR(merged[t], said[t], 0.05);
}

}  // namespace
}  // namespace hone
