#include <bit>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include <gtest/gtest.h>

#include "base/file.h"
#include "rollout/remote_engine.h"
#include "support/desk_rollout.h"
#include "support/loopback_server.h"

namespace hone {
namespace {

std::string Ok(const Json& body) { return LoopbackServer::Reply(200, "", DumpJson(body)); }

constexpr char kAgain[] = "Retry-After: 0\r\n";

Json OneModel() {
  return Json::Of({{"data", Json::Array{Json::Of({{"id", "desk"}, {"weights", "abc"}})}}});
}

// A server whose engine is the policy's own.
class EngineServer {
 public:
  // `change` may answer a request for a turn otherwise; no text: it does not.
  explicit EngineServer(DeskPolicy* desk,
                        std::function<std::string(int number, Json* answer)> change = {})
      : desk_(desk),
        change_(std::move(change)),
        server_([this](const LoopbackRequest& request) { return Answer(request); }) {}

  std::string url() const { return server_.url("/v1"); }
  int turns() const { return turns_; }
  const LoopbackServer& server() const { return server_; }

 private:
  std::string Answer(const LoopbackRequest& request) {
    if (request.path == "/v1/models") return Ok(OneModel());
    const std::lock_guard<std::mutex> lock(mutex_);
    const Json asked = ParseJson(request.body).value();
    Json answer = Drawn(asked);
    const std::string other = change_ ? change_(turns_++, &answer) : "";
    return other.empty() ? Ok(answer) : other;
  }

  Json Drawn(const Json& asked) {
    SampleRequest turn;
    for (const Json& token : asked.Find("prompt")->AsArray()) {
      turn.prompt.push_back(static_cast<TokenId>(token.AsInteger()));
    }
    turn.max_new = asked.Find("max_tokens")->AsInteger();
    turn.sampling.temperature = static_cast<float>(asked.Find("temperature")->AsDouble());
    turn.sampling.forbidden_set = asked.Find("logit_bias") == nullptr ? 0 : 1;
    for (const Json& token : asked.Find("stop_token_ids")->AsArray()) {
      turn.stop_tokens.push_back(static_cast<TokenId>(token.AsInteger()));
    }
    turn.stop = desk_->codec().StopFunction();
    turn.rng = Rng(static_cast<uint64_t>(asked.Find("seed")->AsInteger()));
    const SampleResult drawn = desk_->engine().Sample({&turn, 1}).value()[0];
    Json::Array logprobs;
    for (const float logprob : drawn.logprobs) logprobs.emplace_back(double{logprob});
    return Json::Of(
        {{"choices",
          Json::Array{Json::Of({{"token_ids", Json::ArrayOf(drawn.tokens)},
                                {"logprobs", Json::Of({{"token_logprobs", std::move(logprobs)}})},
                                {"finish_reason", drawn.stopped ? "stop" : "length"}})}}});
  }

