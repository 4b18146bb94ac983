#include "engine/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "engine/decoder.h"
#include "engine/distribution.h"
#include "engine/safetensors.h"
#include "support/golden_models.h"
#include "support/shared_data.h"
#include "support/tested_device.h"

namespace hone {
namespace {

const std::filesystem::path kModels = GoldenModels();

std::vector<SampleRequest> Requests(size_t count, const Sampling& sampling) {
  std::vector<SampleRequest> requests(count);
  for (size_t i = 0; i < count; ++i) {
    Rng rng(40 + i);
    for (uint64_t n = rng.Below(20) + 1; n > 0; --n)
      requests[i].prompt.push_back(static_cast<TokenId>(rng.Below(512)));
    requests[i].max_new = 12 + static_cast<int64_t>(i % 5);
    requests[i].sampling = sampling;
    requests[i].rng = Rng(7).Split("sample").Split(i);
  }
  return requests;
}

// A prompt and a turn, as the record has them.
Tree TreeOf(const SampleRequest& request, const SampleResult& result) {
  Tree tree;
  Node prompt, turn;
  prompt.author = Author::kUser;
  prompt.tokens = request.prompt;
  turn.parent = 0;
  turn.author = Author::kPolicy;
  turn.tokens = result.tokens;
  turn.sampling = request.sampling;
  turn.supports = result.supports;
  tree.nodes = {prompt, turn};
  tree.leaves = {{.node = 1}};
  return tree;
}

// What the sampler recorded, what scoring gives and what training sees are the same bits: on-policy
// ratios are exactly 1. After a step they are finite over the stored support.
TEST(Engine, OnPolicyRatiosAreExactlyOne) {
  const Sampling samplings[] = {{},
                                {.temperature = 0.7f},
                                {.temperature = 1.3f, .top_k = 5},
                                {.temperature = 0.9f, .top_p = 0.6f},
                                {.min_p = 0.2f}};
  for (const char* name : {"qwen2", "qwen3", "llama3"}) {
    for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
      auto engine = Engine::Open(kModels / name,
                                 {.precision = precision, .threads = 2, .device = TestedDevice()});
      ASSERT_TRUE(engine.ok()) << engine.error().message();
      for (const Sampling& sampling : samplings) {
        const auto requests = Requests(6, sampling);
        const auto results = (*engine)->Sample(requests).value();
        std::vector<Tree> trees;
        for (size_t i = 0; i < results.size(); ++i)
          trees.push_back(TreeOf(requests[i], results[i]));
        const auto scores = (*engine)->LogProbs(trees);
        for (size_t i = 0; i < results.size(); ++i) {
          ASSERT_EQ(scores[i][1].logprobs, results[i].logprobs) << name;
          ASSERT_EQ(scores[i][1].entropies, results[i].entropies) << name;
        }
        (*engine)->Accumulate(trees, [&](std::span<TreeTerms> all) {
          for (size_t i = 0; i < results.size(); ++i) {
            PathTerms& path = all[i].paths[0];
            for (size_t t = 0; t < results[i].tokens.size(); ++t) {
              const size_t at = requests[i].prompt.size() + t;
              ASSERT_EQ(path.entropies[at], results[i].entropies[t]);
              ASSERT_EQ(std::exp(path.logprobs[at] - results[i].logprobs[t]), 1.0f) << name;
            }
            for (float& d : path.dlogprobs) d = -1;
          }
        });
        (*engine)->Step({.learning_rate = 1e-2});
        for (const TreeLogprobs& after : (*engine)->LogProbs(trees)) {
          for (const float logprob : after[1].logprobs) ASSERT_TRUE(std::isfinite(logprob));
        }
      }
    }
  }
}

TEST(Engine, ASampleDoesNotDependOnItsCompany) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 2, .device = TestedDevice()});
  const auto requests = Requests(8, {.temperature = 0.8f, .top_k = 40});
  const auto together = (*engine)->Sample(requests).value();
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto alone = (*engine)->Sample({&requests[i], 1}).value();
    EXPECT_EQ(alone[0].tokens, together[i].tokens);
    EXPECT_EQ(alone[0].logprobs, together[i].logprobs);
  }
}

