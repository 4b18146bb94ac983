#include "serve/training/training_service.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "serve/api_service.h"
#include "support/fake_exchange.h"
#include "support/tiny_served.h"
#include "support/training_client.h"

namespace hone {
namespace {

// A client of a service in the same process.
class Client {
 public:
  explicit Client(ServedModel* model, const std::filesystem::path& save_to = {}) {
    ServiceOptions options;
    options.now = [] { return int64_t{1234}; };
    options.training = TrainingOptions{.save_to = save_to, .seed = 5};
    options.training->patience = std::chrono::milliseconds(50);
    service_ = std::make_unique<Service>(model, options, nullptr);
  }

  ServerResponse Ask(const std::string& path, const std::string& body, HttpHeaders headers = {},
                     const char* method = "POST") {
    FakeExchange exchange(method, path, body);
    exchange.request_.headers = std::move(headers);
    service_->Handle(exchange);
    return exchange.answer_;
  }
  // Of a request that is taken.
  Json Post(const std::string& name, const Json& body) {
    return Taken(Ask("/api/v1/" + name, DumpJson(body)));
  }
  static Json Taken(const ServerResponse& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto json = ParseJson(answer.body);
    EXPECT_TRUE(json.ok());
    return json.ok() ? *json : Json();
  }
  // The outcome of a call, when it is there.
  Json Outcome(const std::string& id) {
    while (true) {
      Json outcome = Post("retrieve_future", Json::Of({{"request_id", id}}));
      const Json* type = outcome.Find("type");
      if (type == nullptr || *type != Json("try_again")) return outcome;
    }
  }
  static std::string IdIn(const Json& taken) { return taken.Find("request_id")->AsString(); }
  Json Do(const std::string& name, const Json& body) { return Outcome(IdIn(Post(name, body))); }
  std::string Refusal(const std::string& name, const std::string& body, int status = 400) {
    const ServerResponse answer = Ask("/api/v1/" + name, body);
    EXPECT_EQ(answer.status, status) << answer.body;
    const auto json = ParseJson(answer.body);
    const Json* detail = json.ok() ? json->Find("detail") : nullptr;
    EXPECT_NE(detail, nullptr) << answer.body;
    return detail == nullptr ? "" : detail->AsString();
  }
  // What a call that was taken failed with.
  std::string Failure(const std::string& name, const Json& body) {
    const Json outcome = Do(name, body);
    EXPECT_NE(outcome.Find("error"), nullptr) << DumpJson(outcome);
    return outcome.Find("error") == nullptr ? "" : outcome.Find("error")->AsString();
  }

  std::string Create(int64_t rank = 0) {
    Json body = Json::Of({{"session_id", "s"}, {"model_seq_id", 0}, {"base_model", "tiny"}});
    if (rank > 0) body.Set("lora_config", Json::Of({{"rank", rank}, {"seed", 3}}));
    const Json made = Do("create_model", body);
    EXPECT_NE(made.Find("model_id"), nullptr) << DumpJson(made);
    return made.Find("model_id")->AsString();
  }
  // What names the weights as they are now.
  Json Sampler(const std::string& model_id) {
    const Json saved = Do("save_weights_for_sampler", Json::Of({{"model_id", model_id}}));
    EXPECT_NE(saved.Find("sampling_session_id"), nullptr) << DumpJson(saved);
    return Json::Of({{"sampling_session_id", *saved.Find("sampling_session_id")}, {"seq_id", 0}});
  }
  std::string Weights() {
    const Json model = Taken(Ask("/v1/models/tiny", "", {}, "GET"));
    return model.Find("weights")->AsString();
  }
  Json Health() { return *Taken(Ask("/health", "", {}, "GET")).Find("training"); }

