// What training and decoding cost on the processor, with random weights. One JSON line per
// measurement; scripts/compare_cpu.py puts those of PyTorch beside them.
//
//   processor_bench THREADS PART...     PART: see kParts below

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/kernels/kernels.h"
#include "made_up_model.h"

namespace hone {
namespace {

// Seconds that this process spent on cores: less disturbed by others than the clock.
double Work() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The shapes of `hone bench engine`: 9.5 M with (6, 384, 1024), 4.8 M with (4, 320, 896).
ModelConfig Small(int64_t layers, int64_t width, int64_t ffn) {
  ModelConfig c;
  c.layers = layers;
  c.width = width;
  c.head_dim = 32;
  c.heads = width / c.head_dim;
  c.kv_heads = 2;
  c.ffn = ffn;
  c.vocab = 1024;
  c.qk_norm = true;
  return c;
}

void Derivatives(std::span<TreeTerms> all) { SetDerivatives(all, -1e-3f); }

void Say(const std::string& part, double value, const std::string& unit,
         const std::string& note = "") {
  fmt::print("{{\"part\": \"{}\", \"value\": {:.6g}, \"unit\": \"{}\", \"note\": \"{}\"}}\n", part,
             value, unit, note);
  std::fflush(stdout);
}

struct Training {
  std::string name;
  ModelConfig config;
  uint64_t sequences;
  int64_t length;
  int warm_up, timed;
};

// Forward, backward and AdamW; the fastest of the timed steps.
void Train(const Training& training, int threads, bool hash) {
  const auto& [name, config, sequences, length, warm_up, timed] = training;
  Engine engine(RandomModel(config), {.threads = threads, .device = DeviceKind::kCpu});
  std::vector<Tree> trees;
  for (uint64_t i = 0; i < sequences; ++i)
    trees.push_back(ChainOf(Tokens(i, length, config.vocab)));
  double best = 1e9, best_step = 1e9, best_work = 1e9;
  for (int round = 0; round < warm_up + timed; ++round) {
    const double start = Now(), work = Work();
    engine.Accumulate(trees, Derivatives);
    const double middle = Now();
    engine.Step({.learning_rate = 1e-6});
    if (round < warm_up) continue;
    best = std::min(best, Now() - start);
    best_step = std::min(best_step, Now() - middle);
    best_work = std::min(best_work, Work() - work);
  }
  const double tokens = static_cast<double>(sequences) * static_cast<double>(length);
  Say(name, tokens / best, "tokens/s", BestKernels().name);
  Say(name + " seconds", best, "s", fmt::format("of which AdamW {:.3f}", best_step));
  Say(name + " work", best_work, "s", "of all threads on their cores");
  Say(name + " rate", 6e-9 * static_cast<double>(config.ParameterCount()) * tokens / best,
      "GFLOP/s", "by 6 x parameters x tokens");
  if (hash) Say(name + " weights", 0, "sha256", engine.WeightsHash());
}

// 64 live sequences; the median of some steps.
void Decode(int threads) {
  constexpr uint64_t kLive = 64;
  Engine engine(RandomModel(Small(4, 320, 896)), {.threads = threads, .device = DeviceKind::kCpu});
  auto sampler = engine.NewSampler();
  for (uint64_t i = 0; i < kLive; ++i) {
    const auto id = sampler->Start(Tokens(i, 32, engine.config().vocab));
    TurnRequest turn;
    turn.max_new = 256;
    turn.rng = Rng(i);
    if (!sampler->Generate(id, turn).ok()) std::abort();
  }
  while (sampler->counters().drawn < static_cast<int64_t>(4 * kLive)) sampler->Step();
  std::vector<double> seconds;
  for (int i = 0; i < 64; ++i) {
    const double start = Now();
    sampler->Step();
    seconds.push_back(Now() - start);
  }
  std::sort(seconds.begin(), seconds.end());
  Say("decode", kLive / seconds[seconds.size() / 2], "tokens/s", BestKernels().name);
}

int Run(int count, char** arguments) {
  const std::vector<std::string> parts(arguments + std::min(count, 2), arguments + count);
  const int threads = count > 1 ? std::atoi(arguments[1]) : 0;
  const bool hash = std::find(parts.begin(), parts.end(), "hash") != parts.end();
  const std::map<std::string, std::function<void()>> kParts = {
      {"0.5b",
       [&] {
         Train({"train 0.5b", Shape("0.5b"), 4, 256, 1, 2}, threads, hash);
       }},
      {"9.5m",
       [&] {
         Train({"train 9.5m", Small(6, 384, 1024), 8, 256, 2, 10}, threads, hash);
       }},
      {"decode", [&] { Decode(threads); }},
      {"hash", [] {}}};
  for (const std::string& part : parts) {
    const auto found = kParts.find(part);
    if (threads <= 0 || found == kParts.end()) {
      fmt::print(stderr,
                 "processor_bench THREADS PART...\n  PART: 0.5b 9.5m decode\n"
                 "  hash: the weights after training, too\n");
      return 2;
    }
    found->second();
  }
  return 0;
}

}  // namespace
}  // namespace hone

int main(int count, char** arguments) { return hone::Run(count, arguments); }
