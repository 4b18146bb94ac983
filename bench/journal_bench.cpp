// How fast calls are recorded and replayed: ./dev bench --benchmark_filter=Journal

#include <benchmark/benchmark.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "tools/journal.h"

namespace hone {
namespace {

constexpr int64_t kCalls = 10000;

// A call like those of a run, of a few hundred bytes.
JournalEntry NthCall(int64_t n) {
  JournalEntry entry;
  entry.identity = {"bench", fmt::format("task-{:04}", n / 40), fmt::format("{}", n / 5 % 8),
                    static_cast<int32_t>(n % 5), 0};
  entry.content = {static_cast<uint64_t>(n / 40), "search",
                   Json::Of({{"query", fmt::format("the {}th thing to know", n)}, {"limit", 5}}),
                   ""};
  entry.effect = Effect::kReads;
  entry.source = "tool";
  entry.result.content = fmt::format("{{\"results\": [\"{}\"]}}", std::string(240, 'x'));
  entry.result.latency_us = 1000 + n;
  entry.attempts = {{CallStatus::kOk, entry.result.content, entry.result.latency_us, ""}};
  entry.recorded_ms = 1'700'000'000'000 + n;
  return entry;
}

std::vector<JournalEntry> Calls() {
  std::vector<JournalEntry> calls;
  for (int64_t n = 0; n < kCalls; ++n) calls.push_back(NthCall(n));
  return calls;
}

// Replays in the order of recording, as a derived run asks for them.
void JournalReplay(benchmark::State& state) {
  static TemporaryDirectory directory;
  static const std::vector<JournalEntry> calls = Calls();
  static const std::unique_ptr<Journal> journal = [] {
    auto recorded = Journal::Open(directory.path() / "journal.sqlite").value();
    CHECK(recorded->Add(calls, {}).ok());
    recorded.reset();
    return Journal::OpenForReading(directory.path() / "journal.sqlite").value();
  }();
  size_t n = static_cast<size_t>(state.thread_index()) * 1237;
  for (auto _ : state) {
    const auto found = journal->Find(calls[n++ % calls.size()].identity);
    CHECK(found.ok() && found->entry.has_value());
    benchmark::DoNotOptimize(found);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(JournalReplay)->Threads(1)->Threads(2)->UseRealTime();

// All the calls, recorded one by one by so many threads.
void JournalRecord(benchmark::State& state, Effect effect) {
  std::vector<JournalEntry> calls = Calls();
  for (JournalEntry& call : calls) call.effect = effect;
  const int64_t threads = state.range(0);
  for (auto _ : state) {
    const TemporaryDirectory directory;
    auto journal = Journal::Open(directory.path() / "journal.sqlite").value();
    std::atomic<size_t> next = 0;
    std::vector<std::jthread> workers;
    for (int64_t i = 0; i < threads; ++i) {
      workers.emplace_back([&] {
        for (size_t n = next++; n < calls.size(); n = next++) {
          CHECK(journal->Finish(calls[n]).ok());
        }
      });
    }
  }
  state.SetItemsProcessed(state.iterations() * kCalls);
}
BENCHMARK_CAPTURE(JournalRecord, Reads, Effect::kReads)
    ->Arg(1)
    ->Arg(64)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(JournalRecord, Writes, Effect::kWrites)
    ->Arg(1)
    ->Arg(64)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
