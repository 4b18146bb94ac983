// How long a call of the tool `python` takes when its workers are warm, under each method of
// isolation, and how many calls a second there are.
//
//   ./dev bench --benchmark_filter=Python
//
// The time is wall time per call; p50_ms and p99_ms are of single calls. Methods that this machine
// lacks are passed over.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "tools/builtin/python_tool.h"

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr const char* kCode = "sum(i * i for i in range(100))";

std::shared_ptr<Toolkit> NewTool(benchmark::State& state, const char* method, bool keeps_state,
                                 int workers) {
  PythonOptions options;
  options.isolation = method;
  options.state = keeps_state;
  options.workers = workers;
  auto toolkit = NewPythonToolkit(options);
  if (!toolkit.ok()) {
    state.SkipWithError(toolkit.error().message().c_str());
    return nullptr;
  }
  return *toolkit;
}

// One call, in milliseconds. A wrong answer stops the program: it would be a bug, not a time.
double TimedCall(Toolkit& toolkit, Session* session) {
  static const Json arguments = Json::Of({{"code", kCode}});
  const auto begin = SteadyClock::now();
  const ToolReply reply = toolkit.Call("python", arguments, session, {});
  const auto end = SteadyClock::now();
  CHECK(reply == Answered("328350"), reply.content);
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

void Report(benchmark::State& state, std::vector<double> times, double seconds) {
  std::sort(times.begin(), times.end());
  state.counters["p50_ms"] = times[times.size() / 2];
  state.counters["p99_ms"] = times[times.size() * 99 / 100];
  state.counters["calls_per_s"] = static_cast<double>(times.size()) / seconds;
}

// One caller; every call has an interpreter of its own, or all are of one session.
void OneCaller(benchmark::State& state, const char* method, bool keeps_state) {
  const auto toolkit = NewTool(state, method, keeps_state, 2);
  if (toolkit == nullptr) return;
  const auto session = toolkit->Open(1).value();
  std::vector<double> times;
  const auto begin = SteadyClock::now();
  for (auto _ : state) times.push_back(TimedCall(*toolkit, session.get()));
  Report(state, std::move(times),
         std::chrono::duration<double>(SteadyClock::now() - begin).count());
}

// As many callers as workers, 400 calls in all.
void ManyCallers(benchmark::State& state, const char* method, int workers) {
  const auto toolkit = NewTool(state, method, false, workers);
  if (toolkit == nullptr) return;
  for (int i = 0; i < 2 * workers; ++i) TimedCall(*toolkit, nullptr);
  std::mutex mutex;
  std::vector<double> times;
  double seconds = 0;
  for (auto _ : state) {
    const auto begin = SteadyClock::now();
    {
      std::vector<std::jthread> callers;
      for (int i = 0; i < workers; ++i) {
        callers.emplace_back([&] {
          std::vector<double> own;
          for (int k = 0; k < 400 / workers; ++k) own.push_back(TimedCall(*toolkit, nullptr));
          const std::lock_guard lock(mutex);
          times.insert(times.end(), own.begin(), own.end());
        });
      }
    }
    seconds += std::chrono::duration<double>(SteadyClock::now() - begin).count();
  }
  Report(state, std::move(times), seconds);
}

// From nothing to the first worker: what a run pays once.
void Start(benchmark::State& state, const char* method) {
  for (auto _ : state) {
    if (NewTool(state, method, false, 1) == nullptr) return;
  }
}

BENCHMARK_CAPTURE(OneCaller, Python / bubblewrap / fresh, "bubblewrap", false)->UseRealTime();
BENCHMARK_CAPTURE(OneCaller, Python / landlock / fresh, "landlock", false)->UseRealTime();
BENCHMARK_CAPTURE(OneCaller, Python / bubblewrap / session, "bubblewrap", true)->UseRealTime();
BENCHMARK_CAPTURE(OneCaller, Python / landlock / session, "landlock", true)->UseRealTime();
BENCHMARK_CAPTURE(ManyCallers, Python / bubblewrap / 4, "bubblewrap", 4)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ManyCallers, Python / landlock / 4, "landlock", 4)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Start, Python / bubblewrap, "bubblewrap")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Start, Python / landlock, "landlock")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