TEST(Engine, StopsWhereAsked) {
  auto engine = Engine::Open(kModels / "qwen2", {.threads = 1, .device = TestedDevice()});
  auto requests = Requests(1, {});
  const auto free_run = (*engine)->Sample(requests).value()[0];
  EXPECT_FALSE(free_run.stopped);
  requests[0].stop_tokens = {free_run.tokens[3]};
  const auto stopped = (*engine)->Sample(requests).value()[0];
  EXPECT_TRUE(stopped.stopped);
  EXPECT_LE(stopped.tokens.size(), 4u);
  EXPECT_EQ(stopped.tokens.back(), free_run.tokens[3]);
  requests[0].stop_tokens.clear();
  requests[0].stop = [](std::span<const TokenId> tokens) { return tokens.size() == 2; };
  EXPECT_EQ((*engine)->Sample(requests).value()[0].tokens.size(), 2u);
  requests[0].stop = nullptr;
  requests[0].max_new = 100000;
  const auto long_run = (*engine)->Sample(requests).value()[0];
  EXPECT_EQ(long_run.tokens.size() + requests[0].prompt.size(), 512u) << "all positions";
  const Tree whole = TreeOf(requests[0], long_run);
  ASSERT_TRUE((*engine)->CheckTree(whole).ok());
  EXPECT_EQ((*engine)->LogProbs({&whole, 1})[0][1].logprobs, long_run.logprobs);
  requests[0].max_new = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE((*engine)->Sample(requests).ok());
  requests[0].sampling.temperature = 1e-38f;
  EXPECT_FALSE((*engine)->Sample(requests).ok());
}

TEST(Sampler, FollowsTheDistribution) {
  auto engine = Engine::Open(kModels / "llama3", {.threads = 2, .device = TestedDevice()});
  std::vector<SampleRequest> requests(2000);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].prompt = {1, 2, 3};
    requests[i].max_new = 1;
    requests[i].sampling = {.temperature = 0.5f, .top_k = 3};
    requests[i].rng = Rng(1).Split(i);
  }
  std::map<TokenId, int> counts;
  std::map<TokenId, float> probabilities;
  const auto results = (*engine)->Sample(requests).value();
  for (const SampleResult& result : results) {
    ++counts[result.tokens[0]];
    probabilities[result.tokens[0]] = std::exp(result.logprobs[0]);
    EXPECT_EQ(result.supports[0].kept.size(), 3u);
  }
  ASSERT_EQ(counts.size(), 3u);
  for (const auto& [token, count] : counts) EXPECT_NEAR(count / 2000.0, probabilities[token], 0.04);
}

