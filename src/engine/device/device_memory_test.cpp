// What a step is said to take of a device's memory, against what it takes.

#include "engine/device/device_memory.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"
#include "engine/engine.h"
#include "engine/lora.h"
#include "engine/memory.h"

namespace hone {
namespace {

constexpr int64_t kVocabulary = 320;

struct MemoryCase {
  std::string name;
  bool qk_norm = true, tied = true;
  int64_t lora = 0;  // rank; 0: none
  DeviceRunnerOptions options;
  DeviceStepShape shape;
};

std::vector<MemoryCase> MemoryCases() {
  DeviceStepShape shape{.tokens = 300, .length = 80, .prompt = 72, .leaves = 2, .live = 8};
  std::vector<MemoryCase> cases = {{"qwen3"}};
  cases.push_back({"qwen2", false, false});
  cases.push_back({"lora", false, true, 8});
  cases.push_back({"recomputed", true, true, 0, {.recompute_activations = true}});
  cases.push_back({"recomputed lora", false, true, 8, {.recompute_activations = true}});
  cases.push_back({"small moments", true, true, 0, {.small_moments = true}});
  cases.push_back({"float32", true, false, 0, {.precision = Precision::kF32}});
  for (MemoryCase& one : cases) one.shape = shape;
  for (const int64_t length : {20, 64, 190}) {
    cases.push_back({"length " + std::to_string(length), true, true, 0, {}, shape});
    cases.back().shape.length = length;
    cases.back().shape.prompt = length - 8;
  }
  cases.push_back({"muon", true, true, 0, {}, shape});
  cases.back().shape.optimizer.kind = OptimizerOptions::Kind::kMuon;
  cases.push_back({"scored", true, true, 0, {}, shape});
  cases.back().shape.scored = true;
  cases.push_back({"drawing alone", true, true, 0, {}, shape});
  cases.back().shape.tokens = 0;
  cases.push_back({"little room for pages", true, true, 0, {}, shape});
  cases.back().shape.sampler.memory = int64_t{1} << 18;
  return cases;
}

Model ModelOf(const MemoryCase& one) {
  ModelConfig config;
  config.layers = 2;
  config.width = 64;
  config.heads = 2;
  config.kv_heads = 1;
  config.head_dim = 32;
  config.ffn = 128;
  config.vocab = kVocabulary;
  config.max_positions = 512;
  config.qk_norm = one.qk_norm;
  config.qkv_bias = !one.qk_norm;
  config.tied_embeddings = one.tied;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  if (one.lora > 0) {
    EXPECT_TRUE(AddLora({.rank = one.lora}, &model).ok());
  }
  return model;
}

std::vector<TokenId> SomeTokens(uint64_t seed, int64_t count) {
  Rng rng(seed);
  std::vector<TokenId> tokens(static_cast<size_t>(count));
  for (TokenId& token : tokens) token = static_cast<TokenId>(rng.Below(kVocabulary));
  return tokens;
}

// Trees that share beginnings, of about so many tokens each, and not all of the same length.
std::vector<Tree> BranchingTrees(const DeviceStepShape& shape) {
  std::vector<Tree> trees;
  uint64_t seed = 100;
  for (int64_t left = shape.tokens; left > 0;) {
    Tree tree;
    const int64_t stem = std::min(left, shape.prompt);
    tree.nodes.push_back({.tokens = SomeTokens(seed++, stem)});
    left -= stem;
    for (int64_t branch = shape.length - stem; left > 0 && tree.leaves.size() < 2; branch -= 1) {
      const int64_t some = std::min(left, branch);
      tree.nodes.push_back({.parent = 0, .tokens = SomeTokens(seed++, some)});
      tree.leaves.push_back({.node = static_cast<NodeId>(tree.nodes.size() - 1)});
      left -= some;
    }
    if (tree.leaves.empty()) tree.leaves.push_back({.node = 0});
    trees.push_back(std::move(tree));
  }
  return trees;
}

// Turns after prompts of different lengths, drawn together.
void DrawTurns(const DeviceStepShape& shape, Engine* engine) {
  const auto sampler = engine->NewSampler();
  for (int64_t i = 0; i < shape.live; ++i) {
    const int64_t prompt = shape.prompt + i % 3;
    const auto id = sampler->Start(SomeTokens(static_cast<uint64_t>(i), prompt));
    TurnRequest turn;
    turn.max_new = shape.length - prompt;
    turn.rng = Rng(static_cast<uint64_t>(i));
    ASSERT_TRUE(sampler->Generate(id, turn).ok());
  }
  while (!sampler->idle()) sampler->Step();
}

void OneEach(std::span<TreeTerms> all) {
  for (TreeTerms& tree : all) {
    for (PathTerms& path : tree.paths) {
      std::fill(path.dlogprobs.begin(), path.dlogprobs.end(), 1e-3f);
    }
  }
}

std::ostream& operator<<(std::ostream& out, const MemoryCase& one) { return out << one.name; }

class DeviceMemoryOf : public testing::TestWithParam<MemoryCase> {};

TEST_P(DeviceMemoryOf, IsSaidWithinATenthBeforeItIsTaken) {
  const MemoryCase& one = GetParam();
  const Model shape_only = ModelOf(one);
  const DeviceMemory derived = DeriveDeviceMemory(shape_only, one.options, one.shape);

  Engine engine(ModelOf(one), {.precision = one.options.precision,
                               .recompute_activations = one.options.recompute_activations,
                               .device = DeviceKind::kReference,
                               .small_moments = one.options.small_moments,
                               .sampler = one.shape.sampler});
  DrawTurns(one.shape, &engine);
  if (one.shape.tokens > 0) {
    const std::vector<Tree> trees = BranchingTrees(one.shape);
    if (one.shape.scored) engine.LogProbs(trees);
    engine.Accumulate(trees, OneEach);
    engine.Step(one.shape.optimizer);
  }

  std::map<std::string, int64_t> measured;
  for (const auto& [name, bytes] : engine.Memory()) measured[name] = bytes;
  int64_t sum = -measured.at("weights");  // the host's
  for (const auto& [name, bytes] : measured) sum += bytes;
  EXPECT_EQ(engine.Use()->taken_bytes, sum) << "every buffer has a name";
  // The tables have a fixed size that hides everything else in a model as small as this one.
  int64_t tables = 0;
  for (const auto& [name, bytes] : derived.parts) {
    if (name == "tables") tables = bytes;
    // Who gives up its pages when is another matter with other lengths, and so are rows at a time.
    if (one.shape.sampler.memory < SamplerOptions().memory) continue;
    if (name == "tables") {
      EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(measured.at(name)),
                  0.1 * (1 << 20));
      continue;
    }
    const auto taken = static_cast<double>(measured.at(name));
    EXPECT_NEAR(static_cast<double>(bytes), taken, 0.1 * taken + 1024) << name;
  }
  const auto peak = static_cast<double>(engine.Use()->peak_bytes - measured.at("tables"));
  EXPECT_NEAR(static_cast<double>(derived.peak - tables), peak, 0.1 * peak);
}

INSTANTIATE_TEST_SUITE_P(Cases, DeviceMemoryOf, testing::ValuesIn(MemoryCases()),
                         [](const auto& one) {
                           std::string name = one.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST(DeviceMemoryOf, TrialsOfProductsAreToldAndNeededWithTheLibraries) {
  Model model = ModelOf({});
  const DeviceMemory idle = DeriveDeviceMemory(model, {}, {});
  EXPECT_GT(idle.trying, idle.peak) << "products are tried on thousands of rows";
  EXPECT_GT(idle.Needed(), idle.trying);
  const DeviceMemory plain = DeriveDeviceMemory(model, {.precision = Precision::kF32}, {});
  EXPECT_LE(plain.trying, plain.peak) << "float32 products are not tried";
}

TEST(DeviceMemoryOf, AdaptersTakeNoGradientsOfWhatIsFrozen) {
  Model whole = ModelOf({}), adapted = ModelOf({.lora = 4});
  const DeviceStepShape shape{.tokens = 64, .length = 64};
  auto gradients = [&](const Model& model) {
    for (const auto& [name, bytes] : DeriveDeviceMemory(model, {}, shape).parts) {
      if (name == "gradients") return bytes;
    }
    return int64_t{0};
  };
  EXPECT_GT(gradients(adapted), 0);
  EXPECT_LT(2 * gradients(adapted), gradients(whole));
}

}  // namespace
}  // namespace hone