  DeskPolicy* const desk_;
  const std::function<std::string(int, Json*)> change_;
  std::mutex mutex_;
  int turns_ = 0;
  LoopbackServer server_;  // last: its threads use the rest
};

std::unique_ptr<RemoteEngine> Open(const std::string& url, int64_t concurrent = 8,
                                   int64_t retries = 4) {
  auto remote = RemoteEngine::Open({.on = true,
                                    .url = url,
                                    .model = "",
                                    .key_variable = "",
                                    .concurrent = concurrent,
                                    .deadline = 30,
                                    .retries = retries,
                                    .push_folder = ""});
  CHECK(remote.ok(), remote.error().message());
  return *std::move(remote);
}

DeskSetup Through(const RemoteEngine* remote, DeskPolicy* desk, const Sampling& sampling,
                  std::function<bool()> stop = nullptr) {
  DeskSetup setup;
  setup.sampling = sampling;
  setup.options.drawer = [=] {
    return NewRemoteDrawer(remote, desk->Make(sampling), {.stop = stop});
  };
  return setup;
}

// Who draws elsewhere tells no entropies.
std::vector<Tree> WithoutEntropies(std::vector<Tree> trees) {
  for (Tree& tree : trees) {
    for (Node& node : tree.nodes) node.entropies.clear();
  }
  return Unmeasured(std::move(trees));
}

constexpr Sampling kDrawn = {.temperature = 1.4f, .forbidden_set = 1};

TEST(RemoteDrawer, GreedyTreesAreThoseOfTheEngine) {
  DeskPolicy desk({.tasks = 4, .steps = 30});
  const Sampling greedy = {.temperature = 0, .forbidden_set = 1};
  DeskSetup here;
  here.sampling = greedy;
  const std::vector<Tree> own = Roll(&desk, desk.Requests(2), here).trees;
  EngineServer server(&desk);
  const auto remote = Open(server.url());
  const RolloutResult played = Roll(&desk, desk.Requests(2), Through(remote.get(), &desk, greedy));
  EXPECT_EQ(WithoutEntropies(played.trees), WithoutEntropies(own));
  EXPECT_GT(played.counts.turns, 8) << "episodes of several turns";
  EXPECT_EQ(remote->retries(), 0);
  EXPECT_EQ(remote->weights(), "abc");
}

TEST(RemoteDrawer, DrawnTreesSayWhatTheEngineSaysAndDoNotHangOnTheOrderOfAnswers) {
  DeskPolicy desk({.tasks = 4, .steps = 10});
  EngineServer server(&desk);
  const auto one = Open(server.url(), 1), many = Open(server.url(), 8);
  const std::vector<Tree> trees =
      Roll(&desk, desk.Requests(3), Through(one.get(), &desk, kDrawn)).trees;
  const std::vector<Tree> again =
      Roll(&desk, desk.Requests(3), Through(many.get(), &desk, kDrawn)).trees;
  EXPECT_EQ(Unmeasured(trees), Unmeasured(again));
  const std::vector<TreeLogprobs> scores = desk.engine().LogProbs(trees);
  int64_t tokens = 0;
  for (size_t i = 0; i < trees.size(); ++i) {
    for (size_t n = 0; n < trees[i].nodes.size(); ++n) {
      const Node& node = trees[i].nodes[n];
      for (size_t t = 0; t < node.logprobs.size(); ++t, ++tokens) {
        EXPECT_EQ(std::bit_cast<uint32_t>(node.logprobs[t]),
                  std::bit_cast<uint32_t>(scores[i][n].logprobs[t]));
      }
    }
  }
  EXPECT_GT(tokens, 50);
}

TEST(RemoteDrawer, WhatIsRefusedOrBrokenOffIsAskedForAgain) {
  DeskPolicy desk({.tasks = 2});
  EngineServer plain(&desk);
  const auto expected =
      Roll(&desk, desk.Requests(2), Through(Open(plain.url()).get(), &desk, kDrawn)).trees;
  EngineServer server(&desk, [](int number, Json*) -> std::string {
    switch (number) {
      case 0: return LoopbackServer::Reply(429, kAgain, "{}");
      case 1: return LoopbackServer::Reply(503, kAgain, "{}");
      default: return "";
    }
  });
  const auto remote = Open(server.url(), 1);
  const auto begun = std::chrono::steady_clock::now();
  const auto trees = Roll(&desk, desk.Requests(2), Through(remote.get(), &desk, kDrawn)).trees;
  EXPECT_EQ(Unmeasured(trees), Unmeasured(expected));
  EXPECT_EQ(remote->retries(), 2);
  // A server that asks for no pause gets half a second, and a whole one then.
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(1500));
}

TEST(RemoteDrawer, AnAnswerThatIsCutOffIsAskedForAgain) {
  DeskPolicy desk({.tasks = 1});
  EngineServer server(&desk, [](int number, Json*) -> std::string {
    return number == 0 ? "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{\"choices\"" : "";
  });
  const auto remote = Open(server.url(), 1);
  EXPECT_EQ(Roll(&desk, desk.Requests(1), Through(remote.get(), &desk, kDrawn)).trees.size(), 1u);
  EXPECT_EQ(remote->retries(), 1);
}

TEST(RemoteDrawer, AServerThatIsNotFitEndsTheRolloutWithASentence) {
  DeskPolicy desk({.tasks = 2});
  const auto expect = [&](std::function<std::string(int, Json*)> change, const std::string& part) {
    EngineServer server(&desk, std::move(change));
    const auto remote = Open(server.url(), 4, 1);
    const auto played = TryRoll(&desk, desk.Requests(2), Through(remote.get(), &desk, kDrawn));
    ASSERT_FALSE(played.ok());
    EXPECT_NE(played.error().message().find(part), std::string::npos) << played.error().message();
  };
  expect([](int, Json*) { return LoopbackServer::Reply(404, "", "no such model"); },
         "answers 404: no such model");
  expect([](int, Json*) { return LoopbackServer::Reply(500, kAgain, "boom"); },
         "answers 500: boom (2 attempts)");
  expect(
      [](int, Json* answer) {
        Json& choice = answer->AsObject()[0].second.AsArray()[0];
        choice.Set("token_ids", Json());
        return std::string();
      },
      "no token ids");
}

TEST(RemoteDrawer, AStopEndsTheWaitForASilentServer) {
  DeskPolicy desk({.tasks = 1});
  std::atomic<bool> asked = false;
  LoopbackServer silent([&](const LoopbackRequest& request) -> std::string {
    if (request.path == "/v1/models") return Ok(OneModel());
    asked = true;
    return "";
  });
  const auto remote = Open(silent.url("/v1"));
  const auto played = TryRoll(&desk, desk.Requests(2),
                              Through(remote.get(), &desk, kDrawn, [&] { return asked.load(); }));
  ASSERT_FALSE(played.ok());
  EXPECT_EQ(played.error().code(), ErrorCode::kStopped);
}

TEST(RemoteEngineTest, OpeningSaysWhatIsMissing) {
  const auto error = [](const RemoteOptions& options) {
    const auto opened = RemoteEngine::Open(options);
    return opened.ok() ? std::string() : opened.error().message();
  };
  RemoteOptions options{.on = true,
                        .url = "http://127.0.0.1:1/v1",
                        .model = "",
                        .key_variable = "",
                        .push_folder = ""};
  EXPECT_NE(error(options).find("nobody answers at policy.url"), std::string::npos);
  options.key_variable = "HONE_NO_SUCH_VARIABLE";
  EXPECT_NE(error(options).find("HONE_NO_SUCH_VARIABLE"), std::string::npos);
  options.key_variable = "";
  LoopbackServer two([](const LoopbackRequest&) {
    return Ok(Json::Of({{"data", Json::Array{Json::Of({{"id", "a"}}), Json::Of({{"id", "b"}})}}}));
  });
  options.url = two.url("/v1");
  EXPECT_NE(error(options).find("2 models"), std::string::npos);
  options.model = "b";
  EXPECT_EQ(error(options), "");
  LoopbackServer locked(
      [](const LoopbackRequest&) { return LoopbackServer::Reply(401, "", "no"); });
  options.url = locked.url("/v1");
  EXPECT_NE(error(options).find("policy.key_variable"), std::string::npos);
  TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "thesis.tex", "years").ok());
  options.push_folder = directory.path().string();
  EXPECT_NE(error(options).find("policy.push_folder"), std::string::npos);
}

