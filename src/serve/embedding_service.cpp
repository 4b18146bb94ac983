#include "serve/embedding_service.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/bytes/base64.h"
#include "base/utf8.h"
#include "serve/api_key.h"
#include "serve/request.h"

namespace hone {
namespace {

constexpr std::string_view kModelsPath = "/v1/models";

static_assert(std::endian::native == std::endian::little, "clients read little-endian floats");

// The numbers' bytes in base64, as OpenAI's clients ask for them.
std::string Base64OfVector(const std::vector<float>& vector) {
  return ToBase64({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)});
}

}  // namespace

EmbeddingService::EmbeddingService(std::unique_ptr<TextEncoder> encoder, Options options)
    : encoder_(std::move(encoder)), options_(std::move(options)) {}

Json EmbeddingService::Card() const {
  return Json::Of({{"id", options_.name},
                   {"object", "model"},
                   {"created", options_.now()},
                   {"owned_by", "hone"},
                   {"dimensions", encoder_->dimensions()},
                   {"max_model_len", encoder_->max_tokens()}});
}

Result<std::vector<Encoder::Tokens>> EmbeddingService::TokensOf(const EmbeddingRequest& request) {
  std::vector<Encoder::Tokens> texts;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (const auto* tokens = std::get_if<std::vector<TokenId>>(&request.inputs[i])) {
      if (const auto fits = encoder_->CheckTokens(*tokens); !fits.ok()) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("input: number {}: {}", i + 1, fits.error().message()));
      }
      texts.push_back(*tokens);
      continue;
    }
    TextEncoder::Encoded encoded = encoder_->Encode(std::get<std::string>(request.inputs[i]));
    if (encoded.cut && options_.note && !noted_.exchange(true)) {
      options_.note(
          fmt::format("a text is longer than the {} tokens that {} takes: what is behind "
                      "them is not seen (told once)",
                      encoder_->max_tokens(), options_.name));
    }
    texts.push_back(std::move(encoded.tokens));
  }
  return texts;
}

Result<std::vector<std::vector<float>>> EmbeddingService::VectorsOf(
    std::span<const Encoder::Tokens> texts, const std::stop_token& stop) const {
  std::vector<std::vector<float>> vectors;
  while (!texts.empty()) {
    if (stop.stop_requested()) {
      return Error(ErrorCode::kStopped, "nobody waits for these vectors any more");
    }
    const auto some = texts.first(std::min(TextEncoder::kTextsAtOnce, texts.size()));
    for (std::vector<float>& vector : encoder_->EmbedTokens(some)) {
      vectors.push_back(std::move(vector));
    }
    texts = texts.subspan(some.size());
  }
  return vectors;
}

Result<Json> EmbeddingService::Answer(const EmbeddingRequest& request,
                                      const std::stop_token& stop) {
  if (request.dimensions && *request.dimensions != encoder_->dimensions()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("dimensions: the vectors of \"{}\" have {}, and cannot have {}",
                             options_.name, encoder_->dimensions(), *request.dimensions));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Encoder::Tokens> texts, TokensOf(request));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::vector<float>> vectors, VectorsOf(texts, stop));
  Json::Array data;
  int64_t tokens = 0;
  for (size_t i = 0; i < vectors.size(); ++i) {
    tokens += static_cast<int64_t>(texts[i].size());
    data.push_back(Json::Of({{"object", "embedding"},
                             {"index", static_cast<int64_t>(i)},
                             {"embedding", request.base64 ? Json(Base64OfVector(vectors[i]))
                                                          : VectorJson(vectors[i])}}));
  }
  texts_ += static_cast<int64_t>(texts.size());
  tokens_ += tokens;
  return Json::Of({{"object", "list"},
                   {"data", std::move(data)},
                   {"model", options_.name},
                   {"usage", Json::Of({{"prompt_tokens", tokens}, {"total_tokens", tokens}})}});
}

ServerResponse EmbeddingService::Embeddings(const std::string& body, std::stop_token stop) {
  const Result<EmbeddingRequest> request = ReadEmbeddingRequest(body);
  if (!request.ok()) return ApiErrorOf(request.error());
  if (request->model != options_.name) {
    return ApiError(404,
                    fmt::format("model: the model \"{}\" embeds nothing here; \"{}\" does",
                                request->model, options_.name),
                    "model_not_found");
  }
  const Result<Json> answer = Answer(*request, stop);
  if (!answer.ok()) return ApiErrorOf(answer.error());
  return {200, "application/json", DumpJson(*answer) + "\n", {}};
}

ServerResponse EmbeddingService::Models(const std::string& path) const {
  const bool list = path == kModelsPath || path == std::string(kModelsPath) + "/";
  if (!list && path.substr(kModelsPath.size() + 1) != options_.name) {
    return ApiError(404, fmt::format("model: only \"{}\" is served here", options_.name),
                    "model_not_found");
  }
  const Json json = list ? Json::Of({{"object", "list"}, {"data", Json::Array{Card()}}}) : Card();
  return {200, "application/json", DumpJson(json) + "\n", {}};
}

void EmbeddingService::Handle(HttpExchange& exchange) {
  const IncomingRequest& request = exchange.request();
  const std::string& path = request.path;
  if (const auto refused = KeyRefusal(request, options_.api_key)) {
    exchange.Respond(*refused);
    return;
  }
  const bool embeds = path == "/v1/embeddings";
  const bool models = path == kModelsPath || path.starts_with(std::string(kModelsPath) + "/");
  if (!embeds && !models && !IsHealthPath(path)) {
    exchange.Respond(ApiError(
        404, fmt::format("there is no {} here: \"{}\" is an encoder of texts, which has no "
                         "conversations; there are /v1/embeddings, /v1/models and /health",
                         Utf8Lossy(path), options_.name)));
    return;
  }
  if (request.method != (embeds ? "POST" : "GET") && !(request.method == "HEAD" && !embeds)) {
    ServerResponse response =
        ApiError(405, fmt::format("{} is not answered at {}, only {}", Utf8Lossy(request.method),
                                  Utf8Lossy(path), embeds ? "POST" : "GET"));
    response.headers.emplace_back("Allow", embeds ? "POST" : "GET, HEAD");
    exchange.Respond(response);
    return;
  }
  if (embeds) {
    exchange.Respond(Embeddings(request.body, exchange.gone()));
  } else if (models) {
    exchange.Respond(Models(path));
  } else {
    const Json health = Json::Of({{"status", "ok"}, {"texts", texts()}, {"tokens", tokens()}});
    exchange.Respond({200, "application/json", DumpJson(health) + "\n", {}});
  }
}

}  // namespace hone
