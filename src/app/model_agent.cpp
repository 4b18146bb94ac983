#include "app/model_agent.h"

#include <filesystem>

#include "app/command_line.h"
#include "app/device_option.h"
#include "evaluate/endpoint_agent.h"
#include "rollout/policy_agent.h"

namespace hone {

void AddModelAgentOptions(Command command, ModelAgentChoice* choice) {
  const char* group = "Of agents that are models";
  command.AddOption("--temperature", &choice->temperature, "0: greedy")
      .Between(0.0, 100.0)
      .ShowDefault()
      .Group(group);
  command.AddOption("--turn-tokens", &choice->endpoint.turn_tokens, "at most, of a turn")
      .Between(1, 10'000'000)
      .ShowDefault()
      .Group(group);
  command.AddOption("--checkpoint", &choice->checkpoint, "of a run: last, best or a step")
      .ShowDefault()
      .Group(group);
  command
      .AddOption("--dialect", &choice->dialect, "how the model spells calls; else as its run did")
      .Group(group);
  AddDeviceOption(command, &choice->device).Group(group);
  AddEndpointName(command, group, &choice->endpoint);
}

Result<std::unique_ptr<ModelAgent>> ModelAgent::Open(const std::string& name,
                                                     const ModelAgentChoice& choice,
                                                     const Environment& environment) {
  std::error_code ignored;
  auto model = std::make_unique<ModelAgent>();
  if (IsEndpoint(name)) {
    HONE_ASSIGN_OR_RETURN(model->there_, OpenEndpoint(name, choice.endpoint, 0));
    model->make_ = [chat = model->there_.get(), choice, tools = VisibleTools(environment)](
                       const Task&, uint64_t seed) -> Result<std::unique_ptr<Agent>> {
      const EndpointAgentOptions options{.temperature = choice.temperature,
                                         .max_tokens = choice.endpoint.turn_tokens,
                                         .seed = seed,
                                         .tools = tools};
      return std::unique_ptr<Agent>(std::make_unique<EndpointAgent>(chat, options));
    };
    return model;
  }
  if (!std::filesystem::is_directory(name, ignored)) return std::unique_ptr<ModelAgent>();
  HONE_ASSIGN_OR_RETURN(model->here_, OpenSuiteModel({.model = name,
                                                      .checkpoint = choice.checkpoint,
                                                      .dialect = choice.dialect,
                                                      .device = choice.device},
                                                     choice.endpoint.turn_tokens));
  HONE_ASSIGN_OR_RETURN(model->policy_, model->here_->PolicyAt(choice.temperature));
  model->make_ = [policy = &*model->policy_](const Task&,
                                             uint64_t seed) -> Result<std::unique_ptr<Agent>> {
    return std::unique_ptr<Agent>(std::make_unique<PolicyAgent>(policy, seed));
  };
  return model;
}

}  // namespace hone
