#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "serve/embedding_request.h"
#include "serve/http_server.h"
#include "simulate/models/text_encoder.h"

namespace hone {

// OpenAI's API over an encoder of texts: POST /v1/embeddings, and as a server of its own GET
// /v1/models and /health. Thread-safe.
class EmbeddingService {
 public:
  struct Options {
    std::string name;              // what clients call the encoder
    std::string api_key;           // as a server of its own; empty: none is asked for
    std::function<int64_t()> now;  // seconds since 1970
    // Told once where a text was too long; null: nobody is.
    std::function<void(std::string_view)> note = nullptr;
  };
  EmbeddingService(std::unique_ptr<TextEncoder> encoder, Options options);

  const std::string& name() const { return options_.name; }
  int64_t dimensions() const { return encoder_->dimensions(); }

  // The response to the body of a POST /v1/embeddings. A stop ends the work soon, as a 503.
  ServerResponse Embeddings(const std::string& body, std::stop_token stop);
  // The encoder as an entry of /v1/models.
  Json Card() const;

  // As a server of its own: an HttpHandler. Requests without the key are to be refused before
  // (KeyRefusal), and are here, too. What only a language model answers is a 404 that says so.
  void Handle(HttpExchange& exchange);

  int64_t texts() const { return texts_; }
  int64_t tokens() const { return tokens_; }

 private:
  Result<Json> Answer(const EmbeddingRequest& request, const std::stop_token& stop);
  Result<std::vector<Encoder::Tokens>> TokensOf(const EmbeddingRequest& request);
  Result<std::vector<std::vector<float>>> VectorsOf(std::span<const Encoder::Tokens> texts,
                                                    const std::stop_token& stop) const;
  ServerResponse Models(const std::string& path) const;

  std::unique_ptr<TextEncoder> encoder_;
  const Options options_;
  std::atomic<int64_t> texts_ = 0, tokens_ = 0;
  std::atomic<bool> noted_ = false;
};

}  // namespace hone
