#pragma once

#include <functional>
#include <utility>

#include "engine/learning_rate.h"
#include "engine/optimizer.h"
#include "learn/alarm_controller.h"
#include "learn/batches.h"
#include "learn/curriculum.h"
#include "learn/dynamic_sampling.h"
#include "learn/kl.h"
#include "learn/running/entropy_controller.h"
#include "learn/running/reward_scale.h"
#include "learn/running/value_scale.h"
#include "learn/self_imitation.h"
#include "learn/step.h"
#include "learn/update.h"
#include "train/stage.h"
#include "train/stage_context.h"
#include "train/stages/demonstration_mix.h"
#include "train/stages/drawing_ahead.h"
#include "train/stages/remote_drawing.h"
#include "train/stages/stage_reference.h"

namespace hone {

// Trial and error: `kind = "rl"`.
struct RlStage {
  int64_t steps = 150;
  int64_t groups = 32;       // tasks per step
  int64_t group = 8;         // trajectories per task
  int64_t trajectories = 0;  // above 0: the stage is over once so many were drawn, if not before
  BatchOptions batches;
  LearningRate rate;
  OptimizerOptions optimizer;
  EnvironmentMix mix = {};  // of several environments
};
// What is random in a step of it, beside what has streams of its own.
Rng PracticeRng(const TrainingRecipe& recipe, int64_t stage, int64_t step);
std::shared_ptr<Stage> ReadRlStage(RecipeTable table, const EnvironmentOptions& environment);

// Trial and error, step by step: the functions of learn/step.h and learn/update.h one after the
// other, with what goes on from step to step (curriculum, controllers, replay, alarms) beside them.
class RlTraining final : public StageRun, public StageAlarms {
 public:
  // As Stage::Open. Where the objective has a reference, it is the policy at the beginning of the
  // stage, or mixed with it since (train/stages/stage_reference.h), and kept in the run's folder.
  static Result<std::unique_ptr<RlTraining>> New(const RlStage& stage, int64_t number, bool begin,
                                                 StageContext* context);

  Result<StageStep> Step(int64_t step) override;
  // Whether all steps are made, or as many trajectories drawn as the stage may draw.
  bool IsOver(int64_t steps) const override;
  Json State() const override;
  Result<void> Restore(const Json& state) override;
  Result<void> SaveBeside(const std::filesystem::path& checkpoint) const override;
  StageAlarms* alarms() override { return this; }

  std::vector<AlarmEvent> Observe(int64_t step, const StepValues& values) override;
  const RemedyOptions& remedies() const override { return alarms_.settings(); }
  Result<void> RollBack(int64_t step, const Json& state) override;

 private:
  RlTraining(const RlStage& stage, int64_t number, StageContext* context);

  // Runs a function of the step as a pass of this name.
  template <typename Pass, typename... Values>
  auto Timed(std::string_view name, Pass&& pass, Values&&... values) {
    return context_->times->Run(name, [&] {
      return std::invoke(std::forward<Pass>(pass), std::forward<Values>(values)...);
    });
  }
  void TellApart(const RolloutSeconds& seconds);

  // What the functions of a step are told, as alarms have turned it.
  Rng RngOf(int64_t step) const { return PracticeRng(*context_->recipe, number_, step); }
  // Where the stage stands on its schedules (learning rate, bonuses, weights of rewards and of
  // replay), in steps. Where trajectories end the stage, it is as far as they are: a run whose
  // steps draw more of them ends its schedules in fewer steps.
  double Clock(int64_t step) const;
  DynamicSamplingOptions DynamicNow() const;
  // Calls that other processes make for it are added to `calls`.
  TaskSupply Supply(CallCounts* calls) const;
  Round RoundOf(int64_t step, const Method& method) const;
  // What a step practises, of all rounds; and what that took of the tools.
  struct Practice {
    ScoredGroups groups;
    CallCounts calls;
    bool of_earlier = false;  // some of it was drawn with weights of earlier steps, or elsewhere
    EngineMismatch mismatch;  // of what was drawn elsewhere
    int64_t retries = 0;      // of requests for it
  };
  Result<Practice> Practise(int64_t step, double clock, const Method& method,
                            DynamicSampler* rounds);
  Result<DrawnGroups> Draw(int64_t step, PosedTasks posed);
  // The same by another engine, which gets the weights first (train/stages/remote_drawing.h).
  Result<DrawnGroups> DrawRemotely(int64_t step, const PosedTasks& posed, Practice* practice);
  // The same with other processes; with scores.
  Result<DrawnGroups> DrawTogether(int64_t step, int64_t schedule, const PosedTasks& posed,
                                   Practice* practice);
  // Steps that may be begun by now, where rollout is ahead; `done` steps are made.
  Result<void> BeginAhead(int64_t done);
  // The groups of a step that was begun before.
  Result<DrawnGroups> TakeBegun(int64_t step, Practice* practice);
  ScoringOptions ScoringAt(double clock) const;
  // `of_earlier`: they were drawn with other weights than the policy has now.
  ModelViews Ask(const std::vector<ScoredTree>& records, bool of_earlier) const;
  KlOptions KlNow() const;
  // Whether only the critic learns in this step.
  bool WarmsUp(int64_t step) const;
  UpdateOptions UpdateOptionsAt(int64_t step, double clock, const Method& method, bool of_earlier);

  // What comes of them goes to whatever goes on from step to step, and into the log.
  void NotePractice(const Practice& practice, int64_t step, const DynamicSampler& rounds,
                    StageStep* done);
  // What the real tools have cost since then.
  Backend::Spent Spent() const;
  void NoteSpent(const Backend::Spent& before, StageStep* done) const;
  void NoteCredit(const CreditedGroups& credited, int64_t step, StageStep* done);
  void Remember(const CreditedGroups& credited, int64_t step);
  void NoteUpdate(const UpdateOptions& options, const UpdateReport& update, int64_t step,
                  StageStep* done);

  RlStage stage_;
  int64_t number_;
  StageContext* context_;
  LoadedEnvironment environment_;  // as often as this stage has each, where there are several
  DrawingTools tools_;
  std::optional<StageReference> reference_;  // none is needed where there is no KL
  std::unique_ptr<Curriculum> curriculum_;
  KlController kl_;
  EntropyController entropy_;
  RewardScale reward_scale_;
  ValueScale value_scale_;
  SelfImitation replay_;
  AlarmController alarms_;
  DemonstrationMix demonstrations_;
  std::optional<DrawingAhead> ahead_;  // none: every step is drawn with the weights it begins with
  // What was drawn ahead has cost, and where the stage stands on the virtual clock of its tools.
  Backend::Spent spent_ahead_;
  bool pushed_ = false;       // another engine that draws has the weights of now
  int64_t trajectories_ = 0;  // drawn in this stage
  std::string unread_note_;   // of the step
  bool terms_met_ = false;    // somebody was scored, and with what the method reads
};

}  // namespace hone
