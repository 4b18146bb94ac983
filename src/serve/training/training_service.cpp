#include "serve/training/training_service.h"

#include <algorithm>
#include <array>
#include <new>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "serve/response.h"

namespace hone {
namespace {

constexpr std::string_view kRoot = "/api/v1/";
constexpr std::string_view kProtobuf = "application/x-protobuf";
constexpr std::string_view kSamplers = "/api/v1/samplers/";

ServerResponse Said(const Json& json) {
  return {200, "application/json", DumpJson(json) + "\n", {}};
}

// {"detail": "..."} with the status that its kind of failure has.
ServerResponse Detail(int status, std::string_view message) {
  return {
      status, "application/json", DumpJson(Json::Of({{"detail", Utf8Lossy(message)}})) + "\n", {}};
}

ServerResponse Detail(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kParse: return Detail(422, error.message());
    case ErrorCode::kNotFound: return Detail(404, error.message());
    case ErrorCode::kFull: return Detail(429, error.message());
    case ErrorCode::kUnavailable:
    case ErrorCode::kStopped: return Detail(503, error.message());
    default: return Detail(400, error.message());
  }
}

FailedOutcome FailureOf(const Error& error) {
  const bool servers = error.code() == ErrorCode::kUnavailable ||
                       error.code() == ErrorCode::kStopped || error.code() == ErrorCode::kIo ||
                       error.code() == ErrorCode::kFull;
  return {error.message(), !servers};
}

// What a deed gives; a device that is full is like memory that runs out.
TrainingOutcome OutcomeOf(const std::function<Result<TrainingOutcome>()>& deed) {
  try {
    Result<TrainingOutcome> outcome = deed();
    if (outcome.ok()) return *std::move(outcome);
    return FailureOf(outcome.error());
  } catch (const DeviceError& error) {
    if (error.kind() != DeviceError::Kind::kFull) throw;  // nothing can be computed any more
    throw std::bad_alloc();
  }
}

// What a draw gave, once it is over.
TrainingOutcome DrawnOf(BatchTicket* ticket, DrawOutcome* outcome) {
  if (const std::optional<Error> failure = ticket->failure()) return FailureOf(*failure);
  std::vector<SampleResult> drawn(outcome->sequences.size());
  for (const BatchTicket::News& news : ticket->Wait({})) {
    AppendDrawn(news.fresh, &drawn[news.turn]);
  }
  for (size_t i = 0; i < drawn.size(); ++i) {
    outcome->sequences[i] = {std::move(drawn[i].tokens), std::move(drawn[i].logprobs),
                             drawn[i].stopped};
  }
  return std::move(*outcome);
}

TrainingOutcome JsonOutcome(std::initializer_list<Json::Member> members) {
  return Json::Of(members);
}

bool Mentions(std::string_view header, std::string_view type) {
  return header.find(type) != header.npos;
}

}  // namespace

TrainingService::TrainingService(ServedModel* model, Batcher* batcher, TrainingOptions options)
    : model_(model),
      batcher_(batcher),
      options_(std::move(options)),
      trainer_(model, {.save_to = options_.save_to,
                       .seed = options_.seed,
                       .use = [batcher](Engine* engine) { batcher->UseEngine(engine); }}),
      futures_([this] {
        Futures::Options futures = options_.futures;
        // Ids of a server that was there before mean nothing to this one.
        futures.prefix = fmt::format("{:08x}-", Rng(options_.seed).Split("futures").NextU32());
        return futures;
      }()) {}

bool TrainingService::Serves(const std::string& path) { return path.starts_with(kRoot); }

std::span<const TrainingService::Route> TrainingService::Routes() {
  static constexpr std::array<Route, 20> kRoutes = {{
      {"healthz", "GET", &TrainingService::HealthCheck},
      {"get_server_capabilities", "GET", &TrainingService::Capabilities},
      {"client/config", "POST", &TrainingService::ClientConfig},
      {"client/dynamic_config", "POST", &TrainingService::ClientConfig},
      {"telemetry", "POST", &TrainingService::Telemetry},
      {"create_session", "POST", &TrainingService::CreateSession},
      {"session_heartbeat", "POST", &TrainingService::Heartbeat},
      {"create_sampling_session", "POST", &TrainingService::CreateSamplingSession},
      {"create_model", "POST", &TrainingService::CreateModel},
      {"unload_model", "POST", &TrainingService::UnloadModel},
      {"get_info", "POST", &TrainingService::GetInfo},
      {"forward", "POST", &TrainingService::Forward},
      {"forward_backward", "POST", &TrainingService::ForwardBackward},
      {"optim_step", "POST", &TrainingService::OptimStep},
      {"save_weights", "POST", &TrainingService::SaveWeights},
      {"save_weights_for_sampler", "POST", &TrainingService::SaveWeightsForSampler},
      {"load_weights", "POST", &TrainingService::LoadWeights},
      {"weights_info", "POST", &TrainingService::WeightsInfo},
      {"asample", "POST", &TrainingService::Sample},
      {"retrieve_future", "POST", &TrainingService::Retrieve},
  }};
  return kRoutes;
}