TEST(Sampler, ManySmallProbabilitiesAreNotLost) {
  // One token has almost everything, 150,000 others a thousandth together: too little each for a
  // sum of floats.
  std::vector<float> p(150'001, 1e-3f / 150'000);
  p[0] = 0.999f;
  EXPECT_EQ(DrawnPlace(p, 0.5), 0u);
  EXPECT_NEAR(static_cast<double>(DrawnPlace(p, 0.9995)), 75'000, 100);
  EXPECT_NEAR(static_cast<double>(DrawnPlace(p, 0.9991)), 15'000, 100);
  EXPECT_EQ(DrawnPlace(std::vector<float>{0.25f, 0, 0.75f, 0}, 0.25), 2u);
  EXPECT_EQ(DrawnPlace(std::vector<float>{0.25f, 0, 0.7f, 0}, 0.99), 2u) << "the sliver";
}

TEST(Sampler, KeepsWhatTheSettingsSay) {
  const std::vector<float> logits = {0, 3, 1, 3, 2};
  EXPECT_EQ(KeptTokens(logits, {}), std::vector<TokenId>());
  EXPECT_EQ(KeptTokens(logits, {.top_k = 1}), std::vector<TokenId>{1}) << "ties go to the lower id";
  EXPECT_EQ(KeptTokens(logits, {.top_k = 3}), (std::vector<TokenId>{1, 3, 4}));
  EXPECT_EQ(KeptTokens(logits, {.top_k = 9}), std::vector<TokenId>()) << "all of them";
  EXPECT_EQ(KeptTokens(logits, {.top_p = 0.5f}), (std::vector<TokenId>{1, 3}));
  EXPECT_EQ(KeptTokens(logits, {.top_p = 0.01f}), std::vector<TokenId>{1});
  EXPECT_EQ(KeptTokens(logits, {.min_p = 0.3f}), (std::vector<TokenId>{1, 3, 4}));
}

std::vector<float> FloatsOf(const SafetensorsFile& file, const std::string& tensor) {
  std::vector<float> values(static_cast<size_t>(file.Find(tensor)->count()));
  CopyAsF32(*file.Find(tensor), values);
  return values;
}

struct LossAndNorm {
  double loss, norm;
};

// One step on the sum of the fixture's three losses.
LossAndNorm StepOnThreeSequences(const SafetensorsFile& expected, const OptimizerOptions& options,
                                 Engine* engine) {
  std::vector<Tree> trees;
  std::vector<std::vector<float>> weights;
  for (int i = 0; i < 3; ++i) {
    const std::string seq = "seq" + std::to_string(i);
    const TensorView* ids = expected.Find(seq + ".ids");
    std::vector<TokenId> tokens;
    for (int64_t t = 0; t < ids->count(); ++t) {
      int64_t id = 0;
      std::memcpy(&id, ids->bytes.data() + static_cast<size_t>(t) * DTypeSize(ids->dtype),
                  DTypeSize(ids->dtype));
      tokens.push_back(static_cast<TokenId>(id));
    }
    trees.push_back(ChainOf(tokens));
    weights.push_back(FloatsOf(expected, seq + ".weights"));
  }
  double loss = 0;
  engine->Accumulate(trees, [&](std::span<TreeTerms> all) {
    for (size_t i = 0; i < 3; ++i) {
      PathTerms& path = all[i].paths[0];
      for (size_t t = 1; t < path.logprobs.size(); ++t) {
        loss -= weights[i][t] * path.logprobs[t];
        path.dlogprobs[t] = -weights[i][t];
      }
    }
  });
  return {loss, engine->Step(options)};
}

// Three steps of AdamW, as PyTorch took them.
TEST(Engine, AdamWEqualsPyTorch) {
  for (const char* name : {"qwen2", "qwen3", "llama3"}) {
    auto engine = Engine::Open(
        kModels / name, {.precision = Precision::kF32, .threads = 2, .device = TestedDevice()});
    auto expected = SafetensorsFile::Open(kModels / name / "expected.safetensors");
    const std::vector<float> theirs = FloatsOf(*expected, "adamw.losses_gradnorms");
    for (int step = 0; step < 3; ++step) {
      const LossAndNorm ours = StepOnThreeSequences(
          *expected, {.learning_rate = 1e-3, .weight_decay = 0.1}, engine->get());
      EXPECT_NEAR(ours.loss, theirs[2 * step], 1e-3 * std::abs(theirs[2 * step])) << name << step;
      EXPECT_NEAR(ours.norm, theirs[2 * step + 1], 1e-3 * theirs[2 * step + 1]) << name << step;
    }
    for (const Parameter& parameter : (*engine)->model().parameters) {
      const std::string tensor = "adamw.after3." + parameter.name;
      if (expected->Find(tensor) == nullptr) continue;
      const std::vector<float> after = FloatsOf(*expected, tensor);
      for (size_t i = 0; i < after.size(); ++i)
        ASSERT_NEAR(parameter.value[i], after[i], 2e-4) << tensor;
    }
  }
}

// Three steps of Muon. PyTorch iterates in bf16, we in float32: the way that the weights went is
// the same to a few percent.
TEST(Engine, MuonFollowsPyTorch) {
  auto engine = Engine::Open(
      kModels / "qwen3", {.precision = Precision::kF32, .threads = 2, .device = TestedDevice()});
  auto expected = SafetensorsFile::Open(kModels / "qwen3" / "expected.safetensors");
  auto muon = SafetensorsFile::Open(kModels / "qwen3" / "muon.safetensors");
  const Model start = (*engine)->model();
  const std::vector<float> theirs = FloatsOf(*muon, "losses_gradnorms");
  for (int step = 0; step < 3; ++step) {
    const LossAndNorm ours = StepOnThreeSequences(
        *expected,
        {.kind = OptimizerOptions::Kind::kMuon, .learning_rate = 1e-3, .weight_decay = 0.1},
        engine->get());
    EXPECT_NEAR(ours.loss, theirs[2 * step], 1e-2 * std::abs(theirs[2 * step])) << step;
    EXPECT_NEAR(ours.norm, theirs[2 * step + 1], 1e-2 * theirs[2 * step + 1]) << step;
  }
  int compared = 0;
  for (size_t p = 0; p < start.parameters.size(); ++p) {
    const std::string tensor = "after3." + start.parameters[p].name;
    if (muon->Find(tensor) == nullptr) continue;
    const std::vector<float> after = FloatsOf(*muon, tensor);
    const std::vector<float>& ours = (*engine)->model().parameters[p].value;
    double apart = 0, way = 0;
    for (size_t i = 0; i < after.size(); ++i) {
      apart += std::pow(ours[i] - after[i], 2);
      way += std::pow(after[i] - start.parameters[p].value[i], 2);
    }
    EXPECT_LT(std::sqrt(apart), 0.05 * std::sqrt(way)) << tensor;
    ++compared;
  }
  EXPECT_EQ(compared, 11);
}

void TrainSomeSteps(Engine* engine, int steps) {
  for (int step = 0; step < steps; ++step) {
    std::vector<Tree> trees;
    for (int i = 0; i < 3; ++i) {
      std::vector<TokenId> tokens;
      for (int t = 0; t < 20; ++t) tokens.push_back(static_cast<TokenId>((t * 7 + i) % 512));
      trees.push_back(ChainOf(tokens));
    }
    engine->Accumulate(trees, [](std::span<TreeTerms> all) {
      for (TreeTerms& tree : all) {
        for (float& d : tree.paths[0].dlogprobs) d = -1;
      }
    });
    engine->Step({.learning_rate = 1e-3});
  }
}

TEST(Engine, TrainingGivesTheSameWeightsOnAnyNumberOfThreadsAndAfterResuming) {
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    auto one = Engine::Open(kModels / "qwen3",
                            {.precision = precision, .threads = 1, .device = TestedDevice()});
    auto two = Engine::Open(kModels / "qwen3",
                            {.precision = precision, .threads = 2, .device = TestedDevice()});
    TrainSomeSteps(one->get(), 4);
    TrainSomeSteps(two->get(), 2);
    TemporaryDirectory directory;
    const auto state = directory.path() / "state";
    ASSERT_TRUE((*two)->Save(state, SaveType::kBf16).ok());
    ASSERT_TRUE((*two)->Save(state, SaveType::kBf16).ok()) << "over an older one";
    auto resumed =
        Engine::Load(state, {.precision = precision, .threads = 2, .device = TestedDevice()});
    ASSERT_TRUE(resumed.ok()) << resumed.error().message();
    TrainSomeSteps(resumed->get(), 2);
    EXPECT_EQ((*resumed)->WeightsHash(), (*one)->WeightsHash());
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
  }
}

TEST(Engine, AStateWithoutItsOptimiserIsAnError) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 1, .device = TestedDevice()});
  TemporaryDirectory directory;
  ASSERT_TRUE((*engine)->Save(directory.path() / "s", SaveType::kF32).ok());
  std::filesystem::remove(directory.path() / "s" / "training_state.safetensors");
  EXPECT_FALSE(Engine::Load(directory.path() / "s", {}).ok());
}

