#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "simulate/models/chat_model.h"

namespace hone {

class Command;

// What a command line says of a model behind an endpoint.
struct EndpointChoice {
  std::string model_name;    // as the endpoint calls it; empty: the only one that it has
  std::string key_variable;  // the environment variable that holds the key; empty: no key
  double prompt_price = 0, completion_price = 0, max_money = 0;
  std::string journal;  // completions are kept here and not asked for again; empty: nowhere
  int64_t at_once = 4;
  int64_t turn_tokens = 512;
  int64_t deadline = 300;  // seconds of a turn, retries included
  int64_t retries = 4;

  bool operator==(const EndpointChoice&) const = default;
};

// Whether a model is named by a URL.
bool IsEndpoint(const std::string& model);

// Adds what says which model it is, or all options; the help calls them `group`.
void AddEndpointName(Command command, const char* group, EndpointChoice* choice);
void AddEndpointOptions(Command command, const char* group, EndpointChoice* choice);

// Asks the endpoint which model it has where none is named; else nothing is asked yet. `seed` is of
// the pauses between retries.
Result<std::unique_ptr<ChatModel>> OpenEndpoint(const std::string& url,
                                                const EndpointChoice& choice, uint64_t seed);

}  // namespace hone
