#pragma once

#include <cstdint>
#include <filesystem>

#include "evaluate/suites/suite.h"

namespace hone {

// MetaTool's questions about tools, from a folder with its files (those that are there):
//   task1_tool_needed.jsonl {"query", "needs_tool"}: yes or no (category tool_needed)
//   single_tool_queries.jsonl {"query", "tool"}: which of ten (single_tool)
//   task2_subtask3_reliability.jsonl {"query", "gold": "None", "candidates"}: none (reliability)
//   task2_subtask4_multi_tool_selection.jsonl {"query", "gold", "candidates"}: both (multi_tool)
//   plugin_des.json, big_tool_des.json {"tool": "description"}
// The nine tools beside the right one of single_tool are drawn by the seed from those that are
// right elsewhere in that file. The model answers with names. Errors name the file and the line.
Result<Suite> LoadMetaTool(const std::filesystem::path& folder, uint64_t seed);

}  // namespace hone
