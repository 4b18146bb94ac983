#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/sandbox/scratch_folder.h"
#include "tools/toolkit.h"

namespace hone {

// A scratch workspace per trajectory: read_file, write_file, append_file, list_files, move_file,
// delete_file. What they change is the session's alone.
struct FilesOptions {
  std::string initial;  // a folder whose files every workspace begins with; empty: none
  FolderLimits limits;
};
FilesOptions ReadFilesOptions(RecipeTable table);
Result<std::shared_ptr<Toolkit>> NewFilesToolkit(const FilesOptions& options);

}  // namespace hone
