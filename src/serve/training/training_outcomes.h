#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "record/sampling.h"

// What comes of a call, as JSON and as protobuf (docs/serve-train.md).

namespace hone {

// Of forward and forward_backward.
struct ForwardOutcome {
  std::vector<std::vector<float>> logprobs;             // per datum, of its target tokens
  std::vector<std::pair<std::string, double>> metrics;  // "loss:sum", ...
};

// Of asample.
struct DrawOutcome {
  struct Sequence {
    std::vector<TokenId> tokens;
    std::vector<float> logprobs;
    bool stopped = false;  // by a stop; else by the number of tokens
  };
  std::vector<Sequence> sequences;
  std::optional<std::vector<float>> prompt_logprobs;  // the first one has no meaning
};

struct FailedOutcome {
  std::string message;
  bool of_user = true;  // whose request could not be met as it was; else the server's
};

// Json: of everything else, as it is sent.
using TrainingOutcome = std::variant<Json, ForwardOutcome, DrawOutcome, FailedOutcome>;

Json OutcomeJson(const TrainingOutcome& outcome);
// tinker_public.ForwardBackwardOutput or tinker_public.SampleResponse; absent for outcomes that are
// sent as JSON to everybody.
std::optional<std::string> OutcomeProto(const TrainingOutcome& outcome);
// What keeping it takes, about.
size_t OutcomeBytes(const TrainingOutcome& outcome);

}  // namespace hone
