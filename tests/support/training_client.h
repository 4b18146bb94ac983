#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "base/bytes/protobuf.h"
#include "record/sampling.h"

// The client's side of training over HTTP (docs/serve-train.md): bodies as Tinker's clients send
// them.

namespace hone {

inline Json ModelInputJson(const std::vector<TokenId>& tokens) {
  return Json::Of({{"chunks", Json::Array{Json::Of({{"type", "encoded_text"},
                                                    {"tokens", Json::ArrayOf(tokens)}})}}});
}

template <typename T>
Json TensorJson(const std::vector<T>& values, const char* dtype) {
  return Json::Of({{"data", Json::ArrayOf(values)},
                   {"dtype", dtype},
                   {"shape", Json::Array{std::ssize(values)}}});
}

// A sequence with the inputs of a loss, moved by one as the API wants it.
struct ClientDatum {
  std::vector<TokenId> tokens;
  std::vector<std::pair<std::string, std::vector<float>>> inputs;

  std::vector<TokenId> input() const { return {tokens.begin(), tokens.end() - 1}; }
  std::vector<TokenId> targets() const { return {tokens.begin() + 1, tokens.end()}; }
  Json ToJson() const {
    Json given = Json::Of({{"target_tokens", TensorJson(targets(), "int64")}});
    for (const auto& [name, values] : inputs) given.Set(name, TensorJson(values, "float32"));
    return Json::Of({{"model_input", ModelInputJson(input())}, {"loss_fn_inputs", given}});
  }
};

inline Json ForwardBody(const std::string& model_id, const std::vector<ClientDatum>& data,
                        const std::string& loss, Json config = Json(),
                        const char* key = "forward_backward_input") {
  Json::Array list;
  for (const ClientDatum& datum : data) list.push_back(datum.ToJson());
  Json input = Json::Of({{"data", std::move(list)}, {"loss_fn", loss}});
  if (!config.is_null()) input.Set("loss_fn_config", std::move(config));
  return Json::Of({{"model_id", model_id}, {key, std::move(input)}});
}

inline Json StepBody(const std::string& model_id, double learning_rate) {
  return Json::Of({{"model_id", model_id},
                   {"adam_params", Json::Of({{"learning_rate", learning_rate}})},
                   {"type", "optim_step"}});
}

inline Json SampleBody(const Json& from, const std::vector<TokenId>& prompt, int64_t tokens,
                       int64_t seed, int64_t samples = 1) {
  Json body = Json::Of({{"prompt", ModelInputJson(prompt)},
                        {"num_samples", samples},
                        {"sampling_params", Json::Of({{"max_tokens", tokens}, {"seed", seed}})},
                        {"type", "sample"}});
  for (const auto& [key, value] : from.AsObject()) body.Set(key, value);
  return body;
}

template <typename T>
std::string NumberBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// tinker_public.ForwardBackwardRequest.
inline std::string ForwardProtoBody(const std::string& model_id, int64_t seq_id,
                                    const std::vector<ClientDatum>& data, const std::string& loss,
                                    bool forward_only = false) {
  const auto message = [](int number, const std::string& bytes) {
    return ProtoBytesOf(number, std::string_view(bytes));
  };
  std::string body = message(1, model_id) + ProtoBytesOf(2, static_cast<uint64_t>(seq_id));
  for (const ClientDatum& datum : data) {
    std::string one = message(1, message(1, message(1, NumberBytes(datum.input()))));
    const std::vector<TokenId> targets = datum.targets();
    const std::vector<int64_t> wide(targets.begin(), targets.end());
    one += message(2, message(1, "target_tokens") +
                          message(2, message(1, NumberBytes(wide)) + ProtoBytesOf(3, uint64_t{2}) +
                                         ProtoBytesOf(4, uint64_t{wide.size()})));
    for (const auto& [name, values] : datum.inputs) {
      one += message(2, message(1, name) + message(2, message(1, NumberBytes(values)) +
                                                          ProtoBytesOf(3, uint64_t{1})));
    }
    body += message(3, one);
  }
  body += message(4, loss);
  if (forward_only) body += ProtoBytesOf(6, uint64_t{1});
  return body;
}

// The log-probabilities of every datum, from the outcome of forward_backward.
inline std::vector<std::vector<float>> LogprobsIn(const Json& outcome) {
  std::vector<std::vector<float>> all;
  const Json* outputs = outcome.Find("loss_fn_outputs");
  EXPECT_NE(outputs, nullptr) << DumpJson(outcome);
  if (outputs == nullptr) return all;
  for (const Json& one : outputs->AsArray()) {
    std::vector<float>& logprobs = all.emplace_back();
    for (const Json& value : one.Find("logprobs")->Find("data")->AsArray()) {
      logprobs.push_back(static_cast<float>(value.AsDouble()));
    }
  }
  return all;
}

struct ClientSample {
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;
  std::string stop_reason;
};

inline std::vector<ClientSample> SamplesIn(const Json& outcome) {
  std::vector<ClientSample> samples;
  const Json* sequences = outcome.Find("sequences");
  EXPECT_NE(sequences, nullptr) << DumpJson(outcome);
  if (sequences == nullptr) return samples;
  for (const Json& one : sequences->AsArray()) {
    ClientSample& sample = samples.emplace_back();
    sample.stop_reason = one.Find("stop_reason")->AsString();
    for (const Json& token : one.Find("tokens")->AsArray()) {
      sample.tokens.push_back(static_cast<TokenId>(token.AsInteger()));
    }
    for (const Json& logprob : one.Find("logprobs")->AsArray()) {
      sample.logprobs.push_back(static_cast<float>(logprob.AsDouble()));
    }
  }
  return samples;
}

// What a policy-gradient step is told of a sample: nothing to learn from the prompt, and of every
// drawn token what the sampler said of it.
inline ClientDatum DatumOf(const std::vector<TokenId>& prompt, const ClientSample& sample,
                           float advantage) {
  ClientDatum datum;
  datum.tokens = prompt;
  datum.tokens.insert(datum.tokens.end(), sample.tokens.begin(), sample.tokens.end());
  std::vector<float> logprobs(prompt.size() - 1, 0.0f), advantages(prompt.size() - 1, 0.0f);
  logprobs.insert(logprobs.end(), sample.logprobs.begin(), sample.logprobs.end());
  advantages.resize(datum.tokens.size() - 1, advantage);
  datum.inputs = {{"logprobs", logprobs}, {"advantages", advantages}};
  return datum;
}

}  // namespace hone
