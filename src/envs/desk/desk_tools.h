#pragma once

#include <memory>

#include "base/json.h"
#include "base/result.h"
#include "envs/desk/desk_world.h"
#include "record/call.h"
#include "tools/toolkit.h"

namespace hone::desk {

// The tools of the desk with their real backend. A session is the world of its seed and an outbox;
// it can be cloned.
std::unique_ptr<Toolkit> NewDeskToolkit();

// What a tool of the desk answers to arguments that fit its schema, or what is wrong with them.
// (Sending always succeeds; that something was sent is the caller's to remember.)
Result<Json> Answer(const World& world, std::string_view tool, const Json& arguments);

// The world in which the tools of a trajectory with this session seed live, when the desk is the
// toolbox's first toolkit.
World WorldOf(uint64_t session_seed);

}  // namespace hone::desk
