#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "tools/toolbox.h"

namespace hone {

// One `[[tools]]` entry of a recipe: a toolkit that can be made, and how it is to be used.
//
//   [[tools]]
//   kind = "command"
//   command = ["python3", "dice.py"]
//   retries = 0
// An entry of kind "mcp-config" names a file of another program, and is one toolkit for each server
// in it.
struct ToolkitOptions {
  std::string kind;
  size_t entry = 0;  // which [[tools]] of the recipe says it
  std::string of;    // the server, where one entry is several toolkits
  std::string prefix;
  ToolLimits limits;
  // A file that describes its tools (`hone tools import`), for when nobody asks them in earnest;
  // only for programs and servers of others.
  std::string described;
  std::function<Result<std::shared_ptr<Toolkit>>()> make;
};

// All `[[tools]]` of the table. What is wrong is a problem of the recipe (Recipe::Finish). Starts
// nothing.
std::vector<ToolkitOptions> ReadTools(RecipeTable table);

// Whether the tools are asked in earnest, or a journal or a simulator answers in their place.
enum class ToolUse { kInEarnest, kAnsweredElsewhere };

// Makes the toolkits: starts programs, connects to servers, except those that are described and not
// asked in earnest. The error names the entry.
Result<std::shared_ptr<const Toolbox>> MakeToolbox(const std::vector<ToolkitOptions>& plans,
                                                   ToolUse use = ToolUse::kInEarnest);

}  // namespace hone
