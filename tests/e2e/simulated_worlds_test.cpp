// What a simulated world promises: the same answers whoever asks first, and the same episodes from
// the journal alone.

#include <algorithm>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "e2e/program.h"
#include "envs/environments.h"
#include "envs/service/shop.h"
#include "simulate/backend_options.h"
#include "support/playing_server.h"

namespace hone {
namespace {

struct Trajectory {
  uint64_t seed = 0;
  std::vector<Call> calls;
};

// What a clerk might do in this shop: look, change, look again; some of it is refused.
Trajectory ClerkIn(uint64_t seed) {
  const service::Shop shop = service::ShopOf(seed);
  const service::Order& order = shop.orders[seed % shop.orders.size()];
  const Json look = Json::Of({{"order", order.id}});
  return {seed,
          {{"find_customer", Json::Of({{"email", order.customer}}), {}},
           {"get_order", look, {}},
           {"change_address", Json::Of({{"order", order.id}, {"city", "Oslo"}}), {}},
           {"get_order", look, {}},
           {"get_product", Json::Of({{"product", order.items[0].product}}), {}}}};
}

// The gold calls of tasks of the desk, whose answers are short enough to be learned in seconds.
std::vector<Trajectory> DeskCalls(uint64_t first, uint64_t count) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  std::vector<Trajectory> trajectories;
  for (uint64_t i = first; i < first + count; ++i) {
    const Task task = desk.tasks->Make(Split::kTrain, i);
    Trajectory& trajectory = trajectories.emplace_back();
    trajectory.seed = *task.metadata.Find("seed")->AsUint64();
    for (const Json& call : task.reward.Find("calls")->AsArray()) {
      trajectory.calls.push_back({call.Find("name")->AsString(), *call.Find("arguments"), {}});
    }
  }
  return trajectories;
}

std::vector<Trajectory> ServiceCalls(uint64_t count) {
  std::vector<Trajectory> trajectories;
  for (uint64_t seed = 0; seed < count; ++seed) trajectories.push_back(ClerkIn(seed));
  return trajectories;
}

class SimulatedWorlds : public testing::Test {
 protected:
  explicit SimulatedWorlds(const std::string& environment = "service")
      : environment_(environment), tools_(NewBuiltIn(environment).value().environment->tools()) {}

  std::string File(const std::string& name) const { return (folder_.path() / name).string(); }

  // A fresh simulator (or the real tools) answers the trajectories, in this order, in so many
  // threads. By seed and place: what came.
  std::map<std::string, std::string> Answers(BackendOptions plan,
                                             const std::vector<Trajectory>& trajectories,
                                             size_t threads, const std::string& journal) {
    plan.journal = File(journal);
    const auto timeline = NewRealTimeline();
    const BackendParts answering = MakeBackendParts(plan, "run", 1, tools_, timeline.get()).value();
    std::vector<std::map<std::string, std::string>> parts(threads);
    auto work = [&](size_t thread) {
      Executor executor(answering.options, timeline.get());
      for (size_t t = thread; t < trajectories.size(); t += threads) {
        const auto sessions = std::make_shared<Sessions>(tools_, trajectories[t].seed);
        for (size_t i = 0; i < trajectories[t].calls.size(); ++i) {
          const Call& call = trajectories[t].calls[i];
          executor.Submit(
              {{"run", std::to_string(trajectories[t].seed), "0", static_cast<int32_t>(i), 0},
               call.name,
               call.arguments,
               sessions});
          const ToolResult result = executor.Next()->result;
          parts[thread][fmt::format("{} {}", trajectories[t].seed, i)] =
              fmt::format("{} {}", CallStatusName(result.status), result.content);
        }
      }
    };
    std::vector<std::thread> running;
    for (size_t i = 0; i < threads; ++i) running.emplace_back(work, i);
    for (std::thread& thread : running) thread.join();
    for (size_t i = 1; i < threads; ++i) parts[0].merge(parts[i]);
    return parts[0];
  }

  // In order, alone; and in another order, by two at once.
  void ExpectSameAnswers(const BackendOptions& plan, std::vector<Trajectory> trajectories) {
    const auto first = Answers(plan, trajectories, 1, "first.sqlite");
    std::reverse(trajectories.begin(), trajectories.end());
    std::swap(trajectories[1], trajectories[6]);
    const auto second = Answers(plan, trajectories, 2, "second.sqlite");
    EXPECT_EQ(first, second);
    EXPECT_GE(first.size(), trajectories.size());
    const auto good = std::count_if(first.begin(), first.end(), [](const auto& answer) {
      return answer.second.starts_with("ok ");
    });
    EXPECT_GT(good, static_cast<int64_t>(first.size() / 2));
  }

  static BackendOptions Simulating() {
    BackendOptions plan{.mode = ToolMode::kSimulate, .simulator = SimulatorOptions{}};
    plan.redaction = RedactionOptions::Default();
    return plan;
  }

