#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/endpoint_options.h"
#include "app/env_episodes.h"
#include "app/suite_model.h"

namespace hone {

class Command;

// What a command line says of a model that plays.
struct ModelAgentChoice {
  EndpointChoice endpoint;
  std::string checkpoint = "last";   // of a run
  std::string dialect;               // of a model of this machine; empty: as its run did
  std::optional<DeviceKind> device;  // likewise
  double temperature = 0;
};
void AddModelAgentOptions(Command command, ModelAgentChoice* choice);

// A model that plays episodes, one at a time: a folder of this machine, or behind an endpoint.
class ModelAgent {
 public:
  // Null where the name is that of neither.
  static Result<std::unique_ptr<ModelAgent>> Open(const std::string& name,
                                                  const ModelAgentChoice& choice,
                                                  const Environment& environment);

  // Makes agents that must not outlive this.
  AgentMaker maker() const { return make_; }

 private:
  std::unique_ptr<SuiteModel> here_;
  std::optional<Policy> policy_;
  std::unique_ptr<ChatModel> there_;
  AgentMaker make_;
};

}  // namespace hone
