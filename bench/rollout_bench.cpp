// What a rollout costs: against plain decoding, and against one whose episodes wait for each other
// after every turn.

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "rollout/chains.h"
#include "rollout/strategies.h"
#include "rollout/tree_grpo.h"
#include "support/desk_policy.h"
#include "support/late_responder.h"

namespace hone {
namespace {

constexpr int64_t kLive = 24;

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Log-normal: median 100 ms, 99th percentile 3 s. The same for the same call, whoever asks.
std::optional<Clock::Duration> HeavyTailed(const CallAttempt& attempt) {
  const double sigma = std::log(30.0) / 2.3263;
  Rng rng = Rng(5).Split(attempt.identity.Text());
  const double seconds = 0.1 * std::exp(sigma * rng.NextNormal());
  return std::chrono::duration_cast<Clock::Duration>(std::chrono::duration<double>(seconds));
}

std::unique_ptr<Executor> SlowTools(const Environment& environment, Timeline* timeline) {
  ExecutorOptions options = OptionsFor({}, *environment.tools(), timeline).value();
  options.responders[0] =
      std::make_shared<LateResponder>(options.responders[0], HeavyTailed, timeline);
  return std::make_unique<Executor>(std::move(options), timeline);
}

// What is compared with: as many episodes at a time, but the next turn is drawn when every call of
// the last one has been answered. The draws are those of Rollout, and so are the episodes.
class Lockstep {
 public:
  Lockstep(const Environment& environment, const Policy& policy, Executor* executor)
      : environment_(environment), policy_(policy), executor_(executor) {}

  int64_t Run(const std::vector<GroupRequest>& requests) {
    std::vector<Live> all;
    for (const GroupRequest& request : requests) {
      for (int64_t leaf = 0; leaf < request.leaves; ++leaf) {
        all.push_back({.request = &request, .path = std::to_string(leaf)});
      }
    }
    for (size_t begin = 0; begin < all.size(); begin += kLive) {
      const size_t end = std::min<size_t>(all.size(), begin + kLive);
      RunBatch(std::span(all).subspan(begin, end - begin));
    }
    return sampled_;
  }

 private:
  struct Live {
    const GroupRequest* request = nullptr;
    std::string path;
    std::unique_ptr<Episode> episode = nullptr;
    std::shared_ptr<Sessions> sessions = nullptr;
    Sampler::Id sequence = -1;
    Node turn = {};
    AgentTurn agent = {};
    int32_t turns = 0;
    int64_t tokens = 0;
    bool over = false;
  };

  void RunBatch(std::span<Live> batch) {
    const auto sampler = policy_.engine().NewSampler();
    for (Live& live : batch) {
      live.episode =
          environment_.Open(live.request->task, Rng(live.request->seed).Split("episode").NextU64())
              .value();
      live.sessions =
          std::make_shared<Sessions>(environment_.tools(), live.episode->opening().session_seed);
      std::vector<TokenId> prompt;
      for (const Node& node : policy_.codec().Prompt(live.episode->opening()).value()) {
        prompt.insert(prompt.end(), node.tokens.begin(), node.tokens.end());
      }
      live.tokens = static_cast<int64_t>(prompt.size());
      live.sequence = sampler->Start(std::move(prompt));
    }
    while (std::any_of(batch.begin(), batch.end(), [](const Live& live) { return !live.over; })) {
      DrawTurns(batch, sampler.get());
      Call(batch);
      for (Live& live : batch) {
        if (!live.over) GoOn(&live, sampler.get());
      }
    }
  }

  void DrawTurns(std::span<Live> batch, Sampler* sampler) {
    std::map<Sampler::Id, Live*> drawing;
    for (Live& live : batch) {
      if (live.over) continue;
      const Rng rng = Rng(live.request->seed).Split("trajectory").Split(live.path);
      CHECK(
          sampler->Generate(live.sequence, policy_.RequestFor(rng, sampler->Tokens(live.sequence)))
              .ok());
      drawing[live.sequence] = &live;
    }
    while (!sampler->idle()) {
      for (const Sampler::Id id : sampler->Step()) {
        Live& live = *drawing.at(id);
        SampleResult drawn = sampler->Take(id);
        sampled_ += static_cast<int64_t>(drawn.tokens.size());
        live.tokens += static_cast<int64_t>(drawn.tokens.size());
        const TurnEnd end = drawn.stopped ? TurnEnd::kEnded : TurnEnd::kCut;
        live.turn = policy_.NodeOf(std::move(drawn), {});
        live.agent = policy_.codec().ReadTurn(end, &live.turn);
        ++live.turns;
      }
    }
  }

