#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// A pass is a step of the data path that can be run alone: JSON in, JSON out. Later modules add
// theirs to the list in passes.cpp; the command line, `hone pipe list` and docs/pipe.md follow from
// it.
struct PassOption {
  std::string name;  // "--tokenizer" without the dashes
  std::string about;
  bool required = false;
};

using PassOptions = std::map<std::string, std::string>;
using PassFunction = std::function<Result<Json>(const Json& in)>;

struct Pass {
  std::string name;
  std::string about;
  std::vector<PassOption> options;
  Json input_schema;    // JSON Schema of one line in
  Json output_schema;   // and of one line out
  std::string example;  // a line that works with the example options
  // Prepares the pass (loads files); what it returns is called for every line, in order.
  std::function<Result<PassFunction>(const PassOptions&)> open;
};

std::vector<Pass> BuiltInPasses();
// Those of them that run a model (engine_passes.cpp), that are about tools (tool_passes.cpp), and
// that score (reward_passes.cpp), assign credit (credit_passes.cpp), and play and train
// (training_passes.cpp).
std::vector<Pass> EnginePasses();
std::vector<Pass> ToolPasses();
std::vector<Pass> RewardPasses();
std::vector<Pass> CreditPasses();
std::vector<Pass> TrainingPasses();

// One pass as Markdown, for docs/pipe.md; the whole page.
std::string PassesMarkdown(const std::vector<Pass>& passes);

// The list as JSON, for programs.
Json PassesJson(const std::vector<Pass>& passes);

}  // namespace hone
