// Encoding speed on one core, in bytes of text per second.
//
//   ./dev bench [--benchmark_filter=Encode]
//
// The text is English prose of this repository (docs, README, licence), repeated to a megabyte;
// with the Qwen vocabulary where HONE_SHARED (default ../shared) has it, else with the small golden
// one.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "text/tokenizer.h"
#include "text/vocabulary/splitter.h"

namespace hone {
namespace {

const std::string& EnglishText() {
  static const std::string text = [] {
    std::string all;
    for (const char* file : {"README.md", "docs/concepts.md", "docs/architecture.md", "LICENSE"}) {
      all += ReadFile(std::filesystem::path(HONE_SOURCE_DIR) / file).value();
    }
    while (all.size() < 1 << 20) all += std::string(all);
    return all;
  }();
  return text;
}

std::filesystem::path TokenizerPath() {
  const char* shared = std::getenv("HONE_SHARED");
  const std::filesystem::path source = HONE_SOURCE_DIR;
  const auto qwen =
      (shared != nullptr ? std::filesystem::path(shared) : source.parent_path() / "shared") /
      "data/tokenizers/qwen2";
  return std::filesystem::exists(qwen) ? qwen : source / "tests/golden/tokenizer";
}

const Tokenizer& TheTokenizer() {
  static const Tokenizer tokenizer = Tokenizer::Load(TokenizerPath()).value();
  return tokenizer;
}

void Encode(benchmark::State& state) {
  const Tokenizer& tokenizer = TheTokenizer();
  size_t tokens = 0;
  for (auto _ : state) tokens = tokenizer.Encode(EnglishText()).size();
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * EnglishText().size()));
  state.counters["bytes_per_token"] =
      static_cast<double>(EnglishText().size()) / static_cast<double>(tokens);
  state.SetLabel(TokenizerPath().filename().string() == "qwen2" ? "Qwen vocabulary"
                                                                : "golden vocabulary");
}
BENCHMARK(Encode)->Unit(benchmark::kMillisecond);

// The first part of the work alone: what the regular expression costs.
void SplitOnly(benchmark::State& state) {
  std::vector<SplitStep> steps;
  steps.push_back({Pattern::Compile(kQwen2Split).value()});
  const Splitter splitter(std::move(steps));
  size_t pieces = 0;
  for (auto _ : state) splitter.Split(EnglishText(), [&](std::string_view) { ++pieces; });
  benchmark::DoNotOptimize(pieces);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * EnglishText().size()));
}
BENCHMARK(SplitOnly)->Unit(benchmark::kMillisecond);

void Decode(benchmark::State& state) {
  const std::vector<TokenId> ids = TheTokenizer().Encode(EnglishText());
  for (auto _ : state) benchmark::DoNotOptimize(TheTokenizer().Decode(ids));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * EnglishText().size()));
}
BENCHMARK(Decode)->Unit(benchmark::kMillisecond);

void LoadTokenizer(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::Load(TokenizerPath()).ok());
}
BENCHMARK(LoadTokenizer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
