#include "dash/dash_progress.h"

#include <algorithm>
#include <cmath>

#include "train/stage.h"

namespace hone {
namespace {

constexpr size_t kPaceRows = 20;  // steps whose mean is the pace

}  // namespace

Json RunProgress::ToJson() const {
  return Json::Of({{"stage", stage},
                   {"step", step},
                   {"steps", steps},
                   {"later", later},
                   {"left", left ? Json(*left) : Json()},
                   {"share", share ? Json(*share) : Json()}});
}

RunProgress ProgressOf(const RecipeFacts& facts, int64_t done, const std::vector<int64_t>& steps,
                       const std::vector<double>& seconds) {
  RunProgress progress;
  int64_t before = 0;  // steps of the stages that are behind it
  for (const RecipeFacts::Stage& stage : facts.stages) {
    if (!TrainsPolicy(stage.kind)) continue;
    if (!progress.stage.empty()) {
      // The one before is done: this is where it is.
      if (done < before + progress.steps) {
        ++progress.later;
        continue;
      }
      before += progress.steps;
    }
    progress.stage = stage.kind;
    progress.steps = stage.steps;
  }
  progress.step = std::clamp<int64_t>(done - before, 0, progress.steps);
  double spent = 0, recent = 0;
  size_t counted = 0;
  for (size_t i = steps.size(); i-- > 0;) {
    const double took = i < seconds.size() && std::isfinite(seconds[i]) ? seconds[i] : 0;
    spent += took;
    if (steps[i] <= before || counted == kPaceRows) continue;
    recent += took;
    ++counted;
  }
  const int64_t rest = progress.steps - progress.step;
  if (rest == 0) {
    progress.left = 0;
  } else if (counted >= 2) {
    progress.left = recent / static_cast<double>(counted) * static_cast<double>(rest);
  }
  if (progress.left && progress.later == 0 && spent + *progress.left > 0) {
    progress.share = spent / (spent + *progress.left);
  }
  return progress;
}

}  // namespace hone
