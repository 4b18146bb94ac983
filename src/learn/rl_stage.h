#pragma once

#include "learn/alarm_controller.h"
#include "learn/curriculum.h"
#include "learn/demonstration_mix.h"
#include "learn/kl.h"
#include "learn/replay_buffer.h"
#include "learn/workshop.h"
#include "rewards/program_runner.h"
#include "rewards/rewarder.h"

namespace hone {

// Where in the run's folder the policy lies that a stage's KL is measured against: this and the
// stage's number.
inline constexpr char kReferencePrefix[] = "reference-";

// What one step of trial and error left behind.
struct RlStep {
  StepValues values;
  std::vector<ScoredTree> records;  // with scores and advantages, in the order of the tasks
  int64_t ratio_tokens = 0;  // tokens of first mini-batches, all of which had a ratio of exactly 1
  std::vector<AlarmEvent> alarms;
};

// Trial and error, step by step: tasks, rollout, rewards, credit, objective, optimiser. What a step
// does depends on the weights, the state, the seed, its number and what the tools answer.
class RlTraining {
 public:
  // `number` is the stage's among the recipe's. The workshop must outlive it. Where the objective
  // has a reference, it is the policy at the beginning of the stage, which is kept in the run's
  // folder; `begin` says whether that is now.
  static Result<std::unique_ptr<RlTraining>> New(const RlStage& stage, int64_t number, bool begin,
                                                 Workshop* workshop);

  Result<RlStep> Step(int64_t step);
  // Whether all steps are made, or as many trajectories drawn as the stage may draw.
  bool IsOver(int64_t step) const;
  // What is measured beside a step (dev/success).
  std::vector<AlarmEvent> Observe(int64_t step, const StepValues& values);
  const RemedySettings& remedies() const { return alarms_.settings(); }
  // The weights went back to those before `step`, and the rest to what `state` says; but not the
  // alarms, or the same would happen again.
  Result<void> RollBack(int64_t step, const Json& state);

  // What checkpoints keep of it.
  Json State() const;
  Result<void> Restore(const Json& state);

 private:
  RlTraining(const RlStage& stage, int64_t number, Workshop* workshop);

  struct Batch;
  // One round of sampling: tasks, rollout, rewards, for `count` more groups.
  Result<void> Draw(size_t count, Batch* batch);
  Result<void> ChooseTasks(size_t count, Batch* batch);
  Result<void> RollOut(Batch* batch);
  Result<void> CountUnopened(const RolloutResult& result, Batch* batch);
  Result<void> Score(Batch* batch);
  Result<void> Measure(Batch* batch);
  void AddValues(const std::vector<ScoredTree>& drawn,
                 const std::vector<std::vector<Measures>>& shown, Batch* batch);
  Result<void> AskReference(Batch* batch);
  Result<void> Assign(Batch* batch);
  Result<void> Train(Batch* batch);
  std::vector<TrainingGroup> GroupsOf(const Batch& batch, Result<void>* problem) const;
  void Watch(Batch* batch, const StepValues& values);
  std::vector<TreeScores> ScoresBy(Engine* engine, const std::vector<ScoredTree>& records) const;

  RlStage stage_;
  int64_t number_;
  Workshop* workshop_;
  std::unique_ptr<World> world_;
  std::unique_ptr<ProgramRunner> runner_;  // of answers that are programs
  std::unique_ptr<Rewarder> rewarder_;
  std::unique_ptr<Engine> reference_;  // null: none is needed
  std::unique_ptr<Curriculum> curriculum_;
  KlController kl_;
  Replay replay_;
  AlarmController alarms_;
  DemonstrationMix demonstrations_;
  int64_t trajectories_ = 0;  // drawn in this stage
};

}  // namespace hone
