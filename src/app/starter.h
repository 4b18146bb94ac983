#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/result.h"

// The folder that `hone init` writes: own tools, tasks, conversations, a reward and a recipe, to be
// replaced one after the other. Its files lie in examples/init and are part of the program.

namespace hone {

struct StarterFile {
  std::string_view name;
  std::string_view text;
};

std::span<const StarterFile> StarterFiles();

// Writes all of them. The folder is made where there is none. kInvalidArgument when one of the
// files is there already: the error names them all, and nothing is written.
Result<void> WriteStarter(const std::filesystem::path& folder);

}  // namespace hone
