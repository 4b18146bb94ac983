#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Which trajectories of a run become conversations.
struct PlayedChoice {
  bool all = false;                // else those that succeeded alone
  std::optional<double> at_least;  // instead of success: that much reward in all
  std::string dialect;             // empty: the run's
};

struct PlayedRun {
  std::vector<Json> conversations;  // {"messages", "tools"}
  int64_t trajectories = 0;         // there are so many
  int64_t unwanted = 0;             // that did not succeed
  int64_t unreadable = 0;           // that could not be written as conversations
};

// The trajectories that a run stored (hone train), or that were recorded while it was served (hone
// serve --record). A success is what the environment's verdict says or, where it has none, a reward
// above 0. The run's tools are started, for their descriptions.
Result<PlayedRun> ConversationsOfRun(const std::filesystem::path& run, const PlayedChoice& choice);

}  // namespace hone