  // A small model of the desk, learned from what its real tools say; in the folder "sim".
  void Learn() {
    Answers({.mode = ToolMode::kRecord}, DeskCalls(1000, 400), 1, "real.sqlite");
    const auto journal = Journal::OpenForReading(File("real.sqlite")).value();
    const JournaledCalls recorded = ReadRecordedCalls(journal.get(), tools_).value();
    TrainingReport report;
    const LearnedModel model = TrainLearnedModel(recorded,
                                                 {.layers = 2,
                                                  .width = 48,
                                                  .heads = 2,
                                                  .vocabulary = 400,
                                                  .positions = 256,
                                                  .steps = 150,
                                                  .batch = 16,
                                                  .learning_rate = 5e-3,
                                                  .warmup = 10},
                                                 &report, nullptr)
                                   .value();
    ASSERT_TRUE(model.Save(File("sim")).ok());
  }

  const std::string environment_;
  const std::shared_ptr<const Toolbox> tools_;
  const TemporaryDirectory folder_;
};

TEST_F(SimulatedWorlds, ByChanceTheAnswersAreTheSameWhoeverAsksFirst) {
  ExpectSameAnswers(Simulating(), ServiceCalls(12));
}

TEST_F(SimulatedWorlds, FromAnEndpointTheAnswersAreTheSameWhoeverAsksFirst) {
  ChatServer server(PlayTool);
  BackendOptions plan = Simulating();
  plan.simulator->kind = "endpoint";
  plan.simulator->model.endpoint = {server.url(), "tiny", ""};
  ExpectSameAnswers(plan, ServiceCalls(12));
}

TEST_F(SimulatedWorlds, AnEndpointThatMindsNoSeedIsHeldToWhatItSaidOnce) {
  // Every completion is another one; what was said once is in the journal of completions.
  ChatServer server([](ChatServer::Request request) {
    request.body.Set("seed", request.number);
    return PlayTool(request);
  });
  BackendOptions plan = Simulating();
  plan.simulator->kind = "endpoint";
  plan.simulator->model.endpoint = {server.url(), "tiny", ""};
  plan.simulator->model.completions = File("completions.sqlite");
  ExpectSameAnswers(plan, ServiceCalls(12));
}

class SimulatedDesks : public SimulatedWorlds {
 protected:
  SimulatedDesks() : SimulatedWorlds("desk") {}
};

TEST_F(SimulatedDesks, LearnedOnesAnswerTheSameWhoeverAsksFirst) {
  Learn();
  BackendOptions plan = Simulating();
  plan.simulator->kind = "learned";
  plan.simulator->folder = File("sim");
  ExpectSameAnswers(plan, DeskCalls(0, 30));
}

// Plays with the program, twice: with the simulator, and from the journal alone.
class OfflineEpisodes : public SimulatedWorlds {
 protected:
  using SimulatedWorlds::SimulatedWorlds;

  std::string Play(const std::string& agent, std::vector<std::string> more,
                   const std::string& name) {
    std::vector<std::string> arguments = {"env",     "play",      environment_,
                                          "--agent", agent,       "-n",
                                          "8",       "--journal", File(agent + ".sqlite"),
                                          "-o",      File(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const SubprocessResult result = Hone(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return ReadFile(File(name)).value();
  }

  void ExpectSameOffline(
      const std::vector<std::string>& simulator, const std::function<void()>& go_offline = [] {}) {
    std::map<std::string, std::string> first;
    for (const char* agent : {"gold", "random"}) {
      std::vector<std::string> simulate = {"--mode", "simulate"};
      simulate.insert(simulate.end(), simulator.begin(), simulator.end());
      first[agent] = Play(agent, simulate, "first.jsonl");
      EXPECT_EQ(std::count(first[agent].begin(), first[agent].end(), '\n'), 8);
    }
    EXPECT_NE(first["gold"], first["random"]);
    go_offline();
    for (const char* agent : {"gold", "random"}) {
      EXPECT_EQ(Play(agent, {"--mode", "replay"}, "again.jsonl"), first[agent]);
    }
  }
};

TEST_F(OfflineEpisodes, OfChanceAreTheSame) {
  ExpectSameOffline({"--set", "simulator.kind=random"});
}

TEST_F(OfflineEpisodes, OfAnEndpointAreTheSameWhenItIsGone) {
  auto server = std::make_unique<ChatServer>(PlayTool);
  ExpectSameOffline({"--set", "simulator.kind=endpoint", "--set", "simulator.model=tiny", "--set",
                     "simulator.url=" + server->url()},
                    [&] { server.reset(); });
}

class OfflineDesks : public OfflineEpisodes {
 protected:
  OfflineDesks() : OfflineEpisodes("desk") {}
};

TEST_F(OfflineDesks, OfALearnedSimulatorAreTheSameWhenItsWeightsAreGone) {
  Learn();
  ExpectSameOffline({"--set", "simulator.kind=learned", "--set", "simulator.folder=" + File("sim")},
                    [&] { std::filesystem::remove_all(File("sim")); });
}

}  // namespace
}  // namespace hone