void TrainingService::Handle(HttpExchange& exchange) {
  const IncomingRequest& request = exchange.request();
  if (request.path.starts_with(kSamplers) && request.method == "GET") {
    exchange.Respond(Sampler(request.path.substr(kSamplers.size())));
    return;
  }
  const std::string_view name = std::string_view(request.path).substr(kRoot.size());
  const std::span<const Route> routes = Routes();
  const auto route = std::find_if(routes.begin(), routes.end(),
                                  [&](const Route& one) { return one.path == name; });
  if (route == routes.end()) {
    std::string names;
    for (const Route& one : routes) names += fmt::format(", {}", one.path);
    exchange.Respond(Detail(404, fmt::format("there is no {} here; below {} there are {}",
                                             request.path, kRoot, names.substr(2))));
    return;
  }
  if (request.method != route->method) {
    ServerResponse wrong = Detail(405, fmt::format("{} answers {}", request.path, route->method));
    wrong.headers.emplace_back("Allow", std::string(route->method));
    exchange.Respond(wrong);
    return;
  }
  if (const auto encoding = request.Header("content-encoding");
      !encoding.empty() && encoding != "identity") {
    exchange.Respond(Detail(415, "send bodies as they are, without a Content-Encoding"));
    return;
  }
  exchange.Respond((this->*route->answer)(exchange));
}

Json TrainingService::State() const {
  const TrainerState now = trainer_.state();
  return Json::Of({{"model_id", now.model_id.empty() ? Json() : Json(now.model_id)},
                   {"lora_rank", now.rank},
                   {"steps", now.steps},
                   {"accumulated", now.accumulated},
                   {"unsaved", now.unsaved},
                   {"calls_waiting", static_cast<int64_t>(futures_.waiting())},
                   {"weights", now.weights.empty() ? Json() : Json(now.weights)}});
}

std::optional<std::string> TrainingService::Weights(std::stop_token stop) {
  const Result<std::string> id = futures_.Begin(0);
  if (!id.ok()) return std::nullopt;
  BegunFuture begun(&futures_, *id);
  const auto accepted =
      batcher_->Do(Batcher::When::kBetweenSteps, [this, id = *id](const Error* dropped) {
        futures_.FinishWith(id, [&]() -> TrainingOutcome {
          if (dropped != nullptr) return FailureOf(*dropped);
          return OutcomeOf([&] { return TrainingOutcome(Json(trainer_.Weights())); });
        });
      });
  if (!accepted.ok()) return std::nullopt;
  begun.Accept();
  const Futures::Found found = futures_.Wait(*id, std::chrono::hours(1), stop);
  if (found.outcome == nullptr) return std::nullopt;
  const Json* weights = std::get_if<Json>(found.outcome.get());
  return weights == nullptr ? std::nullopt : std::optional(weights->AsString());
}

// --- what computes nothing -----------------------------------------------------------------------

ServerResponse TrainingService::HealthCheck(HttpExchange&) {
  return Said(Json::Of({{"status", "ok"}}));
}

// Flags by which clients do as this server wants: chunks in their order, bodies uncompressed, and
// no more samples on their way than there are connections to fetch them by.
ServerResponse TrainingService::ClientConfig(HttpExchange&) {
  return Said(Json::Of({{"pjwt_auth_enabled", false},
                        {"parallel_fwdbwd_chunks", false},
                        {"proto_compress_fwdbwd", false},
                        {"create_model_via_load_weights", false},
                        {"sample_max_concurrent_requests", 128},
                        {"refresh_interval_sec", 3600}}));
}

ServerResponse TrainingService::Capabilities(HttpExchange&) {
  return Said(
      Json::Of({{"supported_models",
                 Json::Array{Json::Of({{"model_name", model_->name},
                                       {"max_context_length", model_->config.max_positions}})}}}));
}

