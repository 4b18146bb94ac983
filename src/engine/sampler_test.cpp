#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "engine/engine.h"
#include "support/golden_models.h"
#include "support/tested_device.h"

namespace hone {
namespace {

const std::filesystem::path kModels = GoldenModels();

std::vector<TokenId> RandomTokens(Rng rng, size_t count) {
  std::vector<TokenId> tokens(count);
  for (TokenId& token : tokens) token = static_cast<TokenId>(rng.Below(512));
  return tokens;
}

TurnRequest Turn(uint64_t seed, int64_t max_new, Sampling sampling = {}) {
  TurnRequest request;
  request.max_new = max_new;
  request.sampling = sampling;
  request.rng = Rng(seed).Split("turn");
  return request;
}

// Runs until the turn of `id` is over.
SampleResult Finish(Sampler* sampler, Sampler::Id id) {
  for (int step = 0; step < 100000; ++step) {
    for (const Sampler::Id ended : sampler->Step()) {
      if (ended == id) return sampler->Take(id);
    }
  }
  ADD_FAILURE() << "the turn never ended";
  return {};
}

// Every policy token of a sequence, scored on its own from scratch, has the recorded bits.
void ExpectSameBits(Engine* engine, const std::vector<TokenId>& before, const Sampling& sampling,
                    const SampleResult& result) {
  Tree tree;
  Node prompt, turn;
  prompt.tokens = before;
  turn.parent = 0;
  turn.tokens = result.tokens;
  turn.sampling = sampling;
  turn.supports = result.supports;
  tree.nodes = {prompt, turn};
  tree.leaves = {{.node = 1}};
  const auto scores = engine->LogProbs({&tree, 1});
  EXPECT_EQ(scores[0][1].logprobs, result.logprobs);
  EXPECT_EQ(scores[0][1].entropies, result.entropies);
}

TEST(Sampler, AppendedTokensCostOnlyThemselves) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 2, .device = TestedDevice()}).value();
  auto sampler = engine->NewSampler();
  const std::vector<TokenId> prompt = RandomTokens(Rng(1), 70), output = RandomTokens(Rng(2), 9);
  const auto id = sampler->Start(prompt);
  ASSERT_TRUE(sampler->Generate(id, Turn(1, 5)).ok());
  const SampleResult first = Finish(sampler.get(), id);
  const int64_t rows = sampler->counters().rows;
  EXPECT_EQ(rows, 70 + 4) << "the last token is not computed until somebody needs it";
  sampler->Append(id, output);
  ASSERT_TRUE(sampler->Generate(id, Turn(2, 3)).ok());
  const std::vector<TokenId> before = sampler->Tokens(id);
  const SampleResult second = Finish(sampler.get(), id);
  EXPECT_EQ(sampler->counters().rows, rows + 1 + 9 + 2);
  ExpectSameBits(engine.get(), prompt, {}, first);
  ExpectSameBits(engine.get(), before, {}, second);
}

// What is asked for while a step is under way is part of the next one, and nothing of it is seen in
// what is drawn.
TEST(Sampler, AStepInTwoHalvesLetsOthersComeAndGoInBetween) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 2, .device = TestedDevice()}).value();
  constexpr uint64_t kTurns = 6;
  auto prompt_of = [](uint64_t i) { return RandomTokens(Rng(50 + i), 20 + 9 * i); };
  std::vector<SampleResult> alone;
  for (uint64_t i = 0; i < kTurns; ++i) {
    auto sampler = engine->NewSampler();
    const auto id = sampler->Start(prompt_of(i));
    ASSERT_TRUE(sampler->Generate(id, Turn(i, 5)).ok());
    alone.push_back(Finish(sampler.get(), id));
  }
  auto sampler = engine->NewSampler();
  EXPECT_TRUE(sampler->End().empty()) << "nothing was begun";
  sampler->Begin();
  EXPECT_FALSE(sampler->under_way()) << "there is nothing to do";
  std::map<Sampler::Id, uint64_t> turns;
  std::vector<Sampler::Id> ended;
  for (uint64_t begun = 0, done = 0; done < kTurns;) {
    sampler->Begin();
    if (begun < kTurns) {
      const auto id = sampler->Start(prompt_of(begun));
      ASSERT_TRUE(sampler->Generate(id, Turn(begun, 5)).ok());
      turns[id] = begun++;
    }
    for (const Sampler::Id id : ended) {
      const SampleResult result = sampler->Take(id);
      EXPECT_EQ(result.tokens, alone[turns.at(id)].tokens);
      EXPECT_EQ(result.logprobs, alone[turns.at(id)].logprobs);
      sampler->Release(id);
      ++done;
    }
    ended = sampler->End();
  }
  const auto left = sampler->Start(prompt_of(0));
  ASSERT_TRUE(sampler->Generate(left, Turn(1, 5)).ok());
  sampler->Begin();
  EXPECT_TRUE(sampler->under_way());
  sampler.reset();  // what was begun is given up
  EXPECT_EQ(engine->NewSampler()->counters().steps, 0);
}