  void Call(std::span<Live> batch) {
    std::map<uint64_t, std::pair<Live*, size_t>> tickets;
    for (Live& live : batch) {
      if (live.over) continue;
      live.agent.results.resize(live.agent.calls.size());
      for (size_t i = 0; i < live.agent.calls.size(); ++i) {
        const hone::Call& call = live.agent.calls[i];
        const CallIdentity identity{"rollout", live.request->task.id, live.path, live.turns - 1,
                                    static_cast<int32_t>(i)};
        tickets[executor_->Submit({identity, call.name, call.arguments, live.sessions})] = {&live,
                                                                                            i};
      }
    }
    while (!tickets.empty()) {
      CallOutcome outcome = executor_->Next().value();
      const auto [live, call] = tickets.at(outcome.ticket);
      tickets.erase(outcome.ticket);
      live->agent.results[call] = std::move(outcome.result);
    }
  }

  void GoOn(Live* live, Sampler* sampler) {
    live->agent.context_tokens = live->tokens;
    const EnvironmentTurn environment = live->episode->Step(live->agent);
    live->over = environment.ending.has_value();
    if (live->over) return;
    const Node next = policy_.codec().After(live->turn, live->agent, environment).value();
    live->tokens += static_cast<int64_t>(next.tokens.size());
    live->over = live->tokens >= policy_.engine().config().max_positions;
    if (!live->over) sampler->Append(live->sequence, next.tokens);
  }