// Taken, and nothing is done with it.
ServerResponse TrainingService::Telemetry(HttpExchange&) {
  return Said(Json::Of({{"status", "accepted"}}));
}

// A session is a name. Nothing is kept of it, and a client that leaves has nothing to give back.
ServerResponse TrainingService::CreateSession(HttpExchange&) {
  MutexLock lock(order_);
  const uint64_t name = Rng(options_.seed).Split("session").Split(models_++).NextU64();
  return Said(Json::Of({{"type", "create_session"},
                        {"session_id", fmt::format("session-{:016x}", name)},
                        {"warning_message",
                         "adapters of this server are on attention and feed-forward projections; "
                         "train_unembed adds none"}}));
}

ServerResponse TrainingService::Heartbeat(HttpExchange&) {
  return Said(Json::Of({{"type", "session_heartbeat"}}));
}

ServerResponse TrainingService::CreateSamplingSession(HttpExchange& exchange) {
  const Result<SamplerChoice> choice = ReadSamplerCall(exchange.request().body);
  if (!choice.ok()) return Detail(choice.error());
  const Result<std::string> sampler = trainer_.SamplerOf(*choice);
  if (!sampler.ok()) return Detail(sampler.error());
  return Said(Json::Of({{"type", "create_sampling_session"}, {"sampling_session_id", *sampler}}));
}

ServerResponse TrainingService::Sampler(const std::string& path) const {
  return Said(Json::Of({{"sampler_id", Utf8Lossy(path)}, {"base_model", model_->name}}));
}

ServerResponse TrainingService::GetInfo(HttpExchange& exchange) {
  const Result<ModelCall> call = ReadModelCall(exchange.request().body);
  if (!call.ok()) return Detail(call.error());
  const TrainerState now = trainer_.state();
  if (now.model_id.empty() || call->model_id != now.model_id) {
    return Detail(404, fmt::format("model_id: there is no model \"{}\"", call->model_id));
  }
  std::error_code ignored;
  return Said(Json::Of(
      {{"type", "get_info"},
       {"model_id", now.model_id},
       {"model_name", model_->name},
       {"is_lora", now.rank > 0},
       {"lora_rank", now.rank > 0 ? Json(now.rank) : Json()},
       {"model_data",
        Json::Of({{"model_name", model_->name},
                  {"tokenizer_id",
                   std::filesystem::absolute(model_->place.folder, ignored).string()}})}}));
}

ServerResponse TrainingService::WeightsInfo(HttpExchange& exchange) {
  const Result<std::string> path = ReadPathCall(exchange.request().body);
  if (!path.ok()) return Detail(path.error());
  const Result<SavedCard> card = trainer_.CardAt(*path);
  if (!card.ok()) return Detail(card.error());
  return Said(Json::Of(
      {{"base_model", card->base_model}, {"is_lora", card->rank > 0}, {"lora_rank", card->rank}}));
}

// --- what computes -------------------------------------------------------------------------------

ServerResponse TrainingService::Accept(const ModelCall& call, const std::string& body,
                                       Batcher::When when, Deed deed) {
  const std::string hash = call.seq_id ? Sha256Hex(body) : "";
  MutexLock lock(order_);
  const Result<std::optional<std::string>> repeated = numbered_.Repeated(call, hash);
  if (!repeated.ok()) return Detail(repeated.error());
  std::string id = repeated->value_or("");
  if (id.empty()) {
    Result<std::string> given = futures_.Begin(body.size());
    if (!given.ok()) return Detail(given.error());
    id = *std::move(given);
    BegunFuture begun(&futures_, id);
    const Result<void> accepted =
        batcher_->Do(when, [this, id, deed = std::move(deed)](const Error* dropped) {
          futures_.FinishWith(id, [&]() -> TrainingOutcome {
            return dropped != nullptr ? TrainingOutcome(FailureOf(*dropped)) : OutcomeOf(deed);
          });
        });
    if (!accepted.ok()) return Detail(accepted.error());
    begun.Accept();
    numbered_.Add(call, hash, id);
  }
  return Said(Json::Of({{"request_id", id}, {"model_id", call.model_id}}));
}

