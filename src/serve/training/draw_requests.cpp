// What is to be drawn, and by what: asample and create_sampling_session.

#include <cmath>

#include <fmt/format.h>

#include "engine/token_check.h"
#include "serve/training/read_call.h"
#include "serve/training/training_requests.h"

namespace hone {
namespace {

Error WrongDraw(std::string_view key, std::string_view problem) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", key, problem));
}

// A number that no model has as a token becomes one that none has, too.
TokenId TokenOf(int64_t sent) {
  return sent < 0 || sent > (1 << 30) ? -1 : static_cast<TokenId>(sent);
}

Result<void> CheckChoice(const SamplerChoice& choice) {
  const int said = int{choice.base_model.has_value()} + int{choice.model_path.has_value()} +
                   int{choice.session.has_value()};
  if (said == 1) return {};
  return Error(ErrorCode::kInvalidArgument,
               "say exactly one of sampling_session_id, model_path and base_model");
}

// A text, or a list of texts or of tokens.
void ReadStop(const Json& stop, const std::string& path, JsonErrors* errors, DrawCall* call) {
  constexpr size_t kMostStops = 64;
  const Json::Array list = stop.is_array() ? stop.AsArray() : Json::Array{stop};
  for (const Json& one : list) {
    if (one.is_string() && !one.AsString().empty()) {
      call->stop_texts.push_back(one.AsString());
    } else if (one.is_integer() && stop.is_array()) {
      call->stop_tokens.push_back(TokenOf(one.AsInteger()));
    } else {
      errors->Add(path, "wants a text, a list of texts or a list of tokens");
      return;
    }
  }
  if (list.size() > kMostStops || (!call->stop_texts.empty() && !call->stop_tokens.empty())) {
    errors->Add(path, "wants texts or tokens, at most 64");
  }
}

void ReadSamplingParams(const Json& json, JsonErrors* errors, DrawCall* call) {
  JsonFields fields(json, "sampling_params", errors);
  int64_t top_k = -1;
  fields.Optional("max_tokens", &call->max_tokens);
  fields.Optional("seed", &call->seed);
  fields.Optional("temperature", &call->sampling.temperature);
  fields.Optional("top_k", &top_k);
  fields.Optional("top_p", &call->sampling.top_p);
  if (const Json* stop = fields.Take("stop"); stop != nullptr && !stop->is_null()) {
    ReadStop(*stop, "sampling_params.stop", errors, call);
  }
  if (top_k < -1 || top_k > (1 << 30)) {
    errors->Add("sampling_params.top_k", "wants a number from 1 on, or -1 for no limit");
  } else {
    call->sampling.top_k = top_k > 0 ? static_cast<int32_t>(top_k) : 0;
  }
}

Result<void> CheckDraw(const DrawCall& call, const ModelConfig& model) {
  const Sampling& sampling = call.sampling;
  if (!(sampling.temperature == 0 ||
        (sampling.temperature >= 1e-4f && sampling.temperature <= 100))) {
    return WrongDraw("sampling_params.temperature", "wants 0, or a number from 0.0001 to 100");
  }
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    return WrongDraw("sampling_params.top_p", "wants a number above 0, up to 1");
  }
  if (call.max_tokens && *call.max_tokens < 1) {
    return WrongDraw("sampling_params.max_tokens", "wants a number from 1 on");
  }
  if (call.samples < 1 || call.samples > 4096) {
    return WrongDraw("num_samples", "wants a number from 1 to 4096");
  }
  if (call.prompt.empty()) return WrongDraw("prompt", "has no tokens");
  if (const auto fits = CheckTokens(model, call.prompt); !fits.ok()) {
    return WrongDraw("prompt", fits.error().message());
  }
  if (std::ssize(call.prompt) >= model.max_positions) {
    return WrongDraw(
        "prompt", fmt::format("leaves no room in the model's {} positions", model.max_positions));
  }
  if (const auto known = CheckTokens(model, call.stop_tokens); !known.ok()) {
    return WrongDraw("sampling_params.stop", known.error().message());
  }
  return {};
}

}  // namespace

Result<DrawCall> ReadDrawCall(std::string_view body, const ModelConfig& model) {
  HONE_ASSIGN_OR_RETURN(
      DrawCall call,
      ReadCall<DrawCall>(body, [](JsonFields& fields, JsonErrors* errors, DrawCall* draw) {
        Json input, params;
        std::optional<bool> prompt_logprobs;
        int64_t likeliest = 0;
        fields.Take("seq_id");
        fields.Required("prompt", &input);
        fields.Required("sampling_params", &params);
        fields.Optional("num_samples", &draw->samples);
        fields.Optional("base_model", &draw->from.base_model);
        fields.Optional("model_path", &draw->from.model_path);
        fields.Optional("sampling_session_id", &draw->from.session);
        fields.Optional("prompt_logprobs", &prompt_logprobs);
        fields.Optional("topk_prompt_logprobs", &likeliest);
        draw->prompt_logprobs = prompt_logprobs.value_or(false);
        if (likeliest != 0) errors->Add("topk_prompt_logprobs", "is not supported here");
        std::vector<int64_t> tokens;
        ReadModelInput(input, "prompt", errors, &tokens);
        for (const int64_t token : tokens) draw->prompt.push_back(TokenOf(token));
        ReadSamplingParams(params, errors, draw);
      }));
  HONE_RETURN_IF_ERROR(CheckChoice(call.from));
  HONE_RETURN_IF_ERROR(CheckDraw(call, model));
  return call;
}

Result<SamplerChoice> ReadSamplerCall(std::string_view body) {
  HONE_ASSIGN_OR_RETURN(
      const SamplerChoice choice,
      ReadCall<SamplerChoice>(body, [](JsonFields& fields, JsonErrors*, SamplerChoice* sampler) {
        for (const char* key : {"session_id", "sampling_session_seq_id"}) fields.Take(key);
        fields.Optional("base_model", &sampler->base_model);
        fields.Optional("model_path", &sampler->model_path);
      }));
  HONE_RETURN_IF_ERROR(CheckChoice(choice));
  return choice;
}

}  // namespace hone
