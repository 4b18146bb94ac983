#include "serve/training/training_requests.h"

#include <cmath>

#include <fmt/format.h>

#include "engine/token_check.h"
#include "serve/training/read_call.h"

namespace hone {

// Found by the templates of json_fields.h.
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, SentTensor* tensor) {
  JsonFields fields(json, path, errors);
  std::string dtype;
  std::optional<std::vector<int64_t>> shape, rows, columns;
  fields.Required("data", &tensor->values);
  fields.Optional("dtype", &dtype);
  fields.Optional("shape", &shape);
  fields.Optional("sparse_crow_indices", &rows);
  fields.Optional("sparse_col_indices", &columns);
  if (!dtype.empty() && dtype != "int64" && dtype != "float32") {
    errors->Add(fields.PathOf("dtype"), "wants \"int64\" or \"float32\"");
  }
  tensor->shape = shape.value_or(std::vector<int64_t>());
  tensor->sparse = rows.has_value() || columns.has_value();
}

namespace {

Error Wrong(std::string_view key, std::string_view problem) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", key, problem));
}

void ReadDatum(const Json& json, const std::string& path, JsonErrors* errors, SentDatum* datum) {
  JsonFields fields(json, path, errors);
  Json input, inputs;
  fields.Required("model_input", &input);
  fields.Required("loss_fn_inputs", &inputs);
  ReadModelInput(input, fields.PathOf("model_input"), errors, &datum->tokens);
  if (!inputs.is_object()) {
    errors->Add(fields.PathOf("loss_fn_inputs"), "wants an object");
    return;
  }
  for (const auto& [name, value] : inputs.AsObject()) {
    SentTensor tensor;
    ReadJson(value, fields.PathOf("loss_fn_inputs") + "." + name, errors, &tensor);
    datum->inputs.emplace_back(name, std::move(tensor));
  }
}

void ReadModel(JsonFields& fields, ModelCall* call) {
  fields.Required("model_id", &call->model_id);
  fields.Optional("seq_id", &call->seq_id);
}

// Whole numbers from 0 on, of which double has all that are of use.
Result<std::vector<TokenId>> TokensOf(std::string_view key, const std::vector<double>& values,
                                      const ModelConfig& model) {
  std::vector<TokenId> tokens;
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (!(value >= 0 && value < static_cast<double>(model.vocab) && value == std::floor(value))) {
      return Wrong(
          fmt::format("{}[{}]", key, i),
          fmt::format("{} is not a token of the model's vocabulary of {}", value, model.vocab));
    }
    tokens.push_back(static_cast<TokenId>(value));
  }
  return tokens;
}

Result<std::vector<TokenId>> TokensOf(std::string_view key, const std::vector<int64_t>& values,
                                      const ModelConfig& model) {
  return TokensOf(key, std::vector<double>(values.begin(), values.end()), model);
}

Result<void> TakeInput(const std::string& name, const SentTensor& tensor,
                       const TokenLossOptions& loss, WeighedSequence* sequence) {
  std::vector<float>* to = name == "weights"                         ? &sequence->weights
                           : loss.HasRatio() && name == "advantages" ? &sequence->advantages
                           : loss.HasRatio() && name == "logprobs"   ? &sequence->sampled
                                                                     : nullptr;
  const std::string key = "loss_fn_inputs." + name;
  if (to == nullptr) {
    return Wrong(key, fmt::format("this loss has no such input; it has target_tokens, {}weights",
                                  loss.HasRatio() ? "logprobs, advantages and " : ""));
  }
  for (const double value : tensor.values) to->push_back(static_cast<float>(value));
  return {};
}

Result<void> CheckForm(const std::string& name, const SentTensor& tensor, size_t size) {
  const std::string key = "loss_fn_inputs." + name;
  const bool flat = tensor.shape.empty() ||
                    (tensor.shape.size() == 1 && tensor.shape[0] == std::ssize(tensor.values));
  if (tensor.sparse || !flat) return Wrong(key, "wants a list of one number per token");
  if (tensor.values.size() != size) {
    return Wrong(
        key, fmt::format("has {} numbers; model_input has {} tokens", tensor.values.size(), size));
  }
  return {};
}

}  // namespace

void ReadModelInput(const Json& json, const std::string& path, JsonErrors* errors,
                    std::vector<int64_t>* tokens) {
  JsonFields fields(json, path, errors);
  Json chunks;
  fields.Required("chunks", &chunks);
  if (!chunks.is_array()) {
    errors->Add(fields.PathOf("chunks"), "wants an array of chunks");
    return;
  }
  for (size_t i = 0; i < chunks.AsArray().size(); ++i) {
    const std::string at = fields.PathOf("chunks") + "[" + std::to_string(i) + "]";
    JsonFields chunk(chunks.AsArray()[i], at, errors);
    std::string type = "encoded_text";
    std::vector<int64_t> some;
    chunk.Optional("type", &type);
    if (type != "encoded_text") {
      errors->Add(at, "is no encoded_text; this server trains on tokens alone");
      for (const char* key : {"data", "format", "location", "expected_tokens", "dmel", "tokens"}) {
        chunk.Take(key);
      }
      continue;
    }
    chunk.Required("tokens", &some);
    tokens->insert(tokens->end(), some.begin(), some.end());
  }
}

