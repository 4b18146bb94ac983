#include "serve/training/training_outcomes.h"

#include <limits>
#include <span>

#include "base/bytes/protobuf.h"

namespace hone {
namespace {

template <typename... Cases>
struct OutcomeCases : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
OutcomeCases(Cases...) -> OutcomeCases<Cases...>;

Json TensorJson(const std::vector<float>& values) {
  return Json::Of({{"data", Json::ArrayOf(values)},
                   {"dtype", "float32"},
                   {"shape", Json::Array{std::ssize(values)}}});
}

Json ForwardJson(const ForwardOutcome& outcome) {
  Json::Array outputs;
  for (const std::vector<float>& logprobs : outcome.logprobs) {
    outputs.push_back(Json::Of({{"logprobs", TensorJson(logprobs)}}));
  }
  Json metrics = Json::Object();
  for (const auto& [name, value] : outcome.metrics) metrics.Set(name, value);
  return Json::Of({{"loss_fn_output_type", "ArrayRecord"},
                   {"loss_fn_outputs", std::move(outputs)},
                   {"metrics", std::move(metrics)}});
}

Json DrawJson(const DrawOutcome& outcome) {
  Json::Array sequences;
  for (const DrawOutcome::Sequence& one : outcome.sequences) {
    sequences.push_back(Json::Of({{"stop_reason", one.stopped ? "stop" : "length"},
                                  {"tokens", Json::ArrayOf(one.tokens)},
                                  {"logprobs", Json::ArrayOf(one.logprobs)}}));
  }
  Json prompt;
  if (outcome.prompt_logprobs) {
    prompt = Json::ArrayOf(*outcome.prompt_logprobs);
    prompt.AsArray()[0] = Json();
  }
  return Json::Of({{"type", "sample"},
                   {"sequences", std::move(sequences)},
                   {"prompt_logprobs", std::move(prompt)}});
}

Json FailureJson(const FailedOutcome& outcome) {
  return Json::Of({{"error", outcome.message}, {"category", outcome.of_user ? "user" : "server"}});
}

template <typename T>
std::string_view BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// One record with a batch of log-probabilities: all of them behind each other, and where each datum
// begins.
std::string ForwardProto(const ForwardOutcome& outcome) {
  constexpr uint64_t kFloat32 = 1;
  std::vector<float> all;
  std::vector<int64_t> offsets = {0};
  for (const std::vector<float>& logprobs : outcome.logprobs) {
    all.insert(all.end(), logprobs.begin(), logprobs.end());
    offsets.push_back(static_cast<int64_t>(all.size() * sizeof(float)));
  }
  const std::string batch =
      ProtoBytesOf(1, BytesOf(all)) + ProtoBytesOf(2, BytesOf(offsets)) + ProtoBytesOf(3, kFloat32);
  const std::string field =
      ProtoBytesOf(1, std::string_view("logprobs")) + ProtoBytesOf(2, std::string_view(batch));
  const std::string record = ProtoBytesOf(1, std::string_view("ArrayRecord")) +
                             ProtoBytesOf(2, std::string_view(field)) +
                             ProtoBytesOf(3, uint64_t{outcome.logprobs.size()});
  std::string message =
      ProtoBytesOf(1, std::string_view("ArrayRecord")) + ProtoBytesOf(2, std::string_view(record));
  for (const auto& [name, value] : outcome.metrics) {
    message += ProtoBytesOf(
        3, std::string_view(ProtoBytesOf(1, std::string_view(name)) + ProtoBytesOf(2, value)));
  }
  return message;
}

std::string DrawProto(const DrawOutcome& outcome) {
  enum : uint64_t { kStop = 0, kLength = 1 };
  std::string message;
  for (const DrawOutcome::Sequence& one : outcome.sequences) {
    message +=
        ProtoBytesOf(1, std::string_view(ProtoBytesOf(1, uint64_t{one.stopped ? kStop : kLength}) +
                                         ProtoBytesOf(2, BytesOf(one.tokens)) +
                                         ProtoBytesOf(3, BytesOf(one.logprobs))));
  }
  if (outcome.prompt_logprobs) {
    std::vector<float> prompt = *outcome.prompt_logprobs;
    prompt[0] = std::numeric_limits<float>::quiet_NaN();
    message += ProtoBytesOf(2, BytesOf(prompt));
  }
  return message;
}

}  // namespace

Json OutcomeJson(const TrainingOutcome& outcome) {
  return std::visit(OutcomeCases{[](const Json& json) { return json; },
                                 [](const ForwardOutcome& forward) { return ForwardJson(forward); },
                                 [](const DrawOutcome& draw) { return DrawJson(draw); },
                                 [](const FailedOutcome& failed) { return FailureJson(failed); }},
                    outcome);
}

std::optional<std::string> OutcomeProto(const TrainingOutcome& outcome) {
  if (const auto* forward = std::get_if<ForwardOutcome>(&outcome)) return ForwardProto(*forward);
  if (const auto* draw = std::get_if<DrawOutcome>(&outcome)) return DrawProto(*draw);
  return std::nullopt;
}

size_t OutcomeBytes(const TrainingOutcome& outcome) {
  constexpr size_t kOwn = 512;
  size_t numbers = 0;
  if (const auto* forward = std::get_if<ForwardOutcome>(&outcome)) {
    for (const auto& logprobs : forward->logprobs) numbers += logprobs.size() + 8;
  } else if (const auto* draw = std::get_if<DrawOutcome>(&outcome)) {
    for (const auto& one : draw->sequences) numbers += 2 * one.tokens.size() + 16;
    if (draw->prompt_logprobs) numbers += draw->prompt_logprobs->size();
  }
  return kOwn + numbers * sizeof(float);
}

}  // namespace hone