TEST(Sampler, AGroupComputesItsPromptOnce) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 2, .device = TestedDevice()}).value();
  auto sampler = engine->NewSampler();
  const std::vector<TokenId> prompt = RandomTokens(Rng(3), 200);
  const auto root = sampler->Start(prompt);
  std::vector<Sampler::Id> ids;
  for (uint64_t i = 0; i < 16; ++i) {
    ids.push_back(sampler->Fork(root));
    ASSERT_TRUE(sampler->Generate(ids.back(), Turn(i, 10)).ok());
  }
  while (!sampler->idle()) sampler->Step();
  EXPECT_EQ(sampler->counters().rows, 199 + 16 * 10);
  for (const auto id : ids) ExpectSameBits(engine.get(), prompt, {}, sampler->Take(id));
  // A branch from the middle of one of them.
  const auto branch = sampler->Fork(ids[3], 205);
  ASSERT_TRUE(sampler->Generate(branch, Turn(99, 6)).ok());
  const std::vector<TokenId> before = sampler->Tokens(branch);
  EXPECT_EQ(before.size(), 205u);
  ExpectSameBits(engine.get(), before, {}, Finish(sampler.get(), branch));
}

TEST(Sampler, ForbiddenTokensNeverComeAndTrainingKnows) {
  auto free_engine =
      Engine::Open(kModels / "qwen3", {.threads = 2, .device = TestedDevice()}).value();
  std::vector<TokenId> forbidden;
  for (TokenId id = 0; id < 512; ++id) {
    if (id % 4 != 0) forbidden.push_back(id);
  }
  auto engine = Engine::Open(kModels / "qwen3",
                             {.threads = 2, .device = TestedDevice(), .forbidden = forbidden})
                    .value();
  for (const Sampling sampling :
       {Sampling{.forbidden_set = 1}, Sampling{.top_k = 20, .top_p = 0.9f, .forbidden_set = 1}}) {
    auto sampler = engine->NewSampler();
    const std::vector<TokenId> prompt = RandomTokens(Rng(4), 12);
    const auto id = sampler->Start(prompt);
    ASSERT_TRUE(sampler->Generate(id, Turn(5, 30, sampling)).ok());
    const SampleResult result = Finish(sampler.get(), id);
    for (const TokenId token : result.tokens) EXPECT_EQ(token % 4, 0);
    ExpectSameBits(engine.get(), prompt, sampling, result);
  }
  EXPECT_FALSE(Engine::Open(kModels / "qwen3", {.forbidden = {512}}).ok());
}

TEST(Sampler, OnlyWhatMayFollowIsDrawnAndTrainingKnows) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 2, .device = TestedDevice()}).value();
  for (const Sampling sampling :
       {Sampling{}, Sampling{.temperature = 0}, Sampling{.top_k = 20, .top_p = 0.9f}}) {
    auto sampler = engine->NewSampler();
    const std::vector<TokenId> prompt = RandomTokens(Rng(4), 12);
    const auto id = sampler->Start(prompt);
    TurnRequest turn = Turn(5, 30, sampling);
    // Even and odd ones in turns.
    turn.allow = [](std::span<const TokenId> drawn) {
      std::vector<TokenId> allowed;
      for (auto token = static_cast<TokenId>(drawn.size() % 2); token < 512; token += 2) {
        allowed.push_back(token);
      }
      return allowed;
    };
    ASSERT_TRUE(sampler->Generate(id, std::move(turn)).ok());
    const SampleResult result = Finish(sampler.get(), id);
    ASSERT_EQ(result.tokens.size(), 30u);
    for (size_t i = 0; i < 30; ++i) EXPECT_EQ(result.tokens[i] % 2, static_cast<TokenId>(i % 2));
    ASSERT_EQ(result.supports.size(), 30u);
    if (sampling.temperature == 0) {
      ExpectSameBits(engine.get(), prompt, {}, result);  // recorded at temperature 1
    } else {
      ExpectSameBits(engine.get(), prompt, sampling, result);
    }
  }
}

