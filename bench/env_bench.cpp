// How many episodes are played per second without a model: ./dev bench --benchmark_filter=Episodes
//
// Everything but the model is there: the task is made, the calls go through the executor to the
// real tools, the teacher answers, the environment judges.

#include <benchmark/benchmark.h>

#include "envs/desk/desk_teacher.h"
#include "envs/environments.h"
#include "tools/modes.h"

namespace hone {
namespace {

// One thread's own executor, on virtual time.
struct Table {
  explicit Table(const char* name) : loaded(NewBuiltIn(name).value()) {
    timeline = NewVirtualTimeline();
    executor = std::make_unique<Executor>(
        OptionsFor({}, *loaded.environment->tools(), timeline.get()).value(), timeline.get());
  }
  LoadedEnvironment loaded;
  std::unique_ptr<Timeline> timeline;
  std::unique_ptr<Executor> executor;
};

void DeskEpisodes(benchmark::State& state) {
  Table table("desk");
  uint64_t index = static_cast<uint64_t>(state.thread_index()) << 32;
  int64_t right = 0;
  for (auto _ : state) {
    const Task task = table.loaded.tasks->Make(Split::kTrain, index);
    const auto teacher = desk::NewTeacher(task, 0.6, Rng(index)).value();
    const auto played =
        Play(*table.loaded.environment, task, 1, teacher.get(), table.executor.get());
    right += played->success() ? 1 : 0;
    ++index;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["success"] =
      benchmark::Counter(static_cast<double>(right) / static_cast<double>(state.iterations()),
                         benchmark::Counter::kAvgThreads);
}
BENCHMARK(DeskEpisodes)->Threads(1)->Threads(2)->UseRealTime();

void DeskTasks(benchmark::State& state) {
  const auto tasks = NewBuiltIn("desk").value().tasks;
  uint64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(tasks->Make(Split::kTrain, index++));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(DeskTasks);

void ServiceEpisodes(benchmark::State& state) {
  Table table("service");
  uint64_t index = static_cast<uint64_t>(state.thread_index()) << 32;
  for (auto _ : state) {
    const Task task = table.loaded.tasks->Make(Split::kTrain, index++);
    const auto clerk = table.loaded.gold_agent(task).value();
    benchmark::DoNotOptimize(
        Play(*table.loaded.environment, task, 1, clerk.get(), table.executor.get()).ok());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ServiceEpisodes)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
