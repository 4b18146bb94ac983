#include "app/endpoint_setup.h"

#include <fmt/format.h>

namespace hone {

EndpointPlayer EndpointSetup::PlayerAt(double temperature, const EndpointChoice& endpoint) const {
  return {&opened.loaded,
          caller.get(),
          model.get(),
          {.temperature = temperature,
           .turn_tokens = endpoint.turn_tokens,
           .at_once = endpoint.at_once,
           .run = run.name}};
}

Result<std::unique_ptr<EndpointSetup>> OpenForEndpoint(const EvaluationChoice& choice,
                                                       const EndpointChoice& endpoint) {
  if (choice.environment.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} does not say where it acts; name an environment with --env: {}",
                             choice.model, NamedEnvironments()));
  }
  if (!choice.dialect.empty() || choice.threads || choice.device) {
    return Error(
        ErrorCode::kInvalidArgument,
        "--dialect, --threads and --device are for models of this machine; an endpoint has "
        "its own");
  }
  auto setup = std::make_unique<EndpointSetup>();
  HONE_ASSIGN_OR_RETURN(setup->opened, OpenEnvironment({.name = choice.environment,
                                                        .overrides = choice.overrides,
                                                        .mode = "live",
                                                        .journal = ""}));
  if (choice.environment.ends_with(".toml")) {
    HONE_ASSIGN_OR_RETURN(setup->measuring, ReadMeasuring(choice.environment, choice.overrides));
  }
  // As in every evaluation: what goes wrong on purpose does so in training alone.
  setup->opened.backend.faults.clear();
  setup->opened.backend.conditions.clear();
  HONE_ASSIGN_OR_RETURN(setup->run, BeginRun(setup->opened, "endpoint", 0));
  setup->caller = std::make_unique<Caller>(setup->run.executor.get());
  HONE_ASSIGN_OR_RETURN(setup->model, OpenEndpoint(choice.model, endpoint, 0));
  return setup;
}

}  // namespace hone
