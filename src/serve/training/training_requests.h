#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/model_config.h"
#include "engine/optimizer.h"
#include "learn/losses/token_loss.h"
#include "record/sampling.h"

// What clients of `hone serve --train` ask for, read from the bodies that Tinker's clients send
// (docs/serve-train.md). Errors begin with the key: "data[2].loss_fn_inputs.weights: ...". A key
// that is not known is an error.

namespace hone {

// Which model a call is for, and its place among the calls of its client.
struct ModelCall {
  std::string model_id;
  std::optional<int64_t> seq_id;
};

struct CreateCall {
  std::string base_model;
  int64_t rank = 0;  // of the adapters; 0: all weights are trained
  std::optional<uint64_t> seed;
  bool mlp = true, attention = true;  // which projections take adapters
};

struct ForwardCall : ModelCall {
  TokenLossOptions loss;
  std::vector<WeighedSequence> data;  // checked against the loss and the model
  bool backward = true;
};

struct StepCall : ModelCall {
  OptimizerOptions optimizer;
};

struct SaveCall : ModelCall {
  bool for_sampler = false;
  std::optional<std::string> name;  // absent: nothing is written, the sampler is named
  bool overwrite = false;
};

struct LoadCall : ModelCall {
  std::string path;
  bool optimizer = false;
};

// What draws: exactly one of these is said.
struct SamplerChoice {
  std::optional<std::string> base_model, model_path, session;
};

struct DrawCall {
  SamplerChoice from;
  std::vector<TokenId> prompt;
  int64_t samples = 1;
  Sampling sampling;
  std::optional<int64_t> max_tokens;
  std::optional<uint64_t> seed;
  std::vector<std::string> stop_texts;
  std::vector<TokenId> stop_tokens;
  bool prompt_logprobs = false;
};

struct RetrieveCall {
  std::string request_id;
};

Result<CreateCall> ReadCreateCall(std::string_view body);
// POST forward_backward, or forward.
Result<ForwardCall> ReadForwardCall(std::string_view body, bool backward, const ModelConfig& model);
// The same from protobuf (tinker_public.ForwardBackwardRequest), as clients send it from version
// 0.25 on.
Result<ForwardCall> ReadForwardProto(std::string_view body, const ModelConfig& model);
Result<StepCall> ReadStepCall(std::string_view body);
Result<SaveCall> ReadSaveCall(std::string_view body, bool for_sampler);
Result<LoadCall> ReadLoadCall(std::string_view body);
Result<DrawCall> ReadDrawCall(std::string_view body, const ModelConfig& model);
Result<SamplerChoice> ReadSamplerCall(std::string_view body);  // create_sampling_session
Result<ModelCall> ReadModelCall(std::string_view body);        // get_info, unload_model
Result<RetrieveCall> ReadRetrieveCall(std::string_view body);
Result<std::string> ReadPathCall(std::string_view body);  // weights_info

// A datum as it was sent, whatever its form.
struct SentTensor {
  std::vector<double> values;
  std::vector<int64_t> shape;  // empty: that of a list
  bool sparse = false;
};
struct SentDatum {
  std::vector<int64_t> tokens;
  std::vector<std::pair<std::string, SentTensor>> inputs;
};
// The sequence that a datum means for a loss. The error begins with a key of the datum.
Result<WeighedSequence> SequenceOf(const SentDatum& datum, const TokenLossOptions& loss,
                                   const ModelConfig& model);
// All of them; the error says which datum is wrong.
Result<std::vector<WeighedSequence>> SequencesOf(const std::vector<SentDatum>& data,
                                                 const TokenLossOptions& loss,
                                                 const ModelConfig& model);

}  // namespace hone
