// Training over HTTP: hone serve --train as a program, and its clients.

#include <algorithm>
#include <cstdlib>

#include "e2e/serving.h"
#include "engine/engine.h"
#include "learn/losses/token_loss.h"
#include "serve/response.h"
#include "support/training_client.h"

namespace hone {
namespace {

// What a client of a served program does.
struct TrainingProgram {
  ServedProgram served;
  std::string root;  // of the API

  explicit TrainingProgram(const std::string& model, std::vector<std::string> more)
      : served(model, std::move(more)),
        root(served.url().substr(0, served.url().size() - 3) + "/api/v1/") {}

  HttpResponse Ask(const std::string& name, const std::string& body,
                   std::vector<std::pair<std::string, std::string>> headers = {}) const {
    HttpRequest request = served.Request("");
    request.url = root + name;
    request.method = "POST";
    request.body = body;
    request.headers = std::move(headers);
    const auto response = HttpFetch(request);
    EXPECT_TRUE(response.ok());
    return response.ok() ? *response : HttpResponse();
  }
  Json Post(const std::string& name, const Json& body) const {
    const HttpResponse response = Ask(name, DumpJson(body));
    EXPECT_EQ(response.status, 200) << response.body;
    const auto json = ParseJson(response.body);
    return json.ok() ? *json : Json();
  }
  Json Do(const std::string& name, const Json& body) const {
    const Json taken = Post(name, body);
    while (true) {
      Json outcome = Post("retrieve_future", Json::Of({{"request_id", *taken.Find("request_id")}}));
      const Json* type = outcome.Find("type");
      if (type == nullptr || *type != Json("try_again")) return outcome;
    }
  }
};

SubprocessResult RunExample(const ServedProgram& served, const std::string& key = "none") {
  SubprocessOptions options;
  const std::string url = served.url().substr(0, served.url().size() - 3);
  const char* path = std::getenv("PATH");
  options.environment = {"HONE_URL=" + url, "HONE_API_KEY=" + key,
                         std::string("PATH=") + (path == nullptr ? "/usr/bin" : path)};
  return RunSubprocess({"python3", HONE_SOURCE_DIR "/examples/serve/train.py", "3"}, "",
                       std::chrono::seconds(120), options)
      .value();
}

std::string LineAfter(const std::string& text, const std::string& begin) {
  const size_t at = text.find(begin);
  EXPECT_NE(at, std::string::npos) << text;
  if (at == std::string::npos) return "";
  const size_t from = at + begin.size();
  return text.substr(from, text.find('\n', from) - from);
}

// The steps of examples/serve/train.py, without any HTTP.
std::string WeightsOfTheExample(const std::string& model) {
  const auto engine = Engine::Open(model, {.threads = 1}).value();
  const std::vector<TokenId> prompt = {11, 22, 33, 44};
  for (uint64_t step = 0; step < 3; ++step) {
    std::vector<SampleRequest> requests(16);
    for (size_t i = 0; i < 16; ++i) {
      requests[i].prompt = prompt;
      requests[i].max_new = 16;
      requests[i].rng = ChoiceStream(step, static_cast<int64_t>(i));
    }
    const auto drawn = engine->Sample(requests).value();
    std::vector<double> rewards;
    double mean = 0;
    for (const SampleResult& sample : drawn) {
      const auto small = std::count_if(sample.tokens.begin(), sample.tokens.end(),
                                       [](TokenId token) { return token < 2500; });
      rewards.push_back(static_cast<double>(small) / static_cast<double>(sample.tokens.size()));
      mean += rewards.back();
    }
    mean /= 16;
    std::vector<WeighedSequence> data;
    for (size_t i = 0; i < 16; ++i) {
      WeighedSequence& one = data.emplace_back();
      one.tokens = prompt;
      one.tokens.insert(one.tokens.end(), drawn[i].tokens.begin(), drawn[i].tokens.end());
      one.weights.assign(one.tokens.size() - 1, 1.0f);
      one.sampled.assign(prompt.size() - 1, 0.0f);
      one.advantages = one.sampled;
      one.sampled.insert(one.sampled.end(), drawn[i].logprobs.begin(), drawn[i].logprobs.end());
      one.advantages.resize(one.tokens.size() - 1, static_cast<float>(rewards[i] - mean));
    }
    const TokenLossReport report =
        AccumulateTokenLoss(TokenLossNamed("importance_sampling", {}).value(), data, engine.get());
    EXPECT_EQ(report.ratio_one, report.tokens);
    engine->Step({.learning_rate = 0.02, .eps = 1e-12, .max_norm = 0});
  }
  return engine->WeightsHash();
}

TEST(ServeTrain, TheExampleTakesTheStepsOfTheEngineAndWhatItSavesIsAModel) {
  TemporaryDirectory directory;
  const std::string model = FreshModel(directory.path());
  const std::string saved = (directory.path() / "saved").string();
  const std::string expected = WeightsOfTheExample(model);
  std::string path;
  for (int twice = 0; twice < 2; ++twice) {
    TrainingProgram program(model, {"--train", "--save-to", saved});
    const SubprocessResult ran = RunExample(program.served);
    ASSERT_EQ(ran.exit_code, 0) << ran.standard_error;
    EXPECT_EQ(LineAfter(ran.standard_output, "weights "), expected);
    EXPECT_NE(ran.standard_output.find("step 3: reward"), std::string::npos);
    path = LineAfter(ran.standard_output, "saved as tinker://");
    const Json health = program.served.Health();
    EXPECT_EQ(health.Find("training")->Find("steps")->AsInteger(), 3);
    EXPECT_EQ(health.Find("training")->Find("weights")->AsString(), expected);
    EXPECT_EQ(program.served.End(), 0);
  }
  const std::string folder = saved + "/" + path;
  {
    ServedProgram served(folder);
    EXPECT_EQ(served.Answer("/models/" + served.name()).Find("weights")->AsString(), expected);
    EXPECT_EQ(served.End(), 0);
  }
  const SubprocessResult drawn = Hone({"generate", folder, "Hello", "--max-new", "4"});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.standard_error;
  const std::string out = (directory.path() / "exported").string();
  const SubprocessResult exported = Hone({"export", folder, out, "--dialect", "hermes"});
  EXPECT_EQ(exported.exit_code, 0) << exported.standard_error;
  EXPECT_TRUE(std::filesystem::exists(out + "/model.safetensors"));
}

// An agent stays what it was: saved weights are served with its dialect and its tools.
TEST(ServeTrain, WhatIsSavedOfAnAgentIsTheAgent) {
  TemporaryDirectory directory;
  const std::string run = TaughtRun(directory.path());
  const std::string saved = (directory.path() / "saved").string();
  std::string path;
  {
    TrainingProgram program(run, {"--train", "--save-to", saved});
    const std::string id =
        program
            .Do("create_model", Json::Of({{"base_model", program.served.name()},
                                          {"lora_config", Json::Of({{"rank", 4}, {"seed", 1}})}}))
            .Find("model_id")
            ->AsString();
    program.Do("forward_backward",
               ForwardBody(id, {{{5, 6, 7, 8}, {{"weights", {1, 1, 1}}}}}, "cross_entropy"));
    program.Do("optim_step", StepBody(id, 0.001));
    path = program.Do("save_weights", Json::Of({{"model_id", id}, {"path", "one"}}))
               .Find("path")
               ->AsString();
    EXPECT_EQ(program.served.End(), 0);
  }
  ServedProgram before(run), after(saved + "/" + path.substr(std::string("tinker://").size()));
  const Json was = before.Answer("/models/" + before.name()),
             is = after.Answer("/models/" + after.name());
  EXPECT_EQ(*is.Find("dialect"), *was.Find("dialect"));
  EXPECT_NE(*is.Find("weights"), *was.Find("weights"));
  EXPECT_EQ(before.End(), 0);
  EXPECT_EQ(after.End(), 0);
}

TEST(ServeTrain, TheKeyIsAskedForInEitherHeader) {
  TemporaryDirectory directory;
  const std::string model = FreshModel(directory.path());
  TrainingProgram program(model, {"--train", "--api-key", "tml-secret"});
  EXPECT_EQ(program.Ask("create_model", "{}").status, 401);
  EXPECT_EQ(program.Ask("create_model", "{}", {{"x-api-key", "tml-wrong"}}).status, 401);
  EXPECT_EQ(program.Ask("create_model", "{}", {{"x-api-key", "tml-secret"}}).status, 400);
  EXPECT_EQ(program.Ask("create_model", "{}", {{"authorization", "Bearer tml-secret"}}).status,
            400);
  EXPECT_EQ(program
                .Ask("create_model", "{}",
                     {{"x-api-key", "tml-secret"}, {"origin", "http://elsewhere.example"}})
                .status,
            403)
      << "a page from elsewhere";
  const SubprocessResult ran = RunExample(program.served, "tml-secret");
  EXPECT_EQ(ran.exit_code, 1) << "this server saves nothing";
  EXPECT_NE(ran.standard_error.find("--save-to"), std::string::npos) << ran.standard_error;
  EXPECT_EQ(program.served.End(), 0);
}

// Bodies of all kinds, whole and cut, at every route: the server answers each, and trains on.
TEST(ServeTrain, MalformedBodiesChangeNothing) {
  TemporaryDirectory directory;
  const std::string model = FreshModel(directory.path());
  TrainingProgram program(model, {"--train", "--max-body", "1"});
  const std::string id =
      program.Do("create_model", Json::Of({{"base_model", program.served.name()}}))
          .Find("model_id")
          ->AsString();
  const ClientDatum datum{{5, 6, 7, 8}, {{"weights", {1, 1, 1}}}};
  program.Do("forward_backward", ForwardBody(id, {datum}, "cross_entropy"));
  const std::vector<std::string> bodies = {
      "",
      "{",
      "[]",
      "null",
      "{}",
      "\"text\"",
      std::string(2000, '['),
      "\xff\xfe",
      "{\"model_id\": 7}",
      R"({"model_id": "x", "model_id": "y"})",
      DumpJson(ForwardBody(id, {{{1, 2}, {{"weights", {1, 1}}}}}, "cross_entropy")),
      DumpJson(ForwardBody(id, {{{1, 5000}, {}}}, "cross_entropy")),
      DumpJson(ForwardBody(id, {{std::vector<TokenId>(600, 3), {}}}, "cross_entropy")),
      ForwardProtoBody(id, 1, {datum}, "cross_entropy").substr(0, 60)};
  for (const char* route :
       {"create_session", "create_sampling_session", "create_model", "unload_model", "get_info",
        "forward", "forward_backward", "optim_step", "save_weights", "save_weights_for_sampler",
        "load_weights", "weights_info", "asample", "retrieve_future", "nonsense"}) {
    for (const std::string& body : bodies) {
      for (const char* type : {"application/json", "application/x-protobuf"}) {
        const HttpResponse response = program.Ask(route, body, {{"content-type", type}});
        if (std::string(route) == "create_session") continue;  // whatever is said, it is a name
        EXPECT_TRUE(response.status == 400 || response.status == 404 || response.status == 422)
            << route << " " << response.status << " " << body;
        const auto json = ParseJson(response.body);
        ASSERT_TRUE(json.ok()) << response.body;
        EXPECT_NE(json->Find("detail"), nullptr) << response.body;
      }
    }
  }
  EXPECT_EQ(program.Ask("forward_backward", std::string((1 << 20) + 1, ' ')).status, 413);
  EXPECT_EQ(program.served.Health().Find("training")->Find("accumulated")->AsInteger(), 1);
  program.Do("optim_step", StepBody(id, 0.02));

  const auto engine = Engine::Open(model, {.threads = 1}).value();
  AccumulateTokenLoss(TokenLossNamed("cross_entropy", {}).value(),
                      std::vector<WeighedSequence>{{.tokens = datum.tokens, .weights = {1, 1, 1}}},
                      engine.get());
  engine->Step({.learning_rate = 0.02, .eps = 1e-12, .max_norm = 0});
  EXPECT_EQ(program.served.Answer("/models/" + program.served.name()).Find("weights")->AsString(),
            engine->WeightsHash());
  EXPECT_EQ(program.served.End(), 0);
}

TEST(ServeTrain, WhatDoesNotGoTogetherIsRefused) {
  TemporaryDirectory directory;
  const std::string model = FreshModel(directory.path());
  const std::string there = (directory.path() / "there").string();
  ExpectError(Hone({"serve", model, "--save-to", there}), 1, "wants --train");
  ExpectError(Hone({"serve", model, "--train", "--record", there}), 1, "--record keeps");
}

}  // namespace
}  // namespace hone
