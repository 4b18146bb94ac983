#pragma once

#include <memory>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/toolkit.h"

namespace hone {

// `calculator`: arithmetic in exact decimals (tools/builtin/calculator.h). Pure, without a session.
struct CalculatorOptions {};
CalculatorOptions ReadCalculatorOptions(RecipeTable table);
Result<std::shared_ptr<Toolkit>> NewCalculatorToolkit(const CalculatorOptions& options);

}  // namespace hone