std::string TrainingService::NewModelId() {
  MutexLock lock(order_);
  while (true) {
    const uint32_t name = Rng(options_.seed).Split("model").Split(models_++).NextU32();
    std::string id = fmt::format("run-{:08x}", name);
    std::error_code ignored;
    if (options_.save_to.empty() || !std::filesystem::exists(options_.save_to / id, ignored)) {
      numbered_.Name(id, trainer_.state().model_id);
      return id;
    }
  }
}

ServerResponse TrainingService::CreateModel(HttpExchange& exchange) {
  const Result<CreateCall> call = ReadCreateCall(exchange.request().body);
  if (!call.ok()) return Detail(call.error());
  if (call->base_model != model_->name) {
    return Detail(400, fmt::format("base_model: the model \"{}\" is not served here; \"{}\" is",
                                   call->base_model, model_->name));
  }
  const std::string id = NewModelId();
  return Accept({.model_id = id, .seq_id = {}}, exchange.request().body, Batcher::When::kAfterTurns,
                [this, id, call = *call]() -> Result<TrainingOutcome> {
                  HONE_RETURN_IF_ERROR(trainer_.Create(id, call));
                  return JsonOutcome({{"type", "create_model"}, {"model_id", id}});
                });
}

ServerResponse TrainingService::UnloadModel(HttpExchange& exchange) {
  const Result<ModelCall> call = ReadModelCall(exchange.request().body);
  if (!call.ok()) return Detail(call.error());
  return Accept(*call, exchange.request().body, Batcher::When::kAfterTurns,
                [this, call = *call]() -> Result<TrainingOutcome> {
                  HONE_RETURN_IF_ERROR(trainer_.Unload(call));
                  return JsonOutcome({{"type", "unload_model"}, {"model_id", call.model_id}});
                });
}

ServerResponse TrainingService::AcceptForward(Result<ForwardCall> call, const std::string& body) {
  if (!call.ok()) return Detail(call.error());
  const auto shared = std::make_shared<const ForwardCall>(*std::move(call));
  return Accept(*shared, body, Batcher::When::kBetweenSteps,
                [this, shared]() -> Result<TrainingOutcome> {
                  HONE_ASSIGN_OR_RETURN(ForwardOutcome outcome, trainer_.Forward(*shared));
                  return TrainingOutcome(std::move(outcome));
                });
}

ServerResponse TrainingService::Forward(HttpExchange& exchange) {
  const std::string& body = exchange.request().body;
  return AcceptForward(ReadForwardCall(body, false, model_->config), body);
}

ServerResponse TrainingService::ForwardBackward(HttpExchange& exchange) {
  const std::string& body = exchange.request().body;
  const bool proto = Mentions(exchange.request().Header("content-type"), kProtobuf);
  return AcceptForward(
      proto ? ReadForwardProto(body, model_->config) : ReadForwardCall(body, true, model_->config),
      body);
}

ServerResponse TrainingService::OptimStep(HttpExchange& exchange) {
  const Result<StepCall> call = ReadStepCall(exchange.request().body);
  if (!call.ok()) return Detail(call.error());
  return Accept(
      *call, exchange.request().body, Batcher::When::kAfterTurns,
      [this, call = *call]() -> Result<TrainingOutcome> {
        HONE_ASSIGN_OR_RETURN(const double norm, trainer_.Step(call));
        return JsonOutcome({{"type", "optim_step"}, {"metrics", Json::Of({{"grad_norm", norm}})}});
      });
}

ServerResponse TrainingService::AcceptSave(Result<SaveCall> call, const std::string& body) {
  if (!call.ok()) return Detail(call.error());
  if (call->name) {
    if (const auto name = CheckSavedName(*call->name); !name.ok()) return Detail(name.error());
  }
  return Accept(*call, body, Batcher::When::kBetweenSteps,
                [this, call = *call]() -> Result<TrainingOutcome> {
                  HONE_ASSIGN_OR_RETURN(std::string saved, trainer_.Save(call));
                  return JsonOutcome(
                      {{"type", call.for_sampler ? "save_weights_for_sampler" : "save_weights"},
                       {call.name ? "path" : "sampling_session_id", std::move(saved)}});
                });
}

ServerResponse TrainingService::SaveWeights(HttpExchange& exchange) {
  const std::string& body = exchange.request().body;
  return AcceptSave(ReadSaveCall(body, false), body);
}

ServerResponse TrainingService::SaveWeightsForSampler(HttpExchange& exchange) {
  const std::string& body = exchange.request().body;
  return AcceptSave(ReadSaveCall(body, true), body);
}

