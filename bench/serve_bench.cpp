// What serving costs: tokens per second of 64 clients over HTTP, against plain decoding of 64
// sequences by the same engine, taken in turns. The model is that of `hone bench engine`'s line
// "decode, 64 live", with the vocabulary of a real tokenizer.

#include <thread>

#include <benchmark/benchmark.h>

#include "base/http_client.h"
#include "serve/api_service.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

constexpr int kLive = 64;
constexpr int64_t kTokens = 96;  // per request

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::unique_ptr<ServedModel> BenchModel() {
  auto served = TinyServed();
  ModelConfig config;
  config.layers = 4;
  config.width = 320;
  config.head_dim = 32;
  config.heads = 10;
  config.kv_heads = 2;
  config.ffn = 896;
  config.vocab = served->engine->config().vocab;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  Engine::Options options;
  options.forbidden = served->engine->forbidden();
  served->engine = std::make_unique<Engine>(std::move(model), options);
  return served;
}

std::string Prompt(int client) { return "This is what client " + std::to_string(client) + " says"; }

// Tokens per second of 64 turns that begin with their prompts computed.
double Decoded(ServedModel* served) {
  const auto sampler = served->engine->NewSampler();
  for (int i = 0; i < kLive; ++i) {
    const auto id = sampler->Start(served->tokenizer->Encode(Prompt(i)));
    TurnRequest turn;
    turn.max_new = kTokens;
    turn.rng = Rng(static_cast<uint64_t>(i));
    CHECK(sampler->Generate(id, turn).ok());
  }
  while (sampler->counters().drawn < kLive) sampler->Step();
  const double start = Now();
  const int64_t before = sampler->counters().drawn;
  while (!sampler->idle()) sampler->Step();
  return static_cast<double>(sampler->counters().drawn - before) / (Now() - start);
}

// The same for clients, prompts and all.
double Served(const Service& service, const std::string& url, bool stream, int requests) {
  const int64_t before = service.counters().tokens;
  std::vector<std::thread> clients;
  const double start = Now();
  for (int i = 0; i < kLive; ++i) {
    clients.emplace_back([&, i] {
      for (int r = 0; r < requests; ++r) {
        HttpRequest request;
        request.method = "POST";
        request.url = url + "/v1/completions";
        request.deadline = std::chrono::minutes(5);
        request.body = DumpJson(Json::Of({{"model", "tiny"},
                                          {"prompt", Prompt(i)},
                                          {"max_tokens", kTokens},
                                          {"seed", i * 100 + r},
                                          {"stream", stream}}));
        const auto response = HttpFetch(request);
        CHECK(response.ok() && response->status == 200);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  return static_cast<double>(service.counters().tokens - before) / (Now() - start);
}

void ServedAgainstDecoded(benchmark::State& state) {
  const auto served = BenchModel();
  ServiceOptions options;
  options.now = [] { return int64_t{0}; };
  Service service(served.get(), options, nullptr);
  const auto server =
      HttpServer::Start({}, [&](HttpExchange& exchange) { service.Handle(exchange); }).value();
  double decoded = 0, over_http = 0;
  for (auto _ : state) {
    decoded += Decoded(served.get());  // the batcher rests: nobody asks it anything
    over_http += Served(service, server->url(), state.range(0) != 0, 2);
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["decode_tokens_per_s"] = decoded / rounds;
  state.counters["served_tokens_per_s"] = over_http / rounds;
  state.counters["share"] = over_http / decoded;
}
BENCHMARK(ServedAgainstDecoded)
    ->Arg(0)
    ->Arg(1)
    ->ArgName("stream")
    ->Unit(benchmark::kSecond)
    ->Iterations(3);

}  // namespace
}  // namespace hone

BENCHMARK_MAIN();