TEST(RemoteEngineTest, TheKeyIsNotShown) {
  LoopbackServer locked(
      [](const LoopbackRequest&) { return LoopbackServer::Reply(401, "", "no key key"); });
  ASSERT_EQ(::setenv("HONE_TEST_KEY", "key", 1), 0);  // it is in what stands for it
  const auto opened = RemoteEngine::Open({.on = true,
                                          .url = locked.url("/v1"),
                                          .model = "",
                                          .key_variable = "HONE_TEST_KEY",
                                          .push_folder = ""});
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("no [key] [key]"), std::string::npos);
}

TEST(RemoteEngineTest, WeightsAreLoadedByTheFolderThatIsNamed) {
  std::string asked;
  int updates = 0;
  LoopbackServer server([&](const LoopbackRequest& request) {
    if (request.path == "/v1/models") return Ok(OneModel());
    EXPECT_EQ(request.path, "/update_weights_from_disk");
    asked = request.body;
    if (++updates == 1) return LoopbackServer::Reply(503, kAgain, "later");
    const bool fits = updates == 2;
    return LoopbackServer::Reply(fits ? 200 : 400, "",
                                 fits ? R"({"success": true, "message": "", "weights": "ab12"})"
                                      : R"({"success": false, "message": "another model"})");
  });
  const auto remote = Open(server.url("/v1"));
  EXPECT_TRUE(remote->Push("/tmp/weights", 3, nullptr).ok());
  EXPECT_EQ(asked, R"({"model_path":"/tmp/weights","weight_version":"3"})");
  EXPECT_EQ(remote->retries(), 1);
  DeskPolicy desk({.tasks = 1});
  EXPECT_EQ(remote->MannerOf(desk.Make(kDrawn)).pushed, "ab12");
  const auto refused = remote->Push("/tmp/weights", 4, nullptr);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("another model"), std::string::npos);
}

}  // namespace
}  // namespace hone
