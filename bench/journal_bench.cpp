// How fast calls are recorded and replayed: ./dev bench --benchmark_filter=Journal

#include <benchmark/benchmark.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "tools/executor.h"
#include "tools/spec_tool.h"

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
  entry.source = CallSource::kTool;
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

// A journal with all of them.
std::shared_ptr<Journal> Recorded() {
  static TemporaryDirectory directory;
  static const std::shared_ptr<Journal> journal = [] {
    const auto file = directory.path() / "journal.sqlite";
    CHECK(Journal::Open(file).value()->Add(Calls(), {}).ok());
    return std::shared_ptr<Journal>(Journal::OpenForReading(file).value());
  }();
  return journal;
}

// Replays in the order of recording, as a derived run asks for them.
void JournalReplay(benchmark::State& state) {
  static const std::vector<JournalEntry> calls = Calls();
  const std::shared_ptr<Journal> journal = Recorded();
  size_t n = static_cast<size_t>(state.thread_index()) * 1237;
  for (auto _ : state) {
    const auto found = journal->Find(calls[n++ % calls.size()].identity);
    CHECK(found.ok() && found->entry.has_value());
    benchmark::DoNotOptimize(found);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(JournalReplay)->Threads(1)->Threads(2)->UseRealTime();

// The same through the executor, with everything that a run does around it.
void JournalExecutorReplay(benchmark::State& state) {
  const std::vector<JournalEntry> calls = Calls();
  TemporaryDirectory folder;
  const auto specs = folder.path() / "specs.json";
  CHECK(WriteFileAtomic(specs, R"([{"name": "search", "parameters": {"type": "object"}}])").ok());
  const auto toolbox = std::make_shared<const Toolbox>(
      Toolbox::Of({{NewSpecToolkit({specs.string()}).value(), {}}}).value());
  const auto timeline = NewVirtualTimeline();
  Executor executor({.responders = {NewRecordedResponder(Recorded())}}, timeline.get());
  std::vector<std::shared_ptr<Sessions>> sessions;
  for (const JournalEntry& call : calls) {
    sessions.push_back(std::make_shared<Sessions>(toolbox, call.content.environment_seed));
  }
  size_t n = 0;
  for (auto _ : state) {
    const JournalEntry& call = calls[n];
    executor.Submit({call.identity, "search", call.content.arguments, sessions[n]});
    const std::optional<CallOutcome> outcome = executor.Next();
    CHECK(outcome->result.status == CallStatus::kOk);
    n = (n + 1) % calls.size();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(JournalExecutorReplay)->UseRealTime();

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