TEST(Engine, TokensAreChecked) {
  auto engine = Engine::Open(kModels / "qwen2", {.threads = 1, .device = TestedDevice()});
  EXPECT_TRUE((*engine)->CheckTokens(std::vector<TokenId>{0, 511}).ok());
  EXPECT_EQ((*engine)->CheckTokens(std::vector<TokenId>{0, 512}).error().message(),
            "512 is not a token of the model's vocabulary of 512");
  EXPECT_FALSE((*engine)->CheckTokens(std::vector<TokenId>(513, 1)).ok());
}

// A model that computes not-a-number must not read as a perfect one, nor ruin what is left of it.
TEST(Engine, NotANumberIsNotHidden) {
  Model model = LoadModel(kModels / "qwen2").value();
  model.parameters[model.final_norm].value[0] = std::numeric_limits<float>::quiet_NaN();
  Engine engine(std::move(model), {.threads = 1, .device = TestedDevice()});
  const std::string before = engine.WeightsHash();
  const Tree tree = ChainOf({1, 2, 3});
  const NodeLogprobs scores = engine.LogProbs({&tree, 1})[0][0];
  EXPECT_TRUE(std::isnan(scores.logprobs[1]));
  EXPECT_TRUE(std::isnan(scores.entropies[2]));
  engine.Accumulate({&tree, 1}, [](std::span<TreeTerms> all) {
    for (float& d : all[0].paths[0].dlogprobs) d = -1;
  });
  EXPECT_FALSE(std::isfinite(engine.Step({})));
  EXPECT_EQ(engine.WeightsHash(), before);
}