 private:
  std::unique_ptr<Service> service_;
};

const std::vector<TokenId> kPrompt = {11, 22, 33, 44, 55};
const ClientDatum kSpoken{{5, 6, 7, 8, 9, 10}, {{"weights", {0, 1, 1, 1, 0.5f}}}};
const ClientDatum kOther{{9, 8, 7, 6}, {{"weights", {1, 1, 1}}}};

// As the service means it.
WeighedSequence Meant(const ClientDatum& datum) {
  WeighedSequence sequence{.tokens = datum.tokens,
                           .weights = std::vector<float>(datum.tokens.size() - 1, 1.0f)};
  for (const auto& [name, values] : datum.inputs) {
    (name == "weights"      ? sequence.weights
     : name == "advantages" ? sequence.advantages
                            : sequence.sampled) = values;
  }
  return sequence;
}

TEST(TrainingService, WhatIsSampledHasRatioExactlyOneUntilAStep) {
  const auto served = TinyServed();
  Client client(served.get());
  const std::string model = client.Create();
  for (int round = 0; round < 2; ++round) {
    const Json sampler = client.Sampler(model);
    const std::vector<ClientSample> samples =
        SamplesIn(client.Do("asample", SampleBody(sampler, kPrompt, 20, 7, 3)));
    ASSERT_EQ(samples.size(), 3u);
    EXPECT_NE(samples[0].tokens, samples[1].tokens);
    std::vector<ClientDatum> data;
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(samples[i].tokens.size(), 20u);
      EXPECT_EQ(samples[i].stop_reason, "length");
      data.push_back(DatumOf(kPrompt, samples[i], i == 0 ? 1.0f : -0.5f));
    }
    const Json outcome =
        client.Do("forward_backward", ForwardBody(model, data, "importance_sampling"));
    const std::vector<std::vector<float>> logprobs = LogprobsIn(outcome);
    for (size_t i = 0; i < 3; ++i) {
      const std::vector<float> drawn(logprobs[i].begin() + std::ssize(kPrompt) - 1,
                                     logprobs[i].end());
      EXPECT_EQ(drawn, samples[i].logprobs) << "bit by bit";
    }
    const Json& metrics = *outcome.Find("metrics");
    EXPECT_EQ(metrics.Find("tokens:sum")->AsDouble(), 60);
    EXPECT_EQ(metrics.Find("ratio_one:sum")->AsDouble(), 60);
    const Json step = client.Do("optim_step", StepBody(model, 0.01));
    EXPECT_GT(step.Find("metrics")->Find("grad_norm")->AsDouble(), 0) << DumpJson(step);
    const Json after =
        client.Do("forward", ForwardBody(model, data, "importance_sampling", {}, "forward_input"));
    EXPECT_LT(after.Find("metrics")->Find("ratio_one:sum")->AsDouble(), 60);
    EXPECT_NE(client.Do("asample", SampleBody(sampler, kPrompt, 3, 7)).Find("error"), nullptr)
        << "those weights are gone";
  }
  EXPECT_EQ(client.Health().Find("steps")->AsInteger(), 2);
}

// Steps through the service against the same steps through the engine.
TEST(TrainingService, ATrainingOverHttpIsThatOfTheEngineToTheBit) {
  const auto expected = TinyServed();
  for (int step = 0; step < 3; ++step) {
    const std::vector<WeighedSequence> data = {Meant(kSpoken), Meant(kOther)};
    AccumulateTokenLoss(TokenLossNamed("cross_entropy", {}).value(), data, expected->engine.get());
    if (step == 1) {
      AccumulateTokenLoss(TokenLossNamed("cross_entropy", {}).value(), {&data[1], 1},
                          expected->engine.get());
    }
    expected->engine->Step({.learning_rate = 0.02, .eps = 1e-12, .max_norm = 0});
  }
  for (int twice = 0; twice < 2; ++twice) {
    const auto served = TinyServed();
    Client client(served.get());
    const std::string model = client.Create();
    std::vector<std::string> ids;
    for (int step = 0; step < 3; ++step) {
      const auto post = [&](const std::string& name, const Json& body) {
        ids.push_back(Client::IdIn(client.Post(name, body)));
      };
      post("forward_backward", ForwardBody(model, {kSpoken, kOther}, "cross_entropy"));
      if (step == 1) post("forward_backward", ForwardBody(model, {kOther}, "cross_entropy"));
      post("optim_step", StepBody(model, 0.02));
    }
    EXPECT_EQ(client.Weights(), expected->engine->WeightsHash());
    for (const std::string& id : ids) EXPECT_EQ(client.Outcome(id).Find("error"), nullptr);
    const Json health = client.Health();
    EXPECT_EQ(health.Find("steps")->AsInteger(), 3);
    EXPECT_EQ(health.Find("weights")->AsString(), expected->engine->WeightsHash());
    EXPECT_EQ(health.Find("model_id")->AsString(), model);
  }
}

TEST(TrainingService, ProtobufIsTakenAndGiven) {
  const auto served = TinyServed();
  Client client(served.get());
  const std::string model = client.Create();
  const HttpHeaders proto = {{"content-type", "application/x-protobuf"}};
  const Json taken = Client::Taken(
      client.Ask("/api/v1/forward_backward",
                 ForwardProtoBody(model, 1, {kSpoken, kOther}, "cross_entropy"), proto));
  const std::vector<std::vector<float>> expected = LogprobsIn(client.Outcome(Client::IdIn(taken)));
  const ServerResponse answer = client.Ask(
      "/api/v1/retrieve_future", DumpJson(Json::Of({{"request_id", *taken.Find("request_id")}})),
      {{"accept", "application/x-protobuf"}});
  EXPECT_EQ(answer.content_type, "application/x-protobuf");
  std::vector<float> all = expected[0];
  all.insert(all.end(), expected[1].begin(), expected[1].end());
  EXPECT_NE(answer.body.find(NumberBytes(all)), std::string::npos) << "a batch, end to end";
  EXPECT_NE(answer.body.find("loss:sum"), std::string::npos);

  const Json sampled = client.Post("asample", SampleBody(client.Sampler(model), kPrompt, 5, 1));
  const std::vector<ClientSample> samples = SamplesIn(client.Outcome(Client::IdIn(sampled)));
  const ServerResponse drawn = client.Ask(
      "/api/v1/retrieve_future", DumpJson(Json::Of({{"request_id", *sampled.Find("request_id")}})),
      {{"accept", "application/x-protobuf"}});
  ProtoReader reader(drawn.body);
  const auto sequence = reader.Next();
  ASSERT_TRUE(sequence.has_value());
  EXPECT_EQ(sequence->number, 1u);
  EXPECT_NE(sequence->text().find(NumberBytes(samples[0].tokens)), std::string::npos);
  EXPECT_NE(sequence->text().find(NumberBytes(samples[0].logprobs)), std::string::npos);
  // Failures are JSON for everybody.
  const Json failed = client.Post("optim_step", StepBody("run-0", 0.1));
  EXPECT_EQ(client
                .Ask("/api/v1/retrieve_future",
                     DumpJson(Json::Of({{"request_id", *failed.Find("request_id")}})),
                     {{"accept", "application/x-protobuf"}})
                .content_type,
            "application/json");
}

TEST(TrainingService, WhatIsRefusedLeavesTheGradientAsItWas) {
  const auto expected = TinyServed();
  AccumulateTokenLoss(TokenLossNamed("cross_entropy", {}).value(),
                      std::vector<WeighedSequence>{Meant(kSpoken)}, expected->engine.get());
  expected->engine->Step({.learning_rate = 0.02, .eps = 1e-12, .max_norm = 0});

  const auto served = TinyServed();
  Client client(served.get());
  EXPECT_NE(client.Failure("optim_step", StepBody("run-0", 0.1)).find("create one first"),
            std::string::npos);
  const std::string model = client.Create();
  EXPECT_NE(client.Failure("optim_step", StepBody(model, 0.1)).find("no gradient"),
            std::string::npos);
  client.Do("forward_backward", ForwardBody(model, {kSpoken}, "cross_entropy"));
  const auto refuse = [&](const Json& body, int status = 400) {
    return client.Refusal("forward_backward", DumpJson(body), status);
  };
  refuse(ForwardBody(model, {{{1, 2}, {{"weights", {1, 1}}}}}, "cross_entropy"));
  refuse(ForwardBody(model, {{{1, 1 << 20}, {}}}, "cross_entropy"));
  refuse(ForwardBody(model, {{std::vector<TokenId>(300, 1), {}}}, "cross_entropy"));
  refuse(ForwardBody(model, {kOther, {{1, 2}, {}}}, "ppo"));
  refuse(ForwardBody(model, {kOther}, "unknown"));
  refuse(ForwardBody(model, {kOther}, "cross_entropy", Json::Of({{"beta", 1}})));
  refuse(ForwardBody(model, {}, "cross_entropy"));
  refuse(Json::Of({{"model_id", model}}));
  refuse(Json("text"), 422);
  client.Refusal("forward_backward", std::string(100'000, '['), 422);
  client.Refusal("optim_step", R"({"model_id": "m", "adam_params": {"beta1": 2}})");
  client.Refusal("nonsense", "{}", 404);
  client.Refusal("retrieve_future", R"({"request_id": "request-99"})", 404);
  EXPECT_EQ(client.Ask("/api/v1/optim_step", "", {}, "GET").status, 405);
  EXPECT_EQ(client.Ask("/api/v1/forward_backward", "x", {{"content-encoding", "zstd"}}).status,
            415);
  EXPECT_NE(client.Failure("forward_backward", ForwardBody("run-0", {kOther}, "cross_entropy"))
                .find(model),
            std::string::npos);
  EXPECT_NE(client.Failure("save_weights", Json::Of({{"model_id", model}, {"path", "a"}}))
                .find("--save-to"),
            std::string::npos);
  client.Refusal("save_weights", DumpJson(Json::Of({{"model_id", model}, {"path", "../a"}})));
  client.Refusal("create_model", R"({"base_model": "other"})");
  const Json many = SampleBody(Json::Of({{"base_model", "tiny"}}), {1, 2}, 3, 4, 321);
  EXPECT_NE(client.Refusal("asample", DumpJson(many)).find("320"), std::string::npos);
  EXPECT_EQ(client.Health().Find("accumulated")->AsInteger(), 1);
  client.Do("optim_step", StepBody(model, 0.02));
  EXPECT_EQ(client.Weights(), expected->engine->WeightsHash());
}

// A client that heard no answer sends its call again: it is one call.
TEST(TrainingService, ANumberedCallIsDoneOnce) {
  const auto served = TinyServed();
  Client client(served.get());
  const std::string model = client.Create();
  Json first = ForwardBody(model, {kSpoken}, "cross_entropy");
  first.Set("seq_id", 1);
  const std::string id = Client::IdIn(client.Post("forward_backward", first));
  EXPECT_EQ(Client::IdIn(client.Post("forward_backward", first)), id);
  client.Outcome(id);
  EXPECT_EQ(Client::IdIn(client.Post("forward_backward", first)), id);
  EXPECT_EQ(client.Health().Find("accumulated")->AsInteger(), 1);
  Json step = StepBody(model, 0.1);
  step.Set("seq_id", 2);
  const std::string stepped = Client::IdIn(client.Post("optim_step", step));
  EXPECT_EQ(Client::IdIn(client.Post("optim_step", step)), stepped);
  client.Outcome(stepped);
  EXPECT_EQ(client.Health().Find("steps")->AsInteger(), 1);
  Json other = ForwardBody(model, {kOther}, "cross_entropy");
  other.Set("seq_id", 1);
  EXPECT_NE(client.Refusal("forward_backward", DumpJson(other)).find("count upwards"),
            std::string::npos);
}

TEST(TrainingService, TheWeightsOfADrawAreThoseOfItsPlaceInTheOrder) {
  const auto served = TinyServed();
  Client client(served.get());
  const std::string model = client.Create();
  const Json base = Json::Of({{"base_model", "tiny"}});
  const std::vector<ClientSample> before =
      SamplesIn(client.Do("asample", SampleBody(base, kPrompt, 30, 7)));
  // Three calls at once: the step waits for the draw before it, and the draw behind it for the
  // step.
  client.Post("forward_backward", ForwardBody(model, {kSpoken}, "cross_entropy"));
  const std::string drawn = Client::IdIn(client.Post("asample", SampleBody(base, kPrompt, 30, 7)));
  client.Post("optim_step", StepBody(model, 0.05));
  const std::string late = Client::IdIn(client.Post("asample", SampleBody(base, kPrompt, 30, 7)));
  const auto plain = [&] {
    const Json answer = Client::Taken(
        client.Ask("/v1/completions", DumpJson(Json::Of({{"model", "tiny"},
                                                         {"prompt", Json::ArrayOf(kPrompt)},
                                                         {"max_tokens", 8},
                                                         {"seed", 3},
                                                         {"return_token_ids", true},
                                                         {"logprobs", 0}}))));
    return *answer.Find("choices")->AsArray()[0].Find("logprobs")->Find("token_logprobs");
  };
  const Json after = plain();
  const std::vector<ClientSample> same = SamplesIn(client.Outcome(drawn));
  EXPECT_EQ(same[0].tokens, before[0].tokens);
  EXPECT_EQ(same[0].logprobs, before[0].logprobs);
  EXPECT_NE(client.Outcome(late).Find("error"), nullptr) << "the served model is gone";
  // OpenAI's routes draw with the weights in training.
  const auto expected = TinyServed();
  AccumulateTokenLoss(TokenLossNamed("cross_entropy", {}).value(),
                      std::vector<WeighedSequence>{Meant(kSpoken)}, expected->engine.get());
  expected->engine->Step({.learning_rate = 0.05, .eps = 1e-12, .max_norm = 0});
  SampleRequest request;
  request.prompt = kPrompt;
  request.max_new = 8;
  request.rng = ChoiceStream(3, 0);
  const auto drawn_there = expected->engine->Sample(std::vector<SampleRequest>{request}).value();
  EXPECT_EQ(after, Json::ArrayOf(drawn_there[0].logprobs));
}

TEST(TrainingService, PromptLogprobsAreThoseOfTheWeightsThatDraw) {
  const auto served = TinyServed();
  Client client(served.get());
  const std::string model = client.Create();
  Json body = SampleBody(client.Sampler(model), kPrompt, 1, 0);
  body.Set("prompt_logprobs", true);
  const Json outcome = client.Do("asample", body);
  const Json::Array& logprobs = outcome.Find("prompt_logprobs")->AsArray();
  ASSERT_EQ(logprobs.size(), kPrompt.size());
  EXPECT_TRUE(logprobs[0].is_null());
  const ClientDatum datum{kPrompt, {}};
  const std::vector<float> expected = LogprobsIn(
      client.Do("forward", ForwardBody(model, {datum}, "cross_entropy", {}, "forward_input")))[0];
  for (size_t t = 1; t < kPrompt.size(); ++t) {
    EXPECT_EQ(static_cast<float>(logprobs[t].AsDouble()), expected[t - 1]);
  }
}

TEST(TrainingService, StopsEndASampleAndBelongToIt) {
  const auto served = TinyServed();
  Client client(served.get());
  const std::string model = client.Create();
  const Json sampler = client.Sampler(model);
  const ClientSample whole =
      SamplesIn(client.Do("asample", SampleBody(sampler, kPrompt, 20, 7)))[0];
  Json body = SampleBody(sampler, kPrompt, 20, 7);
  body.Set(
      "sampling_params",
      Json::Of({{"max_tokens", 20}, {"seed", 7}, {"stop", Json::Array{int64_t{whole.tokens[5]}}}}));
  const ClientSample cut = SamplesIn(client.Do("asample", body))[0];
  EXPECT_EQ(cut.stop_reason, "stop");
  EXPECT_EQ(cut.tokens.back(), whole.tokens[5]);
  EXPECT_LE(cut.tokens.size(), 6u);
}

// The folder of a model that knows nothing, as hone model new makes one.
std::string TinyFolder(const std::filesystem::path& folder) {
  const auto tiny = TinyServed();
  const std::filesystem::path model = folder / "tiny";
  EXPECT_TRUE(SaveModel(tiny->engine->model(), SaveType::kF32, model).ok());
  EXPECT_TRUE(WriteFileAtomic(model / "tokenizer.json", tiny->tokenizer->ToJson()).ok());
  return model.string();
}

class TrainingServiceRank : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, TrainingServiceRank, testing::Values(0, 4));

TEST_P(TrainingServiceRank, WhatWasSavedGoesOnToTheSameBits) {
  TemporaryDirectory directory;
  const auto served =
      OpenServedModel({.model = TinyFolder(directory.path()), .threads = 1}).value();
  const std::string opened = served->weights;
  Client client(served.get(), directory.path() / "saved");
  const std::string model = client.Create(GetParam());
  const auto step = [&](const ClientDatum& datum) {
    client.Do("forward_backward", ForwardBody(model, {datum}, "cross_entropy"));
    client.Do("optim_step", StepBody(model, 0.02));
    return client.Weights();
  };
  step(kSpoken);
  const std::string saved_weights = step(kOther);
  EXPECT_NE(saved_weights, opened);
  client.Post("forward_backward", ForwardBody(model, {kSpoken}, "cross_entropy"));
  const Json saved =
      client.Do("save_weights", Json::Of({{"model_id", model}, {"path", "half-way"}}));
  ASSERT_NE(saved.Find("path"), nullptr) << DumpJson(saved);
  const std::string path = saved.Find("path")->AsString();
  EXPECT_EQ(path, "tinker://" + model + "/weights/half-way");
  // The gradient that waited while it was saved still waits.
  client.Do("optim_step", StepBody(model, 0.02));
  const std::string further = client.Weights();
  EXPECT_NE(client.Failure("save_weights", Json::Of({{"model_id", model}, {"path", "half-way"}}))
                .find("is there already"),
            std::string::npos);

  const auto load = [&](bool optimizer) {
    const Json loaded = client.Do(
        "load_weights", Json::Of({{"model_id", model}, {"path", path}, {"optimizer", optimizer}}));
    EXPECT_EQ(loaded.Find("error"), nullptr) << DumpJson(loaded);
    EXPECT_EQ(client.Weights(), saved_weights);
  };
  load(true);
  EXPECT_EQ(client.Health().Find("steps")->AsInteger(), 2);
  EXPECT_EQ(step(kSpoken), further);
  load(false);
  EXPECT_NE(step(kSpoken), further) << "an optimiser that begins anew takes another step";

  // Another server goes on with it; as a model of its own it is served with the same weights.
  const std::string folder = (directory.path() / "saved" / model / "weights" / "half-way").string();
  EXPECT_EQ(OpenServedModel({.model = folder, .threads = 1}).value()->weights, saved_weights);
  const Json info = client.Post("weights_info", Json::Of({{"tinker_path", path}}));
  EXPECT_EQ(info.Find("lora_rank")->AsInteger(), GetParam());
  EXPECT_EQ(info.Find("base_model")->AsString(), "tiny");
  const auto again = OpenServedModel({.model = (directory.path() / "tiny").string(), .threads = 1});
  Client second(again->get(), directory.path() / "saved");
  const std::string other = second.Create(GetParam());
  EXPECT_NE(other, model) << "what is there is not written over";
  second.Do("load_weights", Json::Of({{"model_id", other}, {"path", path}, {"optimizer", true}}));
  second.Do("forward_backward", ForwardBody(other, {kSpoken}, "cross_entropy"));
  second.Do("optim_step", StepBody(other, 0.02));
  EXPECT_EQ(second.Weights(), further);
}

TEST(TrainingService, OneModelIsTrainedAtATimeAndNoStepIsLostUnasked) {
  TemporaryDirectory directory;
  const auto served =
      OpenServedModel({.model = TinyFolder(directory.path()), .threads = 1}).value();
  const std::string opened = served->weights;
  Client client(served.get(), directory.path() / "saved");
  const std::string first = client.Create(2);
  const Json create = Json::Of({{"base_model", "tiny"}, {"session_id", "s"}, {"model_seq_id", 1}});
  client.Do("forward_backward", ForwardBody(first, {kSpoken}, "cross_entropy"));
  client.Do("optim_step", StepBody(first, 0.02));
  EXPECT_NE(client.Failure("create_model", create).find("not saved"), std::string::npos);
  client.Do("save_weights", Json::Of({{"model_id", first}, {"path", "end"}}));
  const std::string second = client.Create();
  EXPECT_EQ(client.Weights(), opened) << "a model begins with the served weights";
  EXPECT_NE(client.Failure("optim_step", StepBody(first, 0.1)).find(second), std::string::npos);
  EXPECT_NE(client
                .Failure("load_weights", Json::Of({{"model_id", second},
                                                   {"path", "tinker://" + first + "/weights/end"},
                                                   {"optimizer", true}}))
                .find("rank 2"),
            std::string::npos);
  client.Do("forward_backward", ForwardBody(second, {kSpoken}, "cross_entropy"));
  client.Do("optim_step", StepBody(second, 0.02));
  EXPECT_NE(client.Weights(), opened);
  client.Do("unload_model", Json::Of({{"model_id", second}}));
  EXPECT_EQ(client.Weights(), opened);
  EXPECT_TRUE(client.Health().Find("model_id")->is_null());
}

TEST(TrainingService, AnswersWhatClientsAskBeforeTheyTrain) {
  const auto served = TinyServed();
  Client client(served.get());
  EXPECT_EQ(Client::Taken(client.Ask("/api/v1/healthz", "", {}, "GET")).Find("status")->AsString(),
            "ok");
  const Json able = Client::Taken(client.Ask("/api/v1/get_server_capabilities", "", {}, "GET"));
  EXPECT_EQ(able.Find("supported_models")->AsArray()[0].Find("model_name")->AsString(), "tiny");
  EXPECT_FALSE(client.Post("client/config", Json::Of({{"sdk_version", "0.25.0"}}))
                   .Find("parallel_fwdbwd_chunks")
                   ->AsBool());
  EXPECT_TRUE(client.Post("create_session", Json::Of({{"tags", Json::Array{}}}))
                  .Find("session_id")
                  ->is_string());
  client.Post("session_heartbeat", Json::Of({{"session_id", "s"}}));
  client.Post("telemetry", Json::Of({{"events", Json::Array{}}}));
  const std::string model = client.Create();
  const Json info = client.Post("get_info", Json::Of({{"model_id", model}}));
  EXPECT_FALSE(info.Find("is_lora")->AsBool());
  EXPECT_EQ(info.Find("model_data")->Find("model_name")->AsString(), "tiny");
  const Json sampler = client.Post(
      "create_sampling_session",
      Json::Of({{"session_id", "s"}, {"sampling_session_seq_id", 0}, {"base_model", "tiny"}}));
  const std::string id = sampler.Find("sampling_session_id")->AsString();
  EXPECT_EQ(Client::Taken(client.Ask("/api/v1/samplers/" + id, "", {}, "GET"))
                .Find("base_model")
                ->AsString(),
            "tiny");
}

}  // namespace
}  // namespace hone