Result<WeighedSequence> SequenceOf(const SentDatum& datum, const TokenLossOptions& loss,
                                   const ModelConfig& model) {
  WeighedSequence sequence;
  HONE_ASSIGN_OR_RETURN(sequence.tokens, TokensOf("model_input", datum.tokens, model));
  const size_t size = sequence.tokens.size();
  if (size == 0) return Wrong("model_input", "has no tokens");
  bool targeted = false, weighed = false;
  for (const auto& [name, tensor] : datum.inputs) {
    HONE_RETURN_IF_ERROR(CheckForm(name, tensor, size));
    if (name != "target_tokens") {
      HONE_RETURN_IF_ERROR(TakeInput(name, tensor, loss, &sequence));
      weighed |= name == "weights";
      continue;
    }
    targeted = true;
    HONE_ASSIGN_OR_RETURN(const std::vector<TokenId> targets,
                          TokensOf("loss_fn_inputs.target_tokens", tensor.values, model));
    for (size_t t = 0; t + 1 < size; ++t) {
      if (targets[t] == sequence.tokens[t + 1]) continue;
      return Wrong(fmt::format("loss_fn_inputs.target_tokens[{}]", t),
                   "is not the next token of model_input; targets are the sequence moved by one");
    }
    sequence.tokens.push_back(targets.back());
  }
  if (!targeted) return Wrong("loss_fn_inputs.target_tokens", "is missing");
  if (!weighed) sequence.weights.assign(size, 1.0f);
  if (const auto fits = CheckTokens(model, sequence.tokens); !fits.ok()) {
    return Wrong("model_input", fits.error().message() + ", the last target included");
  }
  if (const auto sound = CheckSequence(loss, sequence); !sound.ok()) {
    return Error(sound.error().code(), "loss_fn_inputs." + sound.error().message());
  }
  return sequence;
}

Result<std::vector<WeighedSequence>> SequencesOf(const std::vector<SentDatum>& data,
                                                 const TokenLossOptions& loss,
                                                 const ModelConfig& model) {
  if (data.empty()) return Wrong("data", "is empty");
  std::vector<WeighedSequence> sequences;
  for (size_t i = 0; i < data.size(); ++i) {
    Result<WeighedSequence> sequence = SequenceOf(data[i], loss, model);
    if (!sequence.ok()) {
      return Error(sequence.error().code(),
                   fmt::format("data[{}].{}", i, sequence.error().message()));
    }
    sequences.push_back(*std::move(sequence));
  }
  return sequences;
}

Result<ForwardCall> ReadForwardCall(std::string_view body, bool backward,
                                    const ModelConfig& model) {
  struct Sent : ModelCall {
    std::vector<SentDatum> data;
    std::string loss;
    LossSettings settings;
  };
  HONE_ASSIGN_OR_RETURN(
      const Sent sent,
      ReadCall<Sent>(body, [&](JsonFields& fields, JsonErrors* errors, Sent* call) {
        ReadModel(fields, call);
        const std::string key = backward ? "forward_backward_input" : "forward_input";
        Json input, data, settings;
        fields.Required(key, &input);
        JsonFields inside(input, key, errors);
        inside.Required("data", &data);
        inside.Required("loss_fn", &call->loss);
        inside.Optional("loss_fn_config", &settings);
        if (!data.is_array()) errors->Add(key + ".data", "wants an array");
        if (!settings.is_null() && !settings.is_object()) {
          errors->Add(key + ".loss_fn_config", "wants an object of numbers");
        }
        if (!errors->ok()) return;
        for (size_t i = 0; i < data.AsArray().size(); ++i) {
          ReadDatum(data.AsArray()[i], "data[" + std::to_string(i) + "]", errors,
                    &call->data.emplace_back());
        }
        if (settings.is_null()) return;
        for (const auto& [name, value] : settings.AsObject()) {
          ReadJson(value, key + ".loss_fn_config." + name, errors,
                   &call->settings.emplace_back(name, 0).second);
        }
      }));
  ForwardCall call;
  static_cast<ModelCall&>(call) = sent;
  call.backward = backward;
  HONE_ASSIGN_OR_RETURN(call.loss, TokenLossNamed(sent.loss, sent.settings));
  HONE_ASSIGN_OR_RETURN(call.data, SequencesOf(sent.data, call.loss, model));
  return call;
}

