#include "serve/api_service.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/utf8.h"
#include "serve/api_key.h"
#include "serve/trained_manner.h"

namespace hone {
namespace {

constexpr std::string_view kModels = "/v1/models";
constexpr std::string_view kUpdate = "/update_weights_from_disk";

ServerResponse JsonResponse(const Json& json) {
  return {200, "application/json", DumpJson(json) + "\n", {}};
}

}  // namespace

Service::Service(ServedModel* model, const ServiceOptions& options,
                 std::unique_ptr<ConversationRecorder> recorder)
    : model_(model),
      options_(options),
      recorder_(std::move(recorder)),
      weights_(model->engine.get(), model->weights),
      batcher_(model->engine.get(), options.batch) {
  if (!options.training) return;
  CHECK(recorder_ == nullptr, "records are of one set of weights");
  CHECK(!options.allow_updates, "clients that train change the weights themselves");
  training_ = std::make_unique<TrainingService>(model, &batcher_, *options.training);
}

std::optional<ServerResponse> Service::Refusal(const IncomingRequest& head) const {
  return KeyRefusal(head, options_.api_key);
}

Result<void> Service::AskAsTrained(ServedChat* request) {
  if (!model_->card) return {};
  std::string note;
  HONE_RETURN_IF_ERROR(hone::AskAsTrained(*model_->card, request, &note));
  if (!note.empty() && options_.note && !noted_.exchange(true)) options_.note(note);
  return {};
}

ServerResponse Service::NoSuchRoute(const std::string& path) const {
  const bool embeddings = options_.embeddings != nullptr;
  std::string message = fmt::format(
      "there is no {} here; there are /v1/models, /v1/chat/completions, /v1/completions, "
      "/v1/responses{} and /health{}{}",
      Utf8Lossy(path), embeddings ? ", /v1/embeddings" : "",
      recorder_ != nullptr ? ", and /v1/rewards" : "",
      training_ != nullptr ? ", and what clients of training ask for, below /api/v1/" : "");
  if (path == "/v1/embeddings") {
    message += "; for embeddings start the server with --embeddings FOLDER, an encoder of texts";
  }
  if (path == kUpdate) {
    message += "; for other weights start the server with --allow-updates";
  }
  return ApiError(404, message);
}

void Service::Handle(HttpExchange& exchange) {
  const IncomingRequest& request = exchange.request();
  const std::string& path = request.path;
  const bool health = IsHealthPath(path);
  const bool models = path == kModels || path.starts_with(std::string(kModels) + "/");
  const bool chat = path == "/v1/chat/completions", plain = path == "/v1/completions";
  const bool responses = path == "/v1/responses";
  const bool reward = path == "/v1/rewards" && recorder_ != nullptr;
  const bool updates = path == kUpdate && options_.allow_updates;
  const bool embeds = path == "/v1/embeddings" && options_.embeddings != nullptr;
  if (const auto refused = Refusal(request)) {
    exchange.Respond(*refused);
    return;
  }
  if (training_ != nullptr && TrainingService::Serves(path)) {
    training_->Handle(exchange);
    return;
  }
  if (!health && !models && !chat && !plain && !responses && !reward && !embeds && !updates) {
    exchange.Respond(NoSuchRoute(path));
    return;
  }
  const bool posts = chat || plain || responses || reward || embeds || updates;
  if (request.method != (posts ? "POST" : "GET") && !(request.method == "HEAD" && !posts)) {
    ServerResponse response =
        ApiError(405, fmt::format("{} is not answered at {}, only {}", Utf8Lossy(request.method),
                                  Utf8Lossy(path), posts ? "POST" : "GET"));
    response.headers.emplace_back("Allow", posts ? "POST" : "GET, HEAD");
    exchange.Respond(response);
    return;
  }
  if (health) {
    exchange.Respond(Health());
  } else if (models) {
    exchange.Respond(Models(path, exchange.gone()));
  } else if (reward) {
    exchange.Respond(Reward(request.body));
  } else if (updates) {
    exchange.Respond(UpdateWeights(request.body));
  } else if (embeds) {
    exchange.Respond(options_.embeddings->Embeddings(request.body, exchange.gone()));
  } else if (chat || responses) {
    AnswerChat(exchange, responses);
  } else {
    Result<PlainRequest> read = ReadPlainRequest(request.body);
    if (!read.ok()) {
      exchange.Respond(ApiErrorOf(read.error()));
      return;
    }
    const DrawOptions settings = *read;
    Reply(exchange, settings, "cmpl-", [&](const ResponseContext& context) {
      return NewPlainResponse(context, *std::move(read));
    });
  }
}

void Service::AnswerChat(HttpExchange& exchange, bool responses) {
  Json asked;
  Result<ServedChat> read = responses ? ReadModelResponseRequest(exchange.request().body, &asked)
                                      : ReadChatRequest(exchange.request().body);
  if (!read.ok()) {
    exchange.Respond(ApiErrorOf(read.error()));
    return;
  }
  if (const Result<void> trained = AskAsTrained(&*read); !trained.ok()) {
    exchange.Respond(ApiErrorOf(trained.error()));
    return;
  }
  const DrawOptions settings = *read;
  Reply(exchange, settings, responses ? "resp_" : "chatcmpl-", [&](const ResponseContext& context) {
    return responses ? NewModelResponse(context, *std::move(read), std::move(asked))
                     : NewChatResponse(context, *std::move(read));
  });
}

std::string Service::Fingerprint(std::string_view weights) const {
  return fmt::format("hone-{:.12}{}", weights, training_ != nullptr ? "-training" : "");
}

ServerResponse Service::Models(const std::string& path, std::stop_token gone) {
  Json weights = weights_.hash();
  if (training_ != nullptr) {
    const std::optional<std::string> now = training_->Weights(gone);
    weights = now ? Json(*now) : Json();
  }
  const Json model = Json::Of({{"id", model_->name},
                               {"object", "model"},
                               {"created", options_.now()},
                               {"owned_by", "hone"},
                               {"dialect", model_->dialect->traits().name},
                               {"weights", std::move(weights)},
                               {"max_model_len", model_->config.max_positions}});
  if (path == kModels || path == std::string(kModels) + "/") {
    Json::Array models = {model};
    if (options_.embeddings != nullptr) models.push_back(options_.embeddings->Card());
    return JsonResponse(Json::Of({{"object", "list"}, {"data", std::move(models)}}));
  }
  DrawOptions named;
  named.model = path.substr(kModels.size() + 1);
  if (options_.embeddings != nullptr && named.model == options_.embeddings->name()) {
    return JsonResponse(options_.embeddings->Card());
  }
  if (const auto known = CheckModel(named); !known.ok()) {
    return ApiError(404, known.error().message(), "model_not_found");
  }
  return JsonResponse(model);
}

ServerResponse Service::Health() const {
  const Batcher::Counters counters = batcher_.counters();
  Json health = Json::Of({{"status", "ok"},
                          {"live", counters.live},
                          {"waiting", counters.waiting},
                          {"requests", counters.requests},
                          {"tokens", counters.tokens},
                          {"steps", counters.steps},
                          {"cancelled", counters.cancelled},
                          {"unread_calls", unread_calls_.load()}});
  if (training_ != nullptr) health.Set("training", training_->State());
  return JsonResponse(health);
}

void Service::CountUnread(const UnreadCall& call) {
  if (unread_calls_++ == 0 && options_.note) {
    options_.note(NoteOn(call) + " (hone serve --dialect; said once)");
  }
}

// {"completion": "chatcmpl-...", "choice": 0, "name": "outcome", "value": 1}
ServerResponse Service::Reward(const std::string& body) {
  const Result<Json> json = ParseJson(body);
  if (!json.ok()) return ApiError(400, "the body is not JSON: " + json.error().message());
  const Json *completion = json->Find("completion"), *choice = json->Find("choice"),
             *name = json->Find("name"), *value = json->Find("value");
  if (completion == nullptr || !completion->is_string()) {
    return ApiError(400, "completion: is missing: the id of a chat completion");
  }
  if (value == nullptr || !value->is_number()) return ApiError(400, "value: wants a number");
  if ((choice != nullptr && !choice->is_integer()) || (name != nullptr && !name->is_string())) {
    return ApiError(400, "choice: wants an integer; name: wants text");
  }
  const Result<void> put =
      recorder_->Reward(completion->AsString(), choice == nullptr ? 0 : choice->AsInteger(),
                        name == nullptr ? "outcome" : name->AsString(), value->AsDouble());
  if (!put.ok()) return ApiErrorOf(put.error());
  return JsonResponse(Json::Of({{"object", "reward"}, {"recorded", true}}));
}

Result<void> Service::CheckModel(const DrawOptions& settings) const {
  if (settings.model == model_->name) return {};
  return Error(ErrorCode::kNotFound,
               fmt::format("model: the model \"{}\" is not served here; \"{}\" is", settings.model,
                           model_->name));
}

void Service::Reply(HttpExchange& exchange, const DrawOptions& settings, std::string_view prefix,
                    const Maker& make) {
  if (const auto known = CheckModel(settings); !known.ok()) {
    exchange.Respond(ApiError(404, known.error().message(), "model_not_found"));
    return;
  }
  Rng rng = Rng(options_.seed).Split("request").Split(requests_++);
  ResponseContext context{.model = model_,
                          .recorder = recorder_.get(),
                          .head = {.id = fmt::format("{}{:016x}", prefix, rng.NextU64()),
                                   .created = options_.now(),
                                   .model = model_->name,
                                   .fingerprint = ""},
                          // Whole seeds of 53 bits survive every client's JSON.
                          .seed = settings.seed.value_or(rng.NextU64() >> 11),
                          .max_tokens = options_.max_tokens,
                          .thought_tokens = options_.thought_tokens,
                          .unread = [this](const UnreadCall& call) { CountUnread(call); }};
  // What a client hears, if any is there, that was given up while weights were changed.
  Result<Submitted> submitted = Error(ErrorCode::kUnavailable, "other weights are being loaded");
  weights_.Submit(exchange.gone(), [&](const std::string& hash) {
    context.head.fingerprint = Fingerprint(hash);
    submitted = Submit(context, make);
  });
  if (!submitted.ok()) {
    exchange.Respond(ApiErrorOf(submitted.error()));
    return;
  }
  bool begun = false;
  const Result<bool> told =
      Follow(exchange, submitted->ticket.get(), submitted->response.get(), &begun);
  submitted->ticket->Cancel();  // nothing is left of it, or nobody is there to read it
  if (told.ok()) return;
  if (!begun) {
    exchange.Respond(ApiErrorOf(told.error()));
    return;
  }
  // The status is long sent: the stream itself says what happened, and ends as streams do.
  const int status = ApiErrorOf(told.error()).status;
  exchange.Write(EventOf(ApiErrorJson(status, told.error().message())));
}

Result<Service::Submitted> Service::Submit(const ResponseContext& context, const Maker& make) {
  Submitted submitted;
  HONE_ASSIGN_OR_RETURN(submitted.response, make(context));
  HONE_ASSIGN_OR_RETURN(submitted.ticket, batcher_.Submit(submitted.response->Turns()));
  return submitted;
}

// In SGLang's words, for clients that know them.
ServerResponse Service::UpdateWeights(const std::string& body) {
  const auto said = [](int status, const Json& json) {
    return ServerResponse{status, "application/json", DumpJson(json) + "\n", {}};
  };
  const Result<std::string> folder = ReadWeightsUpdate(body);
  if (!folder.ok()) return ApiErrorOf(folder.error());
  const Result<std::string> hash = weights_.Update(*folder, &batcher_);
  if (!hash.ok()) {
    const int status = hash.error().code() == ErrorCode::kUnavailable ? 503 : 400;
    return said(status, Json::Of({{"success", false}, {"message", hash.error().message()}}));
  }
  return said(200, Json::Of({{"success", true},
                             {"message", fmt::format("serves the weights in {}", *folder)},
                             {"weights", *hash}}));
}

Result<bool> Service::Follow(HttpExchange& exchange, BatchTicket* ticket, Response* response,
                             bool* begun) {
  const bool stream = response->settings().stream;
  while (true) {
    const std::vector<BatchTicket::News> news = ticket->Wait(exchange.gone());
    if (exchange.gone().stop_requested()) return false;
    if (const std::optional<Error> failure = ticket->failure()) return *failure;
    if (news.empty()) break;  // all have ended
    std::string events;
    for (const BatchTicket::News& one : news) {
      HONE_ASSIGN_OR_RETURN(const std::string told, response->Tell(one));
      events += told;
    }
    if (!stream || events.empty()) continue;
    if (!*begun) {
      *begun = true;
      exchange.Begin({200,
                      "text/event-stream",
                      "",
                      {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}});
    }
    if (!exchange.Write(events)) return false;
  }
  HONE_ASSIGN_OR_RETURN(std::string last, response->Finish());
  if (!stream) return exchange.Respond(JsonResponse(response->Whole()));
  if (!*begun) {
    *begun = true;
    exchange.Begin({200, "text/event-stream", "", {{"Cache-Control", "no-cache"}}});
  }
  return exchange.Write(last);
}

std::optional<TrainerState> Service::training() const {
  if (training_ == nullptr) return std::nullopt;
  return training_->state();
}

bool Service::Close(std::chrono::milliseconds grace) {
  batcher_.Close();
  const bool idle = batcher_.WaitIdle(grace);
  batcher_.Abandon(Error(ErrorCode::kStopped, "the server is shutting down"));
  return idle;
}

}  // namespace hone