ServerResponse TrainingService::LoadWeights(HttpExchange& exchange) {
  const Result<LoadCall> call = ReadLoadCall(exchange.request().body);
  if (!call.ok()) return Detail(call.error());
  return Accept(*call, exchange.request().body, Batcher::When::kAfterTurns,
                [this, call = *call]() -> Result<TrainingOutcome> {
                  HONE_RETURN_IF_ERROR(trainer_.Load(call));
                  return JsonOutcome(
                      {{"type", "load_weights"}, {"path", call.path}, {"model_id", call.model_id}});
                });
}

std::vector<Batcher::Turn> TrainingService::TurnsOf(const DrawCall& call,
                                                    const std::string& sampler) {
  const uint64_t seed =
      call.seed.value_or(Rng(options_.seed).Split("draw").Split(samples_++).NextU64());
  const int64_t room = model_->config.max_positions - std::ssize(call.prompt);
  std::vector<Batcher::Turn> turns;
  for (int64_t i = 0; i < call.samples; ++i) {
    Batcher::Turn& turn = turns.emplace_back();
    turn.prompt = call.prompt;
    turn.request.max_new =
        std::min({call.max_tokens.value_or(options_.max_tokens), options_.max_tokens, room});
    turn.request.sampling = call.sampling;
    turn.request.rng = ChoiceStream(seed, i);
    turn.request.stop_tokens = call.stop_tokens;
    turn.request.stop = StopAtText(model_->tokenizer.get(), call.stop_texts);
    turn.request.supports = false;
    turn.admit = [this, sampler] { return trainer_.CheckSampler(sampler); };
  }
  return turns;
}

ServerResponse TrainingService::Sample(HttpExchange& exchange) {
  const Result<DrawCall> call = ReadDrawCall(exchange.request().body, model_->config);
  if (!call.ok()) return Detail(call.error());
  const Result<std::string> sampler = trainer_.SamplerOf(call->from);
  if (!sampler.ok()) return Detail(sampler.error());
  if (call->samples > batcher_->places()) {
    return Detail(400, fmt::format("num_samples: {} are more than this server ever takes, {}",
                                   call->samples, batcher_->places()));
  }
  std::vector<Batcher::Turn> turns = TurnsOf(*call, *sampler);
  const auto outcome = std::make_shared<DrawOutcome>();
  outcome->sequences.resize(turns.size());
  if (call->prompt_logprobs) {
    // The first turn's place is the prompt's, too: the same weights say both.
    turns[0].admit = [this, outcome, check = turns[0].admit,
                      prompt = call->prompt]() -> Result<void> {
      HONE_RETURN_IF_ERROR(check());
      outcome->prompt_logprobs = trainer_.PromptLogprobs(prompt);
      return {};
    };
  }
  MutexLock lock(order_);
  const Result<std::string> id = futures_.Begin(exchange.request().body.size());
  if (!id.ok()) return Detail(id.error());
  BegunFuture begun(&futures_, *id);
  const auto over = [this, outcome, id = *id](BatchTicket& ticket) {
    futures_.FinishWith(id, [&] { return DrawnOf(&ticket, outcome.get()); });
  };
  const auto ticket = batcher_->Submit(std::move(turns), over);
  if (!ticket.ok()) return Detail(ticket.error());
  begun.Accept();
  return Said(Json::Of({{"request_id", *id}}));
}

ServerResponse TrainingService::Retrieve(HttpExchange& exchange) {
  const Result<RetrieveCall> call = ReadRetrieveCall(exchange.request().body);
  if (!call.ok()) return Detail(call.error());
  const Futures::Found found = futures_.Wait(call->request_id, options_.patience, exchange.gone());
  if (found.state == Futures::State::kUnknown) {
    return Detail(404,
                  fmt::format("request_id: there is no outcome \"{}\"; outcomes are kept until "
                              "newer ones need the room",
                              call->request_id));
  }
  if (found.state == Futures::State::kWaiting) {
    return Said(Json::Of(
        {{"type", "try_again"}, {"request_id", call->request_id}, {"queue_state", "active"}}));
  }
  if (Mentions(exchange.request().Header("accept"), kProtobuf)) {
    if (std::optional<std::string> proto = OutcomeProto(*found.outcome)) {
      return {200, std::string(kProtobuf), *std::move(proto), {}};
    }
  }
  return Said(OutcomeJson(*found.outcome));
}

}  // namespace hone