Result<CreateCall> ReadCreateCall(std::string_view body) {
  HONE_ASSIGN_OR_RETURN(
      CreateCall call,
      ReadCall<CreateCall>(body, [](JsonFields& fields, JsonErrors* errors, CreateCall* create) {
        for (const char* key : {"session_id", "model_seq_id", "user_metadata"}) fields.Take(key);
        fields.Required("base_model", &create->base_model);
        Json lora;
        fields.Optional("lora_config", &lora);
        if (lora.is_null()) return;
        JsonFields inside(lora, "lora_config", errors);
        inside.Required("rank", &create->rank);
        inside.Optional("seed", &create->seed);
        inside.Optional("train_mlp", &create->mlp);
        inside.Optional("train_attn", &create->attention);
        inside.Take("train_unembed");  // no adapters there: create_session says so
      }));
  constexpr int64_t kMostRank = 1024;
  if (call.rank < 0 || call.rank > kMostRank) {
    return Wrong("lora_config.rank", fmt::format("wants a number from 0 (all weights are trained) "
                                                 "to {}",
                                                 kMostRank));
  }
  if (call.rank > 0 && !call.mlp && !call.attention) {
    return Wrong("lora_config", "only train_mlp and train_attn have adapters; choose one of them");
  }
  return call;
}

Result<StepCall> ReadStepCall(std::string_view body) {
  HONE_ASSIGN_OR_RETURN(
      StepCall call,
      ReadCall<StepCall>(body, [](JsonFields& fields, JsonErrors* errors, StepCall* step) {
        ReadModel(fields, step);
        Json adam;
        fields.Required("adam_params", &adam);
        JsonFields inside(adam, "adam_params", errors);
        OptimizerOptions& optimizer = step->optimizer;
        optimizer.learning_rate = 1e-4;  // the defaults of the API
        optimizer.eps = 1e-12;
        optimizer.max_norm = 0;
        inside.Optional("learning_rate", &optimizer.learning_rate);
        inside.Optional("beta1", &optimizer.beta1);
        inside.Optional("beta2", &optimizer.beta2);
        inside.Optional("eps", &optimizer.eps);
        inside.Optional("weight_decay", &optimizer.weight_decay);
        inside.Optional("grad_clip_norm", &optimizer.max_norm);
      }));
  const OptimizerOptions& adam = call.optimizer;
  const auto within = [](double value, double least, double most) {
    return value >= least && value <= most;
  };
  if (!within(adam.learning_rate, 0, 1000)) {
    return Wrong("adam_params.learning_rate", "wants a number from 0 to 1000");
  }
  for (const auto& [key, beta] : {std::pair("beta1", adam.beta1), std::pair("beta2", adam.beta2)}) {
    if (!(beta >= 0 && beta < 1)) {
      return Wrong(fmt::format("adam_params.{}", key), "wants a number from 0 to below 1");
    }
  }
  if (!within(adam.eps, 1e-30, 1)) return Wrong("adam_params.eps", "wants a number up to 1");
  if (!within(adam.weight_decay, 0, 1000)) {
    return Wrong("adam_params.weight_decay", "wants a number from 0 to 1000");
  }
  if (!within(adam.max_norm, 0, 1e30)) {
    return Wrong("adam_params.grad_clip_norm", "wants a number from 0 (no clipping) on");
  }
  return call;
}

Result<SaveCall> ReadSaveCall(std::string_view body, bool for_sampler) {
  HONE_ASSIGN_OR_RETURN(
      SaveCall call, ReadCall<SaveCall>(body, [&](JsonFields& fields, JsonErrors*, SaveCall* save) {
        ReadModel(fields, save);
        fields.Optional("path", &save->name);
        fields.Optional("overwrite", &save->overwrite);
        // Samplers have names of their own here, and nothing that was saved expires.
        for (const char* key : {"sampling_session_seq_id", "ttl_seconds"}) fields.Take(key);
      }));
  call.for_sampler = for_sampler;
  if (!for_sampler && !call.name) return Wrong("path", "is missing: the checkpoint's name");
  return call;
}

Result<LoadCall> ReadLoadCall(std::string_view body) {
  return ReadCall<LoadCall>(body, [](JsonFields& fields, JsonErrors* errors, LoadCall* load) {
    ReadModel(fields, load);
    fields.Required("path", &load->path);
    fields.Required("optimizer", &load->optimizer);
    for (const char* key : {"session_id", "model_seq_id", "base_model", "weights_access_token"}) {
      const Json* value = fields.Take(key);
      if (value == nullptr || value->is_null()) continue;
      errors->Add(key, "is not supported here; create a model, then load into it");
    }
    fields.Take("user_metadata");
  });
}

Result<ModelCall> ReadModelCall(std::string_view body) {
  return ReadCall<ModelCall>(
      body, [](JsonFields& fields, JsonErrors*, ModelCall* call) { ReadModel(fields, call); });
}

Result<RetrieveCall> ReadRetrieveCall(std::string_view body) {
  return ReadCall<RetrieveCall>(body, [](JsonFields& fields, JsonErrors*, RetrieveCall* call) {
    fields.Required("request_id", &call->request_id);
    // The result comes whole, which both allow.
    for (const char* key : {"allow_metadata_only", "model_id"}) fields.Take(key);
  });
}

Result<std::string> ReadPathCall(std::string_view body) {
  return ReadCall<std::string>(body, [](JsonFields& fields, JsonErrors*, std::string* path) {
    fields.Required("tinker_path", path);
  });
}

}  // namespace hone
