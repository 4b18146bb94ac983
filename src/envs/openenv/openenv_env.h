#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "envs/environment.h"

namespace hone {

struct OpenEnvOptions {
  std::string name = "openenv";
  std::string url;                      // http:// or https://, without a path behind it
  std::string transport = "websocket";  // or "http": the server has one episode, over HTTP
  // The member of an action that the agent's answer becomes. Empty: the only one that the server's
  // schema demands; "json": the answer is the whole action.
  std::string action;
  // The member of an observation that the agent reads. Empty: its only text, or else all as JSON.
  std::string observation;
  std::string reward = "sum";  // of the steps, or that of the "last" one
  double reward_low = 0;       // the verdict goes from here
  double reward_high = 1;      // to here
  int64_t episodes = 1;        // that the server has at the same time
  std::vector<std::string> hidden_tools;
  std::chrono::milliseconds deadline{30000};  // of one request
};

// An environment on a server that speaks OpenEnv's protocol (openenv_session.h;
// docs/environments.md#openenv). An answer of the agent is an action and a step; calls are carried
// out by Hone's tools, and the server does not hear of them.
//
// The final state has `reward` (all told), `verdict` (it, from 0 to 1; absent where the server gave
// none), `answer`, `steps`, and `state`, which is the server's. An action that the server refuses
// is a notice to the agent. What fails else ends the episode as `failed`, blame environment.
std::shared_ptr<const Environment> NewOpenEnvEnvironment(std::shared_ptr<const Toolbox> tools,
                                                         const OpenEnvOptions& options);

}  // namespace hone
