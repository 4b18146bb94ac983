#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "evaluate/suites/suite_environment.h"
#include "rollout/policy.h"
#include "simulate/models/chat_model.h"
#include "tools/faults.h"

namespace hone {

// What became of one sample of one case.
struct SuiteOutcome {
  // False: it could not be asked, and nobody can say what the model would have done; `problem` says
  // why. (A prompt that is too long for the model is the model's failure, and measured.)
  bool measured = true;
  std::string problem;
  SuiteOutput output;
  SuiteVerdict verdict;
  int64_t turns = 0;
  int64_t calls = 0;        // all of them, also those that were answered on the way
  int64_t tool_errors = 0;  // answered calls that did not end well
  TokenUsage tokens;        // as the endpoint counts them; of a model here: what it wrote
  double money = 0;
  int64_t latency_us = 0;  // of an endpoint's turns, one after the other; 0: of a model here
};

// In the order of the cases, `samples` of each.
using SuiteOutcomes = std::vector<SuiteOutcome>;

struct SuiteRunOptions {
  int64_t samples = 1;
  uint64_t seed = 0;  // of what is drawn
  int64_t max_turns = 8;
  std::vector<FaultRule> faults;             // between the model and the tools that answer
  std::map<std::string, std::string> names;  // of tools, real to shown
  std::function<void(int64_t ended, int64_t wanted)> progress;
};

// A model here. The policy says the temperature.
Result<SuiteOutcomes> RunSuite(std::shared_ptr<const Suite> suite, const SuiteRunOptions& options,
                               const Policy& policy, std::stop_token stop = {});

struct SuiteEndpointOptions {
  double temperature = 0;
  int64_t max_tokens = 1024;  // of a turn
  int64_t at_once = 4;        // cases under way at a time
};

// A model behind an endpoint. An error when the first case cannot be asked at all: nobody is there,
// or the key is wrong. Later failures are on the outcomes.
Result<SuiteOutcomes> RunSuite(std::shared_ptr<const Suite> suite, const SuiteRunOptions& options,
                               const SuiteEndpointOptions& endpoint, ChatModel* model);

}  // namespace hone
