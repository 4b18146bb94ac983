// How many rewards and steps of environments in Python a second there are, by the number of worker
// processes: programs as users write them, with the package `hone` and the system's interpreter.
//
//   ./dev bench --benchmark_filter=Workers
//
// `per_s` counts trajectories that were scored, and steps; `per_cpu_s` divides by the processor
// time of this program and its workers instead, their start included, and so says the same on a
// machine that has other work. The trees are groups of eight trajectories of two turns and a call,
// 600 tokens in all; the environments count and answer.

#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>

#include <sys/resource.h>

#include "base/file.h"
#include "envs/command_env.h"
#include "rewards/command_rewarder.h"

namespace hone {
namespace {

constexpr char kReward[] = R"(
import hone

@hone.reward
def score(task, trajectory):
    called = [call.name for call in trajectory.calls]
    return (trajectory.answer == task.answer) - 0.1 * (len(called) > 1)

hone.run()
)";

constexpr char kEnvironment[] = R"(
import hone

@hone.environment
class Guess:
    def reset(self, task):
        self.number, self.tries = task.metadata["number"], 0
        return "Which number?"

    def step(self, action):
        self.tries += 1
        return {"reply": "No.", "reward": action.answer == self.number, "state": {"tries": self.tries}}

hone.run()
)";

Node PolicyTurn(NodeId parent, size_t tokens) {
  Node node;
  node.parent = parent;
  node.author = Author::kPolicy;
  for (size_t i = 0; i < tokens; ++i) {
    node.tokens.push_back(static_cast<TokenId>(17 * i % 4096));
    node.logprobs.push_back(-0.001f * static_cast<float>(i % 997));
    node.entropies.push_back(0.002f * static_cast<float>(i % 499));
  }
  return node;
}

// Eight trajectories from one prompt, each with a call, its result and an answer.
Tree Group(int number) {
  Tree tree;
  tree.task.id = "task-" + std::to_string(number);
  tree.task.messages =
      Json::Array{Json::Of({{"role", "user"}, {"content", "How many lamps does the shop have?"}})};
  tree.task.answer = "4";
  Node prompt;
  prompt.author = Author::kUser;
  prompt.tokens.assign(120, 5);
  tree.nodes.push_back(prompt);
  for (int leaf = 0; leaf < 8; ++leaf) {
    Node call = PolicyTurn(0, 35);
    call.calls = {{"stock", Json::Of({{"item", "lamp"}}), {0, 30}}};
    tree.nodes.push_back(std::move(call));
    Node result;
    result.parent = static_cast<NodeId>(tree.nodes.size()) - 1;
    result.author = Author::kTool;
    result.tokens.assign(15, 6);
    result.results = {{.call = 0, .content = R"({"item": "lamp", "pieces": 4})"}};
    tree.nodes.push_back(std::move(result));
    tree.nodes.push_back(PolicyTurn(static_cast<NodeId>(tree.nodes.size()) - 1, 10));
    tree.leaves.push_back({.node = static_cast<NodeId>(tree.nodes.size()) - 1,
                           .ending = Ending::kAnswered,
                           .final_state = Json::Of({{"answer", leaf % 2 == 0 ? "4" : "5"}})});
  }
  return tree;
}

// Processor time of this program and of the workers that have ended.
double UsedSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    CHECK(::getrusage(who, &used) == 0, "getrusage");
    for (const timeval& time : {used.ru_utime, used.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
  }
  return seconds;
}

void CountRates(benchmark::State& state, int64_t done, double used_seconds) {
  const auto count = static_cast<double>(done);
  state.counters["per_s"] = benchmark::Counter(count, benchmark::Counter::kIsRate);
  state.counters["per_cpu_s"] = count / used_seconds;
}

std::vector<std::string> Program(const TemporaryDirectory& folder, const char* source) {
  const std::string file = (folder.path() / "program.py").string();
  CHECK(WriteFileAtomic(file, source).ok(), "no temporary directory");
  return {"/usr/bin/python3", file};
}

void WorkersReward(benchmark::State& state) {
  const TemporaryDirectory folder;
  const double before = UsedSeconds();
  auto rewarder = NewCommandRewarder({.command = Program(folder, kReward),
                                      .deadline = std::chrono::minutes(1),
                                      .processes = state.range(0)})
                      .value();
  std::vector<Tree> trees;
  std::vector<const Tree*> all;
  for (int i = 0; i < 64; ++i) trees.push_back(Group(i));
  for (const Tree& tree : trees) all.push_back(&tree);
  CHECK(rewarder->ScoreTrees(all, {}).ok(), "the first trees wait for the interpreters");
  int64_t scored = 0;
  for (auto _ : state) {
    const auto scores = rewarder->ScoreTrees(all, {}).value();
    for (const std::vector<Score>& tree : scores) {
      for (const Score& score : tree) scored += score.terms.at(0).value.has_value() ? 1 : 0;
    }
  }
  CHECK(scored == state.iterations() * 64 * 8, "a trajectory was not scored");
  rewarder = nullptr;  // its workers have ended and can be counted
  CountRates(state, scored, UsedSeconds() - before);
}
BENCHMARK(WorkersReward)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->Unit(benchmark::kMillisecond);

// As many episodes at a time as a training step has, each stepped by a thread of its own.
void WorkersStep(benchmark::State& state) {
  constexpr int kEpisodes = 16, kSteps = 50;
  const TemporaryDirectory folder;
  CommandEnvOptions options;
  options.command = Program(folder, kEnvironment);
  options.processes = state.range(0);
  const double before = UsedSeconds();
  auto environment = NewCommandEnvironment(std::make_shared<const Toolbox>(), options);
  Task task;
  task.id = "t";
  task.metadata = Json::Of({{"number", "7"}});
  std::vector<std::unique_ptr<Episode>> episodes;
  for (uint64_t i = 0; i < kEpisodes; ++i) episodes.push_back(environment->Open(task, i).value());
  int64_t steps = 0;
  for (auto _ : state) {
    std::vector<std::jthread> threads;
    for (const std::unique_ptr<Episode>& episode : episodes) {
      threads.emplace_back([&episode] {
        AgentTurn turn;
        turn.answer = "3";
        for (int i = 0; i < kSteps; ++i) CHECK(!episode->Step(turn).ending, "an episode failed");
      });
    }
    threads.clear();
    steps += kEpisodes * kSteps;
  }
  episodes.clear();
  environment = nullptr;
  CountRates(state, steps, UsedSeconds() - before);
}
BENCHMARK(WorkersStep)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
