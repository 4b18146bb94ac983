// Credit on one core, in policy tokens per second.
//
//   ./dev bench [--benchmark_filter=Credit]
//
// A batch of 16 groups of 8 trajectories, ten turns of 200 tokens each, a call of 40 tokens in
// every turn but the last. Bytes per token are counted at the allocator: they do not grow with the
// batch.

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/rng.h"
#include "credit/gae.h"
#include "credit/methods.h"

namespace {
std::atomic<int64_t> allocated_bytes{0};
}

// Counts what is asked for; what is given back is not taken off, so this is an upper bound.
// Not inlined: g++ 12 would take malloc and delete for a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  allocated_bytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace hone {
namespace {

constexpr int kLeaves = 8, kTurns = 10, kTokens = 200;

ScoredTree MakeTree(Rng rng) {
  ScoredTree record;
  record.tree.task.id = "bench";
  record.tree.nodes.resize(1);
  record.tree.nodes[0].tokens.assign(100, 1);
  for (int32_t leaf = 0; leaf < kLeaves; ++leaf) {
    Score score{leaf, {{"outcome", static_cast<double>(rng.Below(2)), 1, kNoNode, {}}}};
    NodeId last = 0;
    for (int turn = 0; turn < kTurns; ++turn) {
      Node node;
      node.parent = last;
      node.author = Author::kPolicy;
      node.tokens.assign(kTokens, 2);
      node.logprobs.assign(kTokens, -0.5f);
      node.entropies.assign(kTokens, 0.5f);
      last = static_cast<NodeId>(record.tree.nodes.size());
      const bool calls = turn + 1 < kTurns;
      if (calls) {
        node.calls.push_back({"tool", Json::Object(), {100, 140}});
        score.terms.push_back({"call", rng.NextDouble() - 0.5, 1, last, Span{100, 140}});
      }
      record.tree.nodes.push_back(std::move(node));
      if (!calls) continue;
      Node result;
      result.parent = last;
      result.author = Author::kTool;
      result.tokens.assign(50, static_cast<TokenId>(rng.Below(3)));
      result.results.emplace_back();
      last = static_cast<NodeId>(record.tree.nodes.size());
      record.tree.nodes.push_back(std::move(result));
    }
    record.tree.leaves.push_back({last, Ending::kAnswered, Blame::kNone, Json()});
    record.scores.push_back(std::move(score));
  }
  return record;
}

CriticValues ValuesOf(const ScoredTree& record) {
  CriticValues values;
  for (const Node& node : record.tree.nodes) {
    values.emplace_back(node.author == Author::kPolicy ? node.tokens.size() : 0, 0.25f);
  }
  return values;
}

void Credit(benchmark::State& state, const std::string& spec) {
  const Method method = NewMethod(spec).value();
  std::vector<ScoredTree> trees;
  std::vector<CriticValues> values;
  for (int64_t g = 0; g < state.range(0); ++g) {
    trees.push_back(MakeTree(Rng(1).Split(static_cast<uint64_t>(g))));
    values.push_back(ValuesOf(trees.back()));
  }
  std::vector<CreditInput> batch;
  for (size_t g = 0; g < trees.size(); ++g) batch.push_back({&trees[g], &values[g]});
  const int64_t tokens = state.range(0) * kLeaves * kTurns * kTokens;
  const int64_t before = allocated_bytes;
  for (auto _ : state) benchmark::DoNotOptimize(AssignCredit(method, batch).value());
  state.SetItemsProcessed(state.iterations() * tokens);
  state.counters["bytes_per_token"] = static_cast<double>(allocated_bytes - before) /
                                      static_cast<double>(state.iterations() * tokens);
}

BENCHMARK_CAPTURE(Credit, grpo, "grpo")->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, toolpo, "toolpo")->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, toolpo_per_call, "toolpo-per-call")
    ->Arg(16)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, toolpo_split, "toolpo-split")->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, hdpo, "hdpo")->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, gigpo, "gigpo")->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, mt_grpo, "mt-grpo")->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, tree_grpo, "tree-grpo")->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, gdpo, "gdpo")->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, gae_token, "gae-token:whiten=no")
    ->Arg(16)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, gae_token_whitened, "gae-token")->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, gae_turn, "gae-turn:whiten=no")->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Credit, gae_two_level, "gae-two-level:whiten=no")
    ->Arg(16)
    ->Unit(benchmark::kMillisecond);

// The recurrence alone.
void TokenGaeAlone(benchmark::State& state) {
  const std::vector<float> rewards(1 << 20, 0.01f), values(1 << 20, 0.5f);
  std::vector<float> advantages(rewards.size());
  for (auto _ : state) {
    TokenGae({1, 0.95}, rewards, values, advantages);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(rewards.size()));
}
BENCHMARK(TokenGaeAlone)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