TEST(Engine, TreesOfAnotherModelAreRefused) {
  auto engine = Engine::Open(kModels / "qwen2", {.threads = 1, .device = TestedDevice()}).value();
  Tree tree = ChainOf({1, 2, 3}, {}, {{}, {{1, 2, 3}}, {{3, 600}}});
  EXPECT_EQ(engine->CheckTree(tree).error().message(),
            "node 0: a support is not of this model's vocabulary");
  tree = ChainOf(std::vector<TokenId>(500, 1));
  tree.nodes.push_back({.parent = 0, .tokens = std::vector<TokenId>(13, 1)});
  EXPECT_FALSE(engine->CheckTree(tree).ok()) << "513 positions";
  tree.nodes[1].tokens.pop_back();
  EXPECT_TRUE(engine->CheckTree(tree).ok());
}

TEST(Engine, AFolderMayEndWithASlash) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 1, .device = TestedDevice()}).value();
  TemporaryDirectory directory;
  const std::string folder = (directory.path() / "state").string() + "/";
  ASSERT_TRUE(engine->Save(folder, SaveType::kF32).ok());
  ASSERT_TRUE(engine->Save(folder, SaveType::kF32).ok());
  EXPECT_TRUE(Engine::Load(folder, {.threads = 1, .device = TestedDevice()}).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

// A public bf16 checkpoint, against float64 logits.
TEST(Engine, MatchesThePublicDigitModel) {
  HONE_NEED_SHARED(data, "data/tiny-llama-digit");
  const Model model = LoadModel(data).value();
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  const auto rows = ParseJsonLines(*ReadFile(data / "logits_float64_reference.jsonl"));
  ASSERT_TRUE(rows.ok());
  int compared = 0;
  for (const Json& row : *rows) {
    const Json* ids = row.Find("input_ids") != nullptr ? row.Find("input_ids") : row.Find("ids");
    const Json* logits = row.Find("logits");
    if (ids == nullptr || logits == nullptr) continue;
    std::vector<TokenId> tokens;
    for (const Json& id : ids->AsArray()) tokens.push_back(static_cast<TokenId>(id.AsInteger()));
    KvPages pages(model.config, Precision::kF32);
    KvSequence sequence(&pages);
    sequence.Extend(static_cast<int64_t>(tokens.size()));
    const Decoder::Chunk chunk{sequence.table(), 0, tokens, {}};
    Floats hidden, ours;
    decoder.Forward({&chunk, 1}, &pages, &hidden);
    decoder.Logits(hidden.data(), static_cast<int64_t>(tokens.size()), &ours);
    const Json::Array& expected = logits->AsArray();
    size_t at = 0;
    for (const Json& position : expected) {
      for (const Json& value : position.AsArray()) EXPECT_NEAR(ours[at++], value.AsDouble(), 2e-4);
    }
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace hone
