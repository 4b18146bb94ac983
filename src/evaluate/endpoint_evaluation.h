#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "envs/environments.h"
#include "evaluate/policy_evaluation.h"
#include "simulate/models/chat_model.h"

// A model behind an endpoint as the agent of any environment.

namespace hone {

struct EndpointPlayOptions {
  double temperature = 0;
  int64_t turn_tokens = 1024;    // at most, of a turn
  int64_t at_once = 4;           // episodes under way at a time
  bool without_tools = false;    // taken away
  int64_t max_turns = 256;       // of episodes that no rule of the environment ends
  std::string run = "endpoint";  // in the identity of calls
  // So many episodes in a row without an answer are the end: nobody is there any more.
  int64_t most_failures = 8;
};

// What an endpoint is to play.
struct EndpointTask {
  Task task;
  uint64_t seed = 0;  // of the group, as in GroupRequest: the same worlds as in rollouts
  int64_t sample = 0;
  std::string scope;  // before the sample in the identity of calls
};

// What became of it.
struct EndpointEpisode {
  size_t index = 0;     // of the task
  std::string problem;  // the endpoint did not answer: it says nothing of the agent; else empty
  Playthrough played;
  Json messages = Json::Array();  // the conversation, as the endpoint had it
  Json tools = Json::Array();     // that it was shown
  TokenUsage tokens;
  double money = 0;
  int64_t latency_us = 0;  // of the endpoint's turns
};

// Lets a model behind an endpoint do tasks. Everything must outlive it.
class EndpointPlayer {
 public:
  // `caller` is who carries the calls out.
  EndpointPlayer(const LoadedEnvironment* environment, Caller* caller, ChatModel* model,
                 const EndpointPlayOptions& options)
      : environment_(environment), caller_(caller), model_(model), options_(options) {}

  // Plays the tasks, and hands over each episode as it ends: one at a time, in any order; an error
  // there ends everything. What the endpoint fails to answer is no error but a problem of the
  // episode, unless it fails at once or again and again. Stopped: what is under way is dropped, and
  // the error is kStopped.
  Result<void> Play(std::span<const EndpointTask> tasks,
                    const std::function<Result<void>(EndpointEpisode)>& ended,
                    const std::stop_token& stop = {}) const;

  // The same tasks in the same worlds as EvaluatePolicy has them, and the same measures. Episodes
  // without an answer do not count; an error when there is none that does.
  Result<Evaluation> Evaluate(const EvaluationOptions& options) const;

 private:
  Result<EndpointEpisode> One(const EndpointTask& task, size_t index) const;
  Result<Evaluation> EvaluateOnce(const EvaluationOptions& options) const;

  const LoadedEnvironment* const environment_;
  Caller* const caller_;
  ChatModel* const model_;
  const EndpointPlayOptions options_;
};

}  // namespace hone
