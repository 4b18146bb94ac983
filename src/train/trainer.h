#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cluster/cluster.h"
#include "engine/engine.h"
#include "learn/alarm_controller.h"
#include "record/score.h"
#include "train/folder/run_folder.h"
#include "train/stage_context.h"
#include "train/training_recipe.h"

namespace hone {

// What a run tells whoever watches it.
struct StageReport {
  std::string kind;
  int64_t number = 0;  // of the recipe's, from 0
  int64_t count = 0;   // of all
  int64_t steps = 0;
  int64_t done = 0;     // before: it is gone on with
  bool cached = false;  // its output was there
  int64_t before = 0;   // steps of the run that come before its first; -1: its steps do not count
};
struct StepReport {
  std::string stage;
  int64_t step = 0;   // of the stage, from 1
  int64_t steps = 0;  // of the stage
  StepValues values;
  bool of_policy = true;  // false: of what the stage makes beside it
  // Of the run, from 1, as checkpoints, `hone show`, reports and the dashboard count; 0: the step
  // is none of the run's.
  int64_t run_step = 0;
};
// A step that is done, before it is written down.
struct TrainedStep {
  const Stage& stage;
  const TrainingState& state;  // with this step; a stage from the cache is one step
  const Engine& engine;        // after it
  const StepValues& values;
  const std::vector<ScoredTree>& records;  // of practice, all of them
};
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  // How much is done of a part of the set-up, or of what a stage makes, that takes a while.
  virtual void OnPart(std::string_view /*part*/, int64_t /*done*/, int64_t /*all*/) {}
  virtual void OnStage(const StageReport&) {}
  virtual void OnStep(const StepReport&) {}
  virtual void OnTrained(const TrainedStep&) {}
  // `name`: "before/test/sampled", "dev/dev/greedy", "after/unseen-kinds/sampled".
  virtual void OnEvaluation(std::string_view /*name*/, const Evaluation&) {}
  // While it is made: trajectories that have ended.
  virtual void OnEvaluationProgress(std::string_view /*name*/, int64_t /*ended*/,
                                    int64_t /*wanted*/) {}
  virtual void OnAlarm(const AlarmEvent&) {}
  virtual void OnNote(std::string_view) {}
};

struct TrainOptions {
  TrainObserver* observer = nullptr;  // null: nobody watches
  // Asked after each step, upon which the run is saved, and between demonstrations at its
  // beginning.
  std::function<bool()> stop = nullptr;
  // Called once the set-up is over: until then nothing is lost when the process ends at once.
  std::function<void()> ready = nullptr;
  std::function<double()> wall_time = nullptr;  // seconds since 1970, for logs; null: the machine's
  const Clock* clock = nullptr;                 // for measuring; null: the machine's
  // The processes that carry it out together, of which this one is the first; the others Work
  // (train/processes/worker.h). Null, or one process: alone.
  Cluster* cluster = nullptr;
};

struct TrainReport {
  TrainingState state;  // with all evaluations
  std::string weights;  // SHA-256 of the master weights
  int64_t ratio_tokens = 0;
  std::map<std::string, double> seconds;  // by pass, of this process
  double wall = 0;
  std::filesystem::path checkpoint;  // the last one
};

// Carries a recipe out, or goes on with it. kStopped after `stop`; what was done is saved, and the
// same call goes on from there. The weights at the end are a function of the recipe, the code and
// what live tools answered, however often the run was interrupted and however.
Result<TrainReport> Train(const TrainingRecipe& recipe, const TrainOptions& options);

}  // namespace hone
