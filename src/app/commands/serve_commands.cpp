// hone serve.

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/interrupts.h"
#include "app/report.h"
#include "app/served_model_options.h"
#include "app/terminal.h"
#include "rollout/thought_limits.h"
#include "serve/api_key.h"
#include "serve/api_service.h"

namespace hone {
namespace {

struct ServeArguments {
  ServedModelChoice choice;
  HttpServerOptions http;
  ServiceOptions service;
  std::string record, embeddings, save_to;
  bool train = false;
  std::optional<uint64_t> seed;
  int64_t memory_mib = 1024, body_mib = 8, grace_seconds = 10;
};

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

void Announce(const CommandContext& context, const ServeArguments& arguments,
              const ServedModel& model, const HttpServer& server) {
  if (context.json) {
    fmt::print("{}\n", DumpJson(Json::Of({{"url", server.url() + "/v1"},
                                          {"port", server.port()},
                                          {"model", model.name},
                                          {"dialect", model.dialect->traits().name},
                                          {"weights", model.weights},
                                          {"embeddings", arguments.embeddings},
                                          {"record", arguments.record},
                                          {"train", arguments.train},
                                          {"save_to", arguments.save_to}})));
  } else {
    const Terminal terminal = Terminal::Of(stdout);
    fmt::print("{} speaks {} at {}\n", terminal.Bold(model.name), model.dialect->traits().name,
               terminal.Bold(server.url() + "/v1"));
    if (arguments.service.embeddings != nullptr) {
      fmt::print("{} embeds texts\n", terminal.Bold(arguments.service.embeddings->name()));
    }
    if (arguments.service.allow_updates) {
      fmt::print("whoever reaches it may let it load other weights\n");
    }
    if (!arguments.record.empty()) {
      fmt::print("conversations are recorded in {}\n", arguments.record);
    }
    if (arguments.train) {
      fmt::print("clients train it at {}{}\n", terminal.Bold(server.url()),
                 arguments.save_to.empty() ? "; nothing is saved (--save-to)"
                                           : ", and save it in " + arguments.save_to);
    }
    fmt::print("{}\n", terminal.Dim("Ctrl-C ends it: what is under way is finished first"));
  }
  std::fflush(stdout);
}

void SayNote(std::string_view note) { fmt::print(stderr, "hone: {}\n", note); }

int64_t SecondsNow() { return static_cast<int64_t>(std::time(nullptr)); }

// An encoder of texts, called by the name of its folder unless it has one.
Result<std::unique_ptr<EmbeddingService>> OpenEmbeddings(const std::string& folder,
                                                         const ServeArguments& arguments,
                                                         std::string name) {
  HONE_ASSIGN_OR_RETURN(auto encoder,
                        TextEncoder::Open(folder, static_cast<int>(arguments.choice.threads)));
  if (name.empty()) name = std::filesystem::weakly_canonical(folder).filename().string();
  return std::make_unique<EmbeddingService>(
      std::move(encoder), EmbeddingService::Options{.name = std::move(name),
                                                    .api_key = arguments.service.api_key,
                                                    .now = SecondsNow,
                                                    .note = SayNote});
}

// Listens as the arguments say.
Result<std::unique_ptr<HttpServer>> Listen(ServeArguments* arguments, HttpHandler handler) {
  WatchInterrupts();  // until here there is nothing to finish
  HttpServerOptions& http = arguments->http;
  const std::string key = arguments->service.api_key;
  http.limits.max_body_bytes = static_cast<size_t>(arguments->body_mib) << 20;
  http.local_only = IsLoopback(http.host);
  http.max_bodies_bytes = std::max(http.max_bodies_bytes, http.limits.max_body_bytes);
  http.admit = [key](const IncomingRequest& head) { return KeyRefusal(head, key); };
  http.refusal = [](int status, std::string_view why) { return ApiError(status, why); };
  HONE_ASSIGN_OR_RETURN(auto server, HttpServer::Start(http, std::move(handler)));
  if (!http.local_only && key.empty()) {
    fmt::print(stderr,
               "hone: whoever reaches {} can use the model; set HONE_API_KEY to ask for a "
               "key\n",
               server->url());
  }
  return server;
}

// A folder that holds an encoder of texts, and nothing that could talk.
Result<std::string> ServeEncoder(CommandContext* context, ServeArguments arguments) {
  if (!arguments.record.empty() || !arguments.embeddings.empty() || arguments.train) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} is an encoder of texts: it has no conversations to record, is not "
                             "trained, and needs no --embeddings",
                             arguments.choice.model));
  }
  HONE_ASSIGN_OR_RETURN(const auto service,
                        OpenEmbeddings(arguments.choice.model, arguments, arguments.choice.name));
  HONE_ASSIGN_OR_RETURN(const auto server, Listen(&arguments, [&](HttpExchange& exchange) {
                          service->Handle(exchange);
                        }));
  if (context->json) {
    fmt::print("{}\n", DumpJson(Json::Of({{"url", server->url() + "/v1"},
                                          {"port", server->port()},
                                          {"model", service->name()},
                                          {"dimensions", service->dimensions()}})));
  } else {
    const Terminal terminal = Terminal::Of(stdout);
    fmt::print("{} embeds texts at {}\n{}\n", terminal.Bold(service->name()),
               terminal.Bold(server->url() + "/v1/embeddings"), terminal.Dim("Ctrl-C ends it"));
  }
  std::fflush(stdout);
  AwaitInterrupt();
  const bool all = server->Stop(std::chrono::seconds(arguments.grace_seconds));
  if (context->json) {
    return DumpJson(Json::Of(
               {{"texts", service->texts()}, {"tokens", service->tokens()}, {"cut_off", !all}})) +
           "\n";
  }
  return fmt::format("{} texts, {} tokens{}\n", service->texts(), service->tokens(),
                     all ? "" : "; what was not finished in time was cut off");
}