  const Environment& environment_;
  const Policy& policy_;
  Executor* const executor_;
  int64_t sampled_ = 0;
};

DeskPolicy& Desk() {
  static DeskPolicy desk({.tasks = 24,
                          .least_calls = 1,
                          .steps = 150,
                          .width = 128,
                          .layers = 4,
                          .learning_rate = 3e-3,
                          .threads = 2});
  return desk;
}

// 12 tasks of two calls and more, eight times each, 24 at a time, by a model that costs next to
// nothing: this is about waiting.
void BM_SlowTools(benchmark::State& state) {
  DeskPolicy desk({.tasks = 12, .least_calls = 2, .steps = 200, .threads = 1});
  const std::vector<GroupRequest> requests = desk.Requests(8);
  const Policy policy = desk.Make();
  const auto clock = NewRealClock();
  for (auto _ : state) {
    const auto timeline = NewRealTimeline();
    const auto executor = SlowTools(desk.environment(), timeline.get());
    const auto chains = NewChains();
    const Rollout rollout =
        Rollout::New({.max_live = kLive}, &desk.environment(), policy, chains.get(), executor.get())
            .value();
    const Clock::Duration began = clock->Now();
    const RolloutResult result = rollout.Run(requests).value();
    const double together = Seconds(clock->Now() - began);

    const Clock::Duration lockstep_began = clock->Now();
    Lockstep lockstep(desk.environment(), policy, executor.get());
    const int64_t sampled = lockstep.Run(requests);
    const double apart = Seconds(clock->Now() - lockstep_began);
    CHECK(sampled == result.counts.sampled_tokens, "both must play the same episodes");
    state.SetIterationTime(together);
    state.counters["rollout_s"] = together;
    state.counters["lockstep_s"] = apart;
    state.counters["times"] = apart / together;
    state.counters["sampling_s"] = result.counts.seconds.sampling;
    state.counters["calls"] = static_cast<double>(result.counts.calls);
  }
}
BENCHMARK(BM_SlowTools)->UseManualTime()->Iterations(1)->Unit(benchmark::kSecond);

// What each strategy makes of 12 groups of 8 (Tree-GRPO: 9), at tasks of two calls and more.
void BM_Strategies(benchmark::State& state) {
  DeskPolicy desk({.tasks = 12, .least_calls = 2, .steps = 200, .threads = 1});
  const std::string& name = BuiltInStrategies()[static_cast<size_t>(state.range(0))].name;
  const auto strategy =
      name == "tree-grpo" ? NewTreeGrpo({.trees = 3}).value() : NewStrategy(name).value();
  const auto timeline = NewVirtualTimeline();
  Executor executor(OptionsFor({}, *desk.environment().tools(), timeline.get()).value(),
                    timeline.get());
  const Rollout rollout =
      Rollout::New({}, &desk.environment(), desk.Make({.temperature = 1.4f, .forbidden_set = 1}),
                   strategy.get(), &executor)
          .value();
  RolloutCounts counts;
  for (auto _ : state) counts = rollout.Run(desk.Requests(8))->counts;
  state.SetLabel(name);
  const auto leaves = static_cast<double>(counts.leaves);
  state.counters["leaves/group"] = leaves / static_cast<double>(counts.groups);
  state.counters["sampled/leaf"] = static_cast<double>(counts.sampled_tokens) / leaves;
  state.counters["computed/leaf"] = static_cast<double>(counts.computed_tokens) / leaves;
  state.counters["shared%"] = 100 * counts.SharedShare();
}
BENCHMARK(BM_Strategies)->DenseRange(0, 3)->Iterations(1)->Unit(benchmark::kMillisecond);

// 24 groups of so many, with the desk's own tools.
void BM_DeskRollout(benchmark::State& state) {
  DeskPolicy& desk = Desk();
  const std::vector<GroupRequest> requests = desk.Requests(state.range(0));
  const auto timeline = NewRealTimeline();
  Executor executor(OptionsFor({}, *desk.environment().tools(), timeline.get()).value(),
                    timeline.get());
  const auto chains = NewChains();
  const Rollout rollout =
      Rollout::New({}, &desk.environment(), desk.Make(), chains.get(), &executor).value();
  RolloutCounts counts;
  for (auto _ : state) counts.Add(rollout.Run(requests)->counts);
  const RolloutSeconds& s = counts.seconds;
  state.counters["sampled/s"] = static_cast<double>(counts.sampled_tokens) / s.total;
  state.counters["computed/s"] = static_cast<double>(counts.computed_tokens) / s.total;
  state.counters["sampling%"] = 100 * s.sampling / s.total;
  state.counters["waiting%"] = 100 * s.waiting / s.total;
  state.counters["environment%"] = 100 * s.environment / s.total;
  state.counters["text%"] = 100 * s.text / s.total;
  state.counters["rest%"] = 100 * (1 - (s.sampling + s.waiting + s.environment + s.text) / s.total);
}
BENCHMARK(BM_DeskRollout)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();

// The same prompts, as many samples, each as long as the mean trajectory's turns: no tools, no
// text.
void BM_PlainDecode(benchmark::State& state) {
  DeskPolicy& desk = Desk();
  std::vector<SampleRequest> requests;
  for (const GroupRequest& group : desk.Requests(state.range(0))) {
    std::vector<TokenId> prompt;
    const auto episode = desk.environment().Open(group.task, 1).value();
    for (const Node& node : desk.codec().Prompt(episode->opening()).value()) {
      prompt.insert(prompt.end(), node.tokens.begin(), node.tokens.end());
    }
    for (int64_t leaf = 0; leaf < group.leaves; ++leaf) {
      SampleRequest request;
      request.prompt = prompt;
      request.max_new = 40;
      request.sampling.forbidden_set = 1;
      request.rng = Rng(group.seed).Split(static_cast<uint64_t>(leaf));
      requests.push_back(std::move(request));
    }
  }
  const int64_t before = desk.engine().tokens_computed();
  int64_t sampled = 0;
  for (auto _ : state) {
    const auto results = desk.engine().Sample(requests).value();
    for (const SampleResult& result : results)
      sampled += static_cast<int64_t>(result.tokens.size());
  }
  state.counters["sampled/s"] =
      benchmark::Counter(static_cast<double>(sampled), benchmark::Counter::kIsRate);
  state.counters["computed/s"] = benchmark::Counter(
      static_cast<double>(desk.engine().tokens_computed() - before), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_PlainDecode)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
