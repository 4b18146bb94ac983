#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/conditions.h"
#include "train/folder/run_folder.h"

// What it costs to record: stages that ask the real tools for a simulator or a journal leave beside
// it how often they asked, so that what was recorded once is paid for by every run that uses it.

namespace hone {

// Writes how many calls of each tool were made for what lies in the folder.
Result<void> NoteRecordedCalls(const std::filesystem::path& folder,
                               const std::map<std::string, int64_t>& by_tool);

// Adds to the totals "spent/dollars" and "spent/hours" what these calls cost on the conditions,
// made one after the other; nothing where the folder does not say, or where there are no
// conditions.
void AddCostOfRecord(const std::filesystem::path& folder,
                     const std::vector<ServingConditions>& conditions, TrainingState* state);

}  // namespace hone
