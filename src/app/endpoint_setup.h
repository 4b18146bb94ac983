#pragma once

#include <memory>
#include <string>

#include "app/endpoint_options.h"
#include "app/env_recipe.h"
#include "app/evaluation_setup.h"
#include "evaluate/endpoint_evaluation.h"

namespace hone {

// An environment on its real tools for somebody whose model is not of this machine.
struct EndpointSetup {
  OpenedEnvironment opened;
  MeasuringParts measuring;
  AnsweredRun run;
  std::unique_ptr<Caller> caller;
  std::unique_ptr<ChatModel> model;

  const std::string& environment() const { return opened.loaded.environment->traits().name; }
  EndpointPlayer PlayerAt(double temperature, const EndpointChoice& endpoint) const;
};

// `choice.model` is the URL, and `choice.environment` must be said. Every way in which they cannot
// be had is an error that says what to do.
Result<std::unique_ptr<EndpointSetup>> OpenForEndpoint(const EvaluationChoice& choice,
                                                       const EndpointChoice& endpoint);

}  // namespace hone