// What clients may train, if they may.
Result<std::optional<TrainingOptions>> TrainingAsked(const ServeArguments& arguments) {
  if (arguments.service.allow_updates && !arguments.record.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "--record keeps what one model says, and --allow-updates lets it become another; "
                 "leave one of them out");
  }
  if (!arguments.train) {
    if (arguments.save_to.empty()) return std::optional<TrainingOptions>();
    return Error(ErrorCode::kInvalidArgument,
                 "--save-to is where clients save what they train; it wants --train");
  }
  if (!arguments.record.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "--record keeps conversations with one set of weights, which --train changes; "
                 "choose one of them");
  }
  if (arguments.service.allow_updates) {
    return Error(
        ErrorCode::kInvalidArgument,
        "--allow-updates lets clients bring weights, and --train lets them make some here; "
        "choose one of them");
  }
  return std::optional(TrainingOptions{.save_to = arguments.save_to,
                                       .max_tokens = arguments.service.max_tokens,
                                       .seed = arguments.service.seed});
}

Result<std::string> Serve(CommandContext* context, ServeArguments arguments) {
  if (const char* key = std::getenv("HONE_API_KEY"); key != nullptr) {
    if (arguments.service.api_key.empty()) arguments.service.api_key = key;
  }
  if (IsEncoderFolder(arguments.choice.model)) return ServeEncoder(context, std::move(arguments));
  std::random_device chance;
  arguments.service.seed = arguments.seed.value_or((uint64_t{chance()} << 32) | uint64_t{chance()});
  HONE_ASSIGN_OR_RETURN(arguments.service.training, TrainingAsked(arguments));
  std::unique_ptr<EmbeddingService> embeddings;
  if (!arguments.embeddings.empty()) {
    HONE_ASSIGN_OR_RETURN(embeddings, OpenEmbeddings(arguments.embeddings, arguments, ""));
    arguments.service.embeddings = embeddings.get();
    arguments.embeddings = embeddings->name();
  }
  arguments.choice.memory = arguments.memory_mib << 20;
  HONE_ASSIGN_OR_RETURN(const auto model, OpenServedModel(arguments.choice));
  if (arguments.service.thought_tokens) {
    const auto limiter = ThoughtLimiter::New(*model->dialect, *model->tokenizer,
                                             {.tokens = arguments.service.thought_tokens});
    if (!limiter.ok()) return limiter.error().In("--thought-tokens");
  }
  std::unique_ptr<ConversationRecorder> recorder;
  if (!arguments.record.empty()) {
    HONE_ASSIGN_OR_RETURN(recorder,
                          ConversationRecorder::Open(arguments.record, model->dialect.get(),
                                                     model->tokenizer.get(), model->limit));
  }
  arguments.service.now = SecondsNow;
  arguments.service.note = SayNote;
  Service service(model.get(), arguments.service, std::move(recorder));
  HONE_ASSIGN_OR_RETURN(const auto server, Listen(&arguments, [&](HttpExchange& exchange) {
                          service.Handle(exchange);
                        }));
  Announce(*context, arguments, *model, *server);
  AwaitInterrupt();
  const bool all = service.Close(std::chrono::seconds(arguments.grace_seconds));
  server->Stop(std::chrono::seconds(5));  // to tell those that were cut off
  const Batcher::Counters counters = service.counters();
  const std::optional<TrainerState> training = service.training();
  const bool unsaved = training && training->unsaved;
  if (context->json) {
    return DumpJson(Json::Of({{"requests", counters.requests},
                              {"tokens", counters.tokens},
                              {"cut_off", !all},
                              {"unsaved", unsaved}})) +
           "\n";
  }
  return fmt::format(
      "{} requests, {} tokens{}{}\n", counters.requests, counters.tokens,
      all ? "" : "; what was not finished in time was cut off",
      unsaved ? fmt::format("; {} took steps that nobody saved", training->model_id) : "");
}

