#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "learn/update.h"

namespace hone {

// The arguments of UpdatePolicy, for other processes of the same program that make the same call:
// all of them but `imitate`, `cluster` and the engine.
struct UpdateMessage {
  UpdateOptions options;
  std::vector<TrainingGroup> groups;
};
std::string WriteUpdate(const UpdateOptions& options, std::span<const TrainingGroup> groups);
UpdateMessage ReadUpdate(std::string_view bytes);  // of WriteUpdate (CHECK)

}  // namespace hone
