#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "learn/step.h"

namespace hone {

// Groups that are asked for.
Json RequestsToJson(std::span<const GroupRequest> requests);
Result<std::vector<GroupRequest>> RequestsFromJson(const Json& json);

// The tasks of a step that is begun, for checkpoints. The step itself is the
// caller's to know.
Json PosedToJson(const PosedTasks& posed);
void ReadPosed(const Json& json, const std::string& path, JsonErrors* errors, PosedTasks* posed);

}  // namespace hone
