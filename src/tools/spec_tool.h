#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/toolkit.h"

namespace hone {

// Tools that are only described (tools/spec_file.h). A call is unavailable, for a simulator or a
// journal to answer.
struct SpecOptions {
  std::string file;
};
SpecOptions ReadSpecOptions(RecipeTable table);
Result<std::shared_ptr<Toolkit>> NewSpecToolkit(const SpecOptions& options);
std::shared_ptr<Toolkit> NewSpecToolkitOf(std::vector<ToolSpec> tools);

}  // namespace hone
