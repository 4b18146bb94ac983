#include "serve/embedding_request.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/nearest.h"

namespace hone {
namespace {

// A token of any model.
constexpr int64_t kLargestToken = int64_t{1} << 30;

Error BadField(std::string_view parameter, std::string_view problem) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", parameter, problem));
}

Result<std::vector<TokenId>> ReadTokenList(const Json::Array& list) {
  std::vector<TokenId> tokens;
  for (const Json& token : list) {
    if (!token.is_integer() || token.AsInteger() < 0 || token.AsInteger() > kLargestToken) {
      return BadField("input", "a list of tokens has something else in it");
    }
    tokens.push_back(static_cast<TokenId>(token.AsInteger()));
  }
  if (tokens.empty()) return BadField("input", "a list of tokens is empty");
  return tokens;
}

Result<void> ReadInput(const Json& json, std::vector<EmbeddingRequest::Input>* inputs) {
  if (json.is_string()) {
    inputs->emplace_back(json.AsString());
    return {};
  }
  if (!json.is_array() || json.AsArray().empty()) {
    return BadField("input", "wants a text, a list of texts, a list of tokens or a list of those");
  }
  const Json::Array& list = json.AsArray();
  if (list[0].is_integer()) {
    HONE_ASSIGN_OR_RETURN(std::vector<TokenId> tokens, ReadTokenList(list));
    inputs->emplace_back(std::move(tokens));
    return {};
  }
  if (list.size() > kMostEmbeddings) {
    return BadField("input", fmt::format("at most {} texts at a time", kMostEmbeddings));
  }
  for (const Json& entry : list) {
    if (entry.is_string() && list[0].is_string()) {
      inputs->emplace_back(entry.AsString());
    } else if (entry.is_array() && list[0].is_array()) {
      HONE_ASSIGN_OR_RETURN(std::vector<TokenId> tokens, ReadTokenList(entry.AsArray()));
      inputs->emplace_back(std::move(tokens));
    } else {
      return BadField("input", "all must be texts, or all must be lists of tokens");
    }
  }
  return {};
}

Result<void> ReadShape(const Json& json, EmbeddingRequest* request) {
  const auto find = [&](std::string_view key) -> const Json* {
    const Json* value = json.Find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  };
  if (const Json* format = find("encoding_format"); format != nullptr) {
    if (*format != Json("float") && *format != Json("base64")) {
      return BadField("encoding_format", "wants \"float\" or \"base64\"");
    }
    request->base64 = *format == Json("base64");
  }
  if (const Json* dimensions = find("dimensions"); dimensions != nullptr) {
    if (!dimensions->is_integer() || dimensions->AsInteger() < 1) {
      return BadField("dimensions", "wants an integer greater than 0");
    }
    request->dimensions = dimensions->AsInteger();
  }
  return {};
}

}  // namespace

Result<EmbeddingRequest> ReadEmbeddingRequest(std::string_view body) {
  const Result<Json> json = ParseJson(body);
  if (!json.ok()) {
    return Error(ErrorCode::kParse,
                 fmt::format("the body is not JSON: {}", json.error().message()));
  }
  if (!json->is_object()) return Error(ErrorCode::kParse, "the body is not a JSON object");
  const std::vector<std::string> known = {"model", "input", "encoding_format", "dimensions",
                                          "user"};
  for (const auto& member : json->AsObject()) {
    if (std::find(known.begin(), known.end(), member.first) != known.end()) continue;
    return BadField(member.first,
                    fmt::format("there is no such parameter{}", DidYouMean(member.first, known)));
  }
  EmbeddingRequest request;
  const Json* model = json->Find("model");
  if (model == nullptr || !model->is_string()) {
    return BadField("model", "is missing: the model's name");
  }
  request.model = model->AsString();
  const Json* input = json->Find("input");
  if (input == nullptr || input->is_null()) {
    return BadField("input", "is missing: the texts to embed");
  }
  HONE_RETURN_IF_ERROR(ReadInput(*input, &request.inputs));
  HONE_RETURN_IF_ERROR(ReadShape(*json, &request));
  return request;
}

}  // namespace hone
