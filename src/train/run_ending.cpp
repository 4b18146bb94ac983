#include "train/run_ending.h"

#include <fmt/format.h>

#include "base/file.h"
#include "train/recipe_identity.h"

namespace hone {
namespace {

constexpr char kResultFile[] = "result.json";

}  // namespace

bool CameToItsEnd(const std::filesystem::path& folder, const TrainingRecipe& recipe, int64_t step) {
  const Result<std::string> text = ReadFile(folder / kResultFile);
  if (!text.ok()) return false;
  const Result<Json> result = ParseJson(*text);
  if (!result.ok()) return false;
  const Json* ended = result->Find("step");
  const Json* evaluation = result->Find("evaluation");
  return ended != nullptr && *ended == Json(step) && evaluation != nullptr &&
         *evaluation == SaidPart(recipe, "evaluation");
}

Result<void> WriteResult(const std::filesystem::path& folder, const TrainingRecipe& recipe,
                         int64_t step, const std::string& weights) {
  const Json result = Json::Of({{"weights", weights},
                                {"step", step},
                                {"evaluation", SaidPart(recipe, "evaluation")},
                                {"checkpoint", fmt::format("checkpoints/step-{}", step)}});
  return WriteFileAtomic(folder / kResultFile, DumpJson(result, JsonStyle::kPretty) + "\n");
}

}  // namespace hone
