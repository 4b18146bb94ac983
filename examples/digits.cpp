// The smallest thing that learns: a tiny fresh model continues arithmetic sequences modulo 9.
//
//   "3,5:"  ->  "7,0,2"
//
// Nobody shows it an answer. It guesses, a rule says how far a guess is right, and what did better
// than the other guesses for the same puzzle becomes likelier: sample, reward, compare, step. Hone
// is this loop with tools in it. About a minute on two cores, the same bits every time.
//
//   hone_digits [--rounds N] [--seed N]

#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "engine/engine.h"
#include "learn/update.h"

namespace {

using namespace hone;  // NOLINT(google-build-using-namespace): an example reads better so

constexpr TokenId kComma = 9, kColon = 10, kVocabulary = 11;  // and the digits 0 to 8
constexpr int kModulus = 9;
constexpr size_t kAnswerTokens = 5;  // three numbers and two commas
constexpr int kGroup = 16;           // guesses per puzzle
constexpr size_t kPuzzlesPerRound = 27;
constexpr int64_t kStepsPerRound = 3;

struct Puzzle {
  int first, difference;

  std::vector<TokenId> Prompt() const {
    return {first, kComma, (first + difference) % kModulus, kColon};
  }
  TokenId Right(size_t token) const {
    return token % 2 == 1 ? kComma
                          : (first + (2 + static_cast<int>(token) / 2) * difference) % kModulus;
  }
};

std::vector<Puzzle> AllPuzzles() {
  std::vector<Puzzle> puzzles;
  for (int i = 0; i < kModulus * kModulus; ++i) puzzles.push_back({i / kModulus, i % kModulus});
  return puzzles;
}

Model FreshModel(uint64_t seed) {
  ModelConfig config;
  config.layers = 2;
  config.width = 64;
  config.heads = config.kv_heads = 4;
  config.head_dim = 16;
  config.ffn = 192;
  config.vocab = kVocabulary;
  config.max_positions = 16;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(seed, &model);
  return model;
}

// The guesses for one puzzle. They share their prompt, so they are a tree with a leaf each.
struct Guesses {
  Tree tree;
  std::vector<Advantages> advantages;  // by guess: one number per token
  int solved = 0;
};

// A token is judged while everything before it was right: better or worse than the average of the
// guesses that got as far, in units of their spread. What comes after a mistake earns nothing.
void Judge(const Puzzle& puzzle, Guesses* group) {
  for (size_t t = 0; t < kAnswerTokens; ++t) {
    std::vector<int> judged;
    double right = 0;
    for (int g = 0; g < kGroup; ++g) {
      const std::vector<TokenId>& guess = group->tree.nodes[static_cast<size_t>(g) + 1].tokens;
      bool good = true;
      for (size_t before = 0; before < t; ++before) good &= guess[before] == puzzle.Right(before);
      if (!good) continue;
      judged.push_back(g);
      right += guess[t] == puzzle.Right(t);
    }
    if (t + 1 == kAnswerTokens) group->solved = static_cast<int>(right);
    const double mean = right / static_cast<double>(judged.size());
    const double spread = std::sqrt(mean * (1 - mean));  // of ones and zeros
    for (const int g : judged) {
      const TokenId token = group->tree.nodes[static_cast<size_t>(g) + 1].tokens[t];
      const double reward = token == puzzle.Right(t) ? 1 : 0;
      group->advantages[static_cast<size_t>(g)].values[t] =
          static_cast<float>((reward - mean) / (spread + 1e-3));
    }
  }
}

std::vector<Guesses> Guess(Engine* engine, std::span<const Puzzle> puzzles, const Rng& rng) {
  std::vector<SampleRequest> requests;
  for (size_t p = 0; p < puzzles.size(); ++p) {
    for (uint64_t g = 0; g < kGroup; ++g) {
      SampleRequest request;
      request.prompt = puzzles[p].Prompt();
      request.max_new = kAnswerTokens;
      request.rng = rng.Split(p).Split(g);  // the name of this sample
      requests.push_back(std::move(request));
    }
  }
  const std::vector<SampleResult> results = engine->Sample(requests).value();
  std::vector<Guesses> groups(puzzles.size());
  for (size_t p = 0; p < puzzles.size(); ++p) {
    Guesses& group = groups[p];
    group.tree.nodes.push_back({.author = Author::kUser, .tokens = puzzles[p].Prompt()});
    for (int g = 0; g < kGroup; ++g) {
      const SampleResult& result = results[p * kGroup + static_cast<size_t>(g)];
      group.tree.nodes.push_back({.parent = 0,
                                  .author = Author::kPolicy,
                                  .tokens = result.tokens,
                                  .logprobs = result.logprobs});
      group.tree.leaves.push_back({.node = g + 1});
      group.advantages.push_back({.leaf = g, .values = std::vector<float>(kAnswerTokens, 0.0f)});
    }
    Judge(puzzles[p], &group);
  }
  return groups;
}

// The clipped objective of PPO, and a little entropy so that guessing does not stop too early: the
// same update that hone train makes.
void Learn(Engine* engine, std::span<const Guesses> groups, double learning_rate, const Rng& rng) {
  UpdateOptions options;
  options.objective.dual_clip = 0;
  options.objective.entropy = 0.02;
  options.optimizer.learning_rate = learning_rate;
  options.optimizer.beta2 = 0.99;
  options.batches.mini_batches = kStepsPerRound;
  options.on_policy = true;  // these very weights guessed: every ratio begins at exactly 1
  std::vector<TrainingGroup> learned;
  for (const Guesses& group : groups) {
    learned.push_back(MakeTrainingGroup(group.tree, group.advantages));
  }
  UpdatePolicy(options, learned, rng, engine);
}

double ShareSolved(std::span<const Guesses> groups) {
  double solved = 0;
  for (const Guesses& group : groups) solved += group.solved;
  return solved / static_cast<double>(groups.size() * kGroup);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 800;
  uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--rounds") rounds = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  Engine engine(FreshModel(seed), {});
  std::vector<Puzzle> puzzles = AllPuzzles();
  const Rng root(seed);
  fmt::print("before   {:5.1f} % solved\n", 100 * ShareSolved(Guess(&engine, puzzles, root)));
  for (int round = 0; round < rounds; ++round) {
    Rng rng = root.Split("round").Split(static_cast<uint64_t>(round));
    const size_t part = static_cast<size_t>(round) % (puzzles.size() / kPuzzlesPerRound);
    for (size_t i = puzzles.size(); part == 0 && i > 1; --i) {  // a new order, all of them again
      std::swap(puzzles[i - 1], puzzles[rng.Below(i)]);
    }
    const auto some = std::span(puzzles).subspan(part * kPuzzlesPerRound, kPuzzlesPerRound);
    const std::vector<Guesses> groups = Guess(&engine, some, rng);
    const double learning_rate = 7e-4 * (1 - static_cast<double>(round) / rounds);
    Learn(&engine, groups, learning_rate, rng.Split("learn"));
    if ((round + 1) % 50 == 0) {
      fmt::print("round {:3} {:4.1f} % {}\n", round + 1, 100 * ShareSolved(groups),
                 std::string(static_cast<size_t>(40 * ShareSolved(groups)), '#'));
      std::fflush(stdout);
    }
  }
  const double solved = ShareSolved(Guess(&engine, AllPuzzles(), root.Split("after")));
  fmt::print("after    {:5.1f} % solved; weights {}\n", 100 * solved, engine.WeightsHash());
  return rounds < 800 || solved >= 0.95 ? 0 : 1;
}
