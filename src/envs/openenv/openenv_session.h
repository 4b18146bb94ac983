#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// What an OpenEnv server answers to a reset and a step.
struct OpenEnvObservation {
  Json observation;  // an object
  Json reward;       // a number, or null
  bool done = false;
};

// One episode on an OpenEnv server. One thread at a time.
//
// Errors: kInvalidArgument: the server refuses the action, and says why; kFull: it has no room for
// another episode; others: it cannot be reached, or does not speak the protocol.
class OpenEnvSession {
 public:
  virtual ~OpenEnvSession() = default;
  virtual Result<OpenEnvObservation> Reset(const Json& parameters) = 0;
  virtual Result<OpenEnvObservation> Step(const Json& action) = 0;
  virtual Result<Json> State() = 0;
};

// A session of its own on the server, over the WebSocket URL/ws: what OpenEnv's clients use.
//
//   {"type": "reset", "data": {"seed": 7}}     {"type": "observation", "data": {"observation",
//   {"type": "step", "data": ACTION}                                            "reward", "done"}}
//   {"type": "state"}                          {"type": "state", "data": {...}}
//                                              {"type": "error", "data": {"message", "code"}}
Result<std::unique_ptr<OpenEnvSession>> NewOpenEnvWebSocket(const std::string& url,
                                                            std::chrono::milliseconds deadline);

// The one episode that a server has over POST URL/reset, POST URL/step {"action": ...} and GET
// URL/state.
std::unique_ptr<OpenEnvSession> NewOpenEnvHttp(const std::string& url,
                                               std::chrono::milliseconds deadline);

// The JSON schema of an action, as the server publishes it under URL/schema.
Result<Json> OpenEnvActionSchema(const std::string& url, std::chrono::milliseconds deadline);

}  // namespace hone
