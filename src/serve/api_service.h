#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "serve/embedding_service.h"
#include "serve/http_server.h"
#include "serve/response.h"
#include "serve/training/training_service.h"
#include "serve/weights_update.h"

namespace hone {

struct ServiceOptions {
  std::string api_key;                    // clients must send it; empty: none is asked for
  int64_t max_tokens = 4096;              // of one completion; requests for more get this many
  std::optional<int64_t> thought_tokens;  // of a chat's turn; requests for more get this many
  uint64_t seed = 0;  // of requests that name none, and of the names of completions
  Batcher::Options batch;
  std::function<int64_t()> now;  // seconds since 1970
  // Told once where clients ask otherwise than the agent was trained, and once where a turn looks
  // like a call in a format that the dialect does not read (all are counted in GET /health); null:
  // nobody is.
  std::function<void(std::string_view)> note = nullptr;
  // Answers POST /v1/embeddings, and must outlive the service; null: nobody does.
  EmbeddingService* embeddings = nullptr;
  // Answers everything below /api/v1/: clients train the model. Absent: nobody does.
  std::optional<TrainingOptions> training = std::nullopt;
  // Clients may let it load other weights: POST /update_weights_from_disk.
  bool allow_updates = false;
};

// OpenAI's API over one model: GET /v1/models, POST /v1/chat/completions, POST /v1/completions,
// POST /v1/responses, GET /health, and, where conversations are recorded, POST /v1/rewards; with an
// encoder beside it POST /v1/embeddings, and where it is allowed POST /update_weights_from_disk.
// Where clients train the model, what is drawn is drawn with the weights of its place in the order
// of all requests. Thread-safe.
class Service {
 public:
  // The model must outlive it. `recorder` may be null.
  Service(ServedModel* model, const ServiceOptions& options,
          std::unique_ptr<ConversationRecorder> recorder);

  // What a request is refused with before its body is read (HttpServerOptions::admit): 401 where a
  // key is asked for and it has none.
  std::optional<ServerResponse> Refusal(const IncomingRequest& head) const;
  // An HttpHandler.
  void Handle(HttpExchange& exchange);

  // Answers no more requests (503), lets those under way end, and after `grace` tells the others
  // that the server is shutting down. True when all ended by themselves.
  bool Close(std::chrono::milliseconds grace);

  Batcher::Counters counters() const { return batcher_.counters(); }
  // What is in training; absent where clients train nothing.
  std::optional<TrainerState> training() const;

 private:
  using Maker = std::function<Result<std::unique_ptr<Response>>(const ResponseContext&)>;

  // POST /v1/chat/completions, or /v1/responses, which asks for the same in other words.
  void AnswerChat(HttpExchange& exchange, bool responses);
  ServerResponse NoSuchRoute(const std::string& path) const;
  ServerResponse Models(const std::string& path, std::stop_token gone);
  // Of the weights, or of what they were before clients trained them.
  std::string Fingerprint(std::string_view weights) const;
  ServerResponse Health() const;
  void CountUnread(const UnreadCall& call);
  ServerResponse Reward(const std::string& body);
  ServerResponse UpdateWeights(const std::string& body);
  Result<void> AskAsTrained(ServedChat* request);
  Result<void> CheckModel(const DrawOptions& settings) const;
  void Reply(HttpExchange& exchange, const DrawOptions& settings, std::string_view prefix,
             const Maker& make);
  struct Submitted {
    std::unique_ptr<Response> response;
    std::shared_ptr<BatchTicket> ticket;
  };
  Result<Submitted> Submit(const ResponseContext& context, const Maker& make);
  // True when the client got all of it; the error, when there is one to tell.
  Result<bool> Follow(HttpExchange& exchange, BatchTicket* ticket, Response* response, bool* begun);

  ServedModel* model_;
  const ServiceOptions options_;
  const std::unique_ptr<ConversationRecorder> recorder_;
  std::atomic<uint64_t> requests_ = 0;
  std::atomic<bool> noted_ = false;
  std::atomic<int64_t> unread_calls_ = 0;
  std::unique_ptr<TrainingService> training_;  // outlives the batcher, whose work is its own
  ServedWeights weights_;
  Batcher batcher_;
};

}  // namespace hone