// What a rule wrote in the policy's place: a thought's end, when its tokens are spent.
TEST(Sampler, NothingIsLearnedFromATokenThatHadToFollow) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 2, .device = TestedDevice()}).value();
  for (const Sampling sampling :
       {Sampling{}, Sampling{.temperature = 0.7f}, Sampling{.top_k = 20, .top_p = 0.9f}}) {
    auto sampler = engine->NewSampler();
    const std::vector<TokenId> prompt = RandomTokens(Rng(4), 12);
    const auto id = sampler->Start(prompt), free = sampler->Start(prompt);
    TurnRequest turn = Turn(5, 12, sampling);
    ASSERT_TRUE(sampler->Generate(free, turn).ok());
    const auto forced = [](size_t position) { return position == 4 || position == 5; };
    turn.allow = [&](std::span<const TokenId> drawn) {
      return forced(drawn.size()) ? std::vector<TokenId>{77} : std::vector<TokenId>();
    };
    ASSERT_TRUE(sampler->Generate(id, std::move(turn)).ok());
    std::map<Sampler::Id, SampleResult> results;
    while (results.size() < 2) {
      for (const Sampler::Id ended : sampler->Step()) results[ended] = sampler->Take(ended);
    }
    const SampleResult& result = results[id];
    ASSERT_EQ(result.supports.size(), 12u);
    for (size_t t = 0; t < 12; ++t) {
      if (t < 4) {
        EXPECT_EQ(result.tokens[t], results[free].tokens[t]) << "no rule, no difference";
        EXPECT_EQ(result.logprobs[t], results[free].logprobs[t]);
      }
      if (!forced(t)) continue;
      EXPECT_EQ(result.tokens[t], 77);
      EXPECT_EQ(result.logprobs[t], 0);
      EXPECT_EQ(result.entropies[t], 0);
      EXPECT_EQ(result.supports[t].kept, std::vector<TokenId>{77});
    }
    ExpectSameBits(engine.get(), prompt, sampling, result);
    // A loss that asks for more of these two tokens, and of nothing else.
    const auto gradient = [&](auto&& wanted) {
      Tree tree = ChainOf(prompt);
      Node node{.parent = 0, .author = Author::kPolicy, .tokens = result.tokens};
      node.sampling = sampling;
      node.supports = result.supports;
      tree.nodes.push_back(node);
      tree.leaves = {{.node = 1}};
      engine->Accumulate({&tree, 1}, [&](std::span<TreeTerms> terms) {
        for (size_t t = 0; t < 12; ++t) {
          if (!wanted(t)) continue;
          terms[0].paths[0].dlogprobs[12 + t] = -3;
          terms[0].paths[0].dentropies[12 + t] = -1;
        }
      });
      double sum = 0;
      for (const auto& part : engine->TakeGradients()) {
        for (const float value : part) sum += std::abs(value);
      }
      return sum;
    };
    EXPECT_EQ(gradient(forced), 0);
    EXPECT_GT(gradient([&](size_t t) { return !forced(t); }), 0);
  }
}

TEST(Sampler, TellsTheLikeliestTokensAndWhatIsDrawnSoFar) {
  auto engine = Engine::Open(kModels / "qwen3", {.threads = 2, .device = TestedDevice()}).value();
  auto sampler = engine->NewSampler();
  const std::vector<TokenId> prompt = RandomTokens(Rng(5), 9);
  TurnRequest asked = Turn(1, 5, {.temperature = 0.8f, .top_k = 7});
  const Sampler::Id plain = sampler->Start(prompt), told = sampler->Start(prompt);
  ASSERT_TRUE(sampler->Generate(plain, asked).ok());
  asked.likeliest = 20;
  ASSERT_TRUE(sampler->Generate(told, asked).ok());
  for (size_t drawn = 1; drawn < 5; ++drawn) {
    EXPECT_TRUE(sampler->Step().empty());
    EXPECT_EQ(sampler->Drawn(told).tokens.size(), drawn);
  }
  EXPECT_EQ(sampler->Step().size(), 2u);
  const SampleResult a = sampler->Take(plain), b = sampler->Take(told);
  EXPECT_EQ(a.tokens, b.tokens) << "to ask changes nothing";
  EXPECT_TRUE(a.likeliest.empty());
  ASSERT_EQ(b.likeliest.size(), 5u);
  for (size_t t = 0; t < 5; ++t) {
    const std::vector<LikelyToken>& likely = b.likeliest[t];
    ASSERT_EQ(likely.size(), 7u) << "only what could be drawn";
    bool there = false;
    for (size_t i = 0; i < likely.size(); ++i) {
      EXPECT_LE(likely[i].logprob, likely[i == 0 ? 0 : i - 1].logprob);
      if (likely[i].token != b.tokens[t]) continue;
      there = true;
      EXPECT_EQ(likely[i].logprob, b.logprobs[t]);
    }
    EXPECT_TRUE(there);
  }
}

