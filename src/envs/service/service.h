#pragma once

#include <memory>

#include "envs/environment.h"
#include "envs/play.h"
#include "envs/rules.h"

namespace hone::service {

struct ServiceOptions {
  bool list_tools = true;   // show the tools to the agent
  bool show_policy = true;  // and what it must obey; a small model can know both by heart
  // Plays the customer instead of the script: a toolkit with a tool "user" that takes {"script",
  // "conversation"} and answers {"text", "stop"}. The agent cannot see it. Null: the script.
  // What it is told is in envs/service/played_user.h.
  std::shared_ptr<Toolkit> user;
  ToolLimits user_limits;
};

// The service desk (docs/environments/service.md): a policy to obey, a shop that calls change, a
// customer with hidden wishes.
//
// What the agent says goes to the customer, who ends the episode (user_stop). Success: the shop is
// as it would be had the plan been carried out and nothing else, and everything was told that was
// to be told. Where others than the real tools answered, so that the episode's own shop is not the
// agent's, the writes that succeeded must be the gold ones.
Result<std::shared_ptr<const Environment>> NewService(const ServiceOptions& options);

// At most 30 turns and 30 calls.
Rules ServiceRules();

// What the clerk must obey; the system message.
std::string_view Policy();

// Plays a task as its plan says: looks, asks for confirmation before each change, tells.
Result<std::unique_ptr<Agent>> NewClerk(const Task& task);

}  // namespace hone::service
