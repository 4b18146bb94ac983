#include "app/endpoint_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command_line.h"
#include "simulate/models/endpoint_client.h"

namespace hone {
namespace {

// The model that is meant where nobody said which.
Result<std::string> OnlyModel(const EndpointOptions& endpoint) {
  HONE_ASSIGN_OR_RETURN(const EndpointClient client, EndpointClient::New(endpoint));
  const Result<std::vector<std::string>> models = client.Models(std::chrono::seconds(10));
  if (!models.ok()) {
    return models.error().In(
        fmt::format("{} does not say which models it has (--model-name names one)", endpoint.url));
  }
  if (models->size() == 1) return models->front();
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} has {} models; name one with --model-name{}{}", endpoint.url,
                           models->size(), models->empty() ? "" : ": ", fmt::join(*models, ", ")));
}

}  // namespace

bool IsEndpoint(const std::string& model) {
  return model.starts_with("http://") || model.starts_with("https://");
}

void AddEndpointName(Command command, const char* group, EndpointChoice* choice) {
  command
      .AddOption("--model-name", &choice->model_name,
                 "as the endpoint calls it; else the only one that it has")
      .Group(group);
  command
      .AddOption("--key-variable", &choice->key_variable,
                 "the environment variable that holds the key")
      .Group(group);
  command.AddOption("--deadline", &choice->deadline, "seconds of a turn, retries included")
      .Between(1, 86'400)
      .ShowDefault()
      .Group(group);
  command.AddOption("--retries", &choice->retries, "of a turn that was not answered")
      .Between(0, 100)
      .ShowDefault()
      .Group(group);
}

void AddEndpointOptions(Command command, const char* group, EndpointChoice* choice) {
  constexpr double kPrice = 1e9;
  AddEndpointName(command, group, choice);
  command.AddOption("--prompt-price", &choice->prompt_price, "per million tokens")
      .Between(0.0, kPrice)
      .Group(group);
  command.AddOption("--completion-price", &choice->completion_price, "per million tokens")
      .Between(0.0, kPrice)
      .Group(group);
  command.AddOption("--max-money", &choice->max_money, "nothing is asked beyond; 0: no limit")
      .Between(0.0, kPrice)
      .Group(group);
  command
      .AddOption("--journal", &choice->journal,
                 "completions are kept in this file and not asked for again")
      .Group(group);
  command.AddOption("--at-once", &choice->at_once, "tasks under way at a time")
      .Between(1, 256)
      .ShowDefault()
      .Group(group);
}

Result<std::unique_ptr<ChatModel>> OpenEndpoint(const std::string& url,
                                                const EndpointChoice& choice, uint64_t seed) {
  EndpointOptions endpoint{url, choice.model_name, choice.key_variable};
  if (endpoint.model.empty()) {
    HONE_ASSIGN_OR_RETURN(endpoint.model, OnlyModel(endpoint));
  }
  LanguageModelOptions how;
  how.prompt_price = choice.prompt_price;
  how.completion_price = choice.completion_price;
  how.max_money = choice.max_money;
  how.seed = seed;
  how.limits.concurrent = choice.at_once;
  how.limits.deadline = std::chrono::seconds(choice.deadline);
  how.limits.attempt = std::min<std::chrono::milliseconds>(how.limits.attempt, how.limits.deadline);
  how.limits.retries = static_cast<int32_t>(choice.retries);
  if (!choice.journal.empty()) {
    HONE_ASSIGN_OR_RETURN(how.journal, Journal::Open(choice.journal));
  }
  return NewChatModel(endpoint, std::move(how), NewRealTimeline());
}

}  // namespace hone