void AddLimits(Command serve, ServeArguments* arguments) {
  serve.AddOption("--max-tokens", &arguments->service.max_tokens, "of one completion")
      .Between(1, 1 << 30)
      .ShowDefault();
  serve
      .AddOption("--thought-tokens", &arguments->service.thought_tokens,
                 "of a chat's turn, after which its thought is closed; else any")
      .NotNegative();
  serve.AddOption("--max-batch", &arguments->service.batch.max_live, "completions drawn at a time")
      .Between(1, 4096)
      .ShowDefault();
  serve
      .AddOption("--max-waiting", &arguments->service.batch.max_waiting,
                 "completions that wait for it; more are told 429")
      .Between(0, 1'000'000)
      .ShowDefault();
  serve.AddOption("--max-connections", &arguments->http.max_connections, "more are told 503")
      .Between(1, 10000)
      .ShowDefault();
  serve.AddOption("--max-body", &arguments->body_mib, "MiB of a request")
      .Between(1, 1024)
      .ShowDefault();
  serve.AddOption("--memory", &arguments->memory_mib, "MiB for keys and values")
      .Between(1, 1 << 30)
      .ShowDefault();
}

}  // namespace

void AddServe(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ServeArguments>();
  arguments->http.port = 8000;
  ServedModelChoice& choice = arguments->choice;
  Command serve = program.AddCommand("serve", "Serve a model to clients of OpenAI's API");
  serve
      .AddOption(
          "model", &choice.model,
          "a run (runs/NAME), a checkpoint or a Hugging Face folder; one of an encoder serves "
          "embeddings")
      .Required();
  serve.AddOption("--port,-p", &arguments->http.port, "0: any free one")
      .Between(0, 65535)
      .ShowDefault();
  serve.AddOption("--host", &arguments->http.host, "the address to listen on; 0.0.0.0: all")
      .ShowDefault();
  serve.AddOption("--api-key", &arguments->service.api_key,
                  "that clients must send; better in HONE_API_KEY, where others do not see it");
  serve
      .AddOption("--allow-host", &arguments->http.local_names,
                 "a further name that requests may give in Host, or with its port in Origin "
                 "(localhost:3000); no CORS headers are sent; may repeat")
      .OneAtATime();
  serve.AddOption("--name", &choice.name, "of the model; else that of its folder");
  AddServedModelOptions(serve, &choice);
  serve.AddOption("--record", &arguments->record,
                  "a run's folder: every conversation becomes a tree in its store");
  serve.AddFlag("--allow-updates", &arguments->service.allow_updates,
                "clients may let it load other weights (POST /update_weights_from_disk)");
  serve.AddOption("--embeddings", &arguments->embeddings,
                  "a Hugging Face folder of an encoder of texts, to answer /v1/embeddings");
  serve.AddFlag("--train", &arguments->train,
                "let clients train the model, in the shape of Tinker's API (docs/serve-train.md)");
  serve.AddOption("--save-to", &arguments->save_to,
                  "with --train: the folder in which clients save weights; else they save none");
  AddLimits(serve, arguments.get());
  serve.AddOption("--seed", &arguments->seed, "of requests that name none; else by chance");
  serve
      .AddOption("--grace", &arguments->grace_seconds,
                 "seconds that completions have to end at shutdown")
      .Between(0, 86400)
      .ShowDefault();
  serve.Footer(
      "GET /v1/models, POST /v1/chat/completions, POST /v1/completions, GET /health, and with\n"
      "an encoder POST /v1/embeddings; see docs/serving.md.\nExamples:\n"
      "  hone serve runs/quickstart\n"
      "  hone serve path/to/Qwen2.5-0.5B --port 9000 --record runs/recorded\n"
      "  hone serve models/Qwen2.5-0.5B --allow-updates    (for policy.kind = \"endpoint\")\n"
      "  hone serve models/all-MiniLM-L6-v2\n"
      "  hone serve path/to/Qwen2.5-0.5B --train --save-to models/trained\n"
      "  curl http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' \\\n"
      "    -d '{\"model\": \"quickstart\", \"messages\": [{\"role\": \"user\", \"content\": "
      "\"Hello\"}]}'\n");
  serve.Action([=] { Finish(context.get(), Serve(context.get(), *arguments)); });
}

}  // namespace hone
