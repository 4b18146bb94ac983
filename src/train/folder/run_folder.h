#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/file_lock.h"
#include "base/result.h"
#include "engine/engine.h"
#include "learn/alarm_controller.h"
#include "record/store.h"
#include "text/tokenizer.h"
#include "train/folder/event_file.h"

namespace hone {

// How far a run is, beside its weights: what a checkpoint has in training.json.
struct TrainingState {
  int64_t stage = 0;       // of the recipe's
  int64_t stage_step = 0;  // steps of it that are done
  int64_t step = 0;        // steps of all stages that are done
  // By number of a stage that made something with the policy as it was then: the hash of the
  // weights it had, by which what was made is found again.
  Json made_by = Json::Object();
  Json stage_state;                   // of the stage: its curriculum, controllers, alarms
  Json curriculum;                    // where the last stage of practice left it; null: none did
  Json totals = Json::Object();       // numbers that add up over the run
  Json evaluations = Json::Object();  // what was measured, by name
  Json::Array alarms;          // that went off (StepOfAlarm): name, severity, message, remedy
  std::optional<double> best;  // of dev, where there was an evaluation
  int64_t best_step = 0;
  std::string start;  // SHA-256 of the weights that rl began with; empty: it has not
  // Whose checkpoint a roll-back goes to, which therefore stays; 0: there is none in this stage.
  // Where a run is interrupted does not move it, or its weights would depend on that.
  int64_t anchor = 0;

  // Of `totals`; 0 where there is none of that name.
  double TotalOf(std::string_view name) const;
  void AddTotal(std::string_view name, double value);
  // That an alarm went off after the step that is done.
  void NoteAlarm(const AlarmEvent& event);
  // In the folder of another run, perhaps of another recipe.
  void BeginElsewhere();
  // `practised`: what is over was a stage of practice, whose curriculum is kept.
  void NextStage(bool practised);
  // That a stage made something with this policy. An error when it was made before and what came of
  // it was not found: that policy is gone.
  Result<void> NoteMadeBy(size_t made_in, const std::string& policy, bool found);

  Json ToJson() const;
  static Result<TrainingState> FromJson(const Json& json);
};

// The folder of a run: runs/NAME/ (docs/training.md). One process at a time: the others are told
// so. After a kill at any moment what is there is whole.
class RunFolder {
 public:
  // Makes the folder where there is none, and takes its lock. kUnavailable when somebody has it.
  static Result<std::unique_ptr<RunFolder>> Open(const std::filesystem::path& path);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path CheckpointPath(int64_t step) const;

  // Steps that have a checkpoint, ascending.
  std::vector<int64_t> Checkpoints() const;
  // The newest checkpoint that is as it was written; empty: the run has none yet. Newer ones that
  // are damaged are moved to damaged/step-N in the run's folder, and `note` is told of each. Where
  // all are, none is moved, and kCorrupt says what to remove.
  Result<std::filesystem::path> NewestSound(const std::function<void(std::string_view)>& note);
  // Writes checkpoints/step-N aside, with what `beside` puts into its folder and with checksums,
  // then puts it in its place; then removes all but the newest `keep`, the best one and the anchor.
  using Beside = std::function<Result<void>(const std::filesystem::path& folder)>;
  Result<void> Save(const Engine& engine, const Tokenizer& tokenizer, const TrainingState& state,
                    int64_t keep, const Beside& beside = nullptr);
  // Removes a checkpoint, if it is there: the newest first where several go, for a kill in between
  // must not leave one that the run would go on from.
  void Drop(int64_t step);

 private:
  Result<void> PutAside(int64_t step, const Error& why,
                        const std::function<void(std::string_view)>& note);
  RunFolder(std::filesystem::path path, FileLock lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  FileLock lock_;
};

// The step of the run, from 1, in which an alarm went off. In older runs it only says the step of
// its stage: then `first`, the run's first step of rl, is what it counts from.
std::optional<int64_t> StepOfAlarm(const Json& alarm, int64_t first);

// Whether a folder is a checkpoint of a run, and not a model from elsewhere.
bool IsCheckpoint(const std::filesystem::path& folder);
Result<TrainingState> ReadTrainingState(const std::filesystem::path& checkpoint);
// Whether training can go on from a checkpoint: its files are what was written (train/checksums.h)
// and can be read. The error names the one that is not.
Result<void> CheckCheckpoint(const std::filesystem::path& checkpoint);

// The same places of a run that somebody else may be training. Steps ascend. A folder without a
// training.json is no checkpoint.
std::vector<int64_t> CheckpointsIn(const std::filesystem::path& run);
std::filesystem::path CheckpointIn(const std::filesystem::path& run, int64_t step);

// So many of them; below 0: all.
std::vector<const ScoredTree*> FirstOf(const std::vector<ScoredTree>& records, int64_t count);

// What a run writes down step by step: the store, metrics.jsonl, and a file for TensorBoard.
class RunLog {
 public:
  // Forgets what is there of steps from `first_step` on: they are done again. Where lines of
  // earlier steps cannot be read, they go as well: metrics.jsonl is kept as it was in
  // metrics.jsonl.damaged, and `note`, if there is one, is told.
  static Result<std::unique_ptr<RunLog>> Open(
      const std::filesystem::path& folder, int64_t first_step,
      const std::function<void(std::string_view)>& note = nullptr);

  // Numbers and records of one step, all or nothing in the store.
  Result<void> Add(double wall_time, int64_t step, const std::map<std::string, double>& values,
                   const std::vector<const ScoredTree*>& records);

 private:
  RunLog() = default;

  std::filesystem::path folder_, lines_;
  int64_t first_step_ = 0;
  std::unique_ptr<RunStore> store_;
  std::unique_ptr<EventFile> events_;  // null until there is something to write
};

}  // namespace hone