TEST(Sampler, ATurnThatCanNeverFitIsAnError) {
  auto engine = Engine::Open(kModels / "qwen3",
                             {.threads = 1, .device = TestedDevice(), .sampler = {.memory = 1}})
                    .value();
  auto sampler = engine->NewSampler();  // one page
  const auto id = sampler->Start({1, 2, 3});
  EXPECT_TRUE(sampler->Generate(id, Turn(1, 29)).ok());
  Finish(sampler.get(), id);
  const Result<void> refused = sampler->Generate(id, Turn(1, 200));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("raise its memory"), std::string::npos);
}

// Sequences join, leave, branch, grow and are preempted at random; every turn is scored again to
// the same bits, and the memory is never exceeded.
void Soak(uint64_t seed, Precision precision, int rounds) {
  auto engine = Engine::Open(kModels / "qwen3", {.precision = precision,
                                                 .threads = 2,
                                                 .device = TestedDevice(),
                                                 .sampler = {.memory = 0, .rows_per_step = 40}})
                    .value();
  const int64_t page = engine->NewSampler()->page_bytes();
  SamplerOptions options{.memory = 14 * page, .rows_per_step = 40};
  engine = Engine::Open(
               kModels / "qwen3",
               {.precision = precision, .threads = 2, .device = TestedDevice(), .sampler = options})
               .value();
  auto sampler = engine->NewSampler();
  ASSERT_EQ(sampler->max_pages(), 14);
  Rng rng(seed);
  struct Live {
    bool generating = false;
    std::vector<TokenId> before;
    Sampling sampling;
  };
  std::map<Sampler::Id, Live> live;
  int64_t finished = 0;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t action = rng.Below(10);
    std::vector<Sampler::Id> resting;
    for (const auto& [id, one] : live) {
      if (!one.generating) resting.push_back(id);
    }
    if (action == 0 && live.size() < 12) {
      live[sampler->Start(
          RandomTokens(rng.Split(static_cast<uint64_t>(round)), 1 + rng.Below(90)))];
    } else if (action == 1 && !live.empty() && live.size() < 12) {
      auto from = live.begin();
      std::advance(from, static_cast<int64_t>(rng.Below(live.size())));
      const auto size = static_cast<int64_t>(sampler->Tokens(from->first).size());
      live[sampler->Fork(from->first,
                         1 + static_cast<int64_t>(rng.Below(static_cast<uint64_t>(size))))];
    } else if (action == 2 && !resting.empty()) {
      const auto id = resting[rng.Below(resting.size())];
      sampler->Append(id, RandomTokens(rng.Split(static_cast<uint64_t>(round)), rng.Below(30)));
    } else if (action == 3 && !resting.empty() && rng.Below(3) == 0) {
      const auto id = resting[rng.Below(resting.size())];
      sampler->Release(id);
      live.erase(id);
    } else if (action <= 5 && !resting.empty()) {
      const auto id = resting[rng.Below(resting.size())];
      Live& one = live[id];
      const Sampling samplings[] = {{}, {.temperature = 0.7f, .top_k = 9}, {.top_p = 0.8f}};
      one.sampling = samplings[rng.Below(3)];
      one.before = sampler->Tokens(id);
      TurnRequest turn =
          Turn(static_cast<uint64_t>(round), static_cast<int64_t>(rng.Below(25)), one.sampling);
      turn.stop_tokens = {static_cast<TokenId>(rng.Below(512))};
      // A sequence may outgrow the whole memory: then it is refused and leaves.
      if (sampler->Generate(id, turn).ok()) {
        one.generating = true;
      } else {
        sampler->Release(id);
        live.erase(id);
      }
    } else {
      for (const auto id : sampler->Step()) {
        Live& one = live.at(id);
        one.generating = false;
        ++finished;
        ExpectSameBits(engine.get(), one.before, one.sampling, sampler->Take(id));
      }
    }
    ASSERT_LE(sampler->counters().most_pages, 14);
  }
  EXPECT_GT(finished, rounds / 40);
  EXPECT_GT(sampler->counters().preemptions, 0) << "the memory was never tight";
}

// HONE_SOAK_SECONDS=600 makes it a long one.
TEST(Sampler, RandomLoadGivesTheSameBits) {
  Soak(1, Precision::kBf16, 1500);
  Soak(2, Precision::kF32, 700);
  const char* seconds = std::getenv("HONE_SOAK_SECONDS");
  if (seconds == nullptr) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(seconds));
  int soaks = 0;
  for (; std::chrono::steady_clock::now() < end && !HasFailure(); ++soaks) {
    Soak(static_cast<uint64_t>(soaks) + 3, soaks % 2 == 0 ? Precision::kBf16 : Precision::kF32,
         1500);
  }
  std::printf("%d soaks of 1500 random actions\n", soaks);
}

}  // namespace
}  // namespace hone
