#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "envs/mixture.h"
#include "learn/alarm_controller.h"
#include "record/score.h"
#include "train/demonstrator_options.h"

// What a stage of training is: a [[stage]] of a recipe. Everybody but the stages themselves knows
// them by what stands here; the list of those that there are is BuiltInStages.

namespace hone {

class ConversationMixture;
struct TrainingRecipe;
struct StageContext;

// Numbers of one step by name, for logs ("success", "reward/mean", "time/sampling").
using StepValues = std::map<std::string, double>;

// --- a stage that is under way -------------------------------------------------------------------

// What one step left behind.
struct StageStep {
  StepValues values;
  StepValues measured;              // beside it, not in every step: no means are taken of them
  std::vector<ScoredTree> records;  // with scores and advantages, in the order of the tasks
  int64_t ratio_tokens = 0;  // tokens of first mini-batches, all of which had a ratio of exactly 1
  std::vector<AlarmEvent> alarms;
};

// Alarms that watch a stage, and may turn its settings or want it to go back.
class StageAlarms {
 public:
  virtual ~StageAlarms() = default;

  // What is measured beside a step (dev/success).
  virtual std::vector<AlarmEvent> Observe(int64_t step, const StepValues& values) = 0;
  virtual const RemedyOptions& remedies() const = 0;
  // The weights went back to those before `step`, and the rest is to go back to `state`; but not
  // the alarms, or the same would happen again.
  virtual Result<void> RollBack(int64_t step, const Json& state) = 0;
};

// A stage that trains the policy, step by step. What a step does depends on the weights, the state,
// the seed, its number and what tools answer.
class StageRun {
 public:
  virtual ~StageRun() = default;

  virtual Result<StageStep> Step(int64_t step) = 0;
  // Whether nothing is left to do once so many steps are done.
  virtual bool IsOver(int64_t steps) const = 0;
  // All that the next step depends on beside the weights, for checkpoints.
  virtual Json State() const = 0;
  virtual Result<void> Restore(const Json& state) = 0;
  // What State speaks of and is too large for it: files, in the folder of a checkpoint that is
  // being written. Restore finds them in StageContext::gone_on_from.
  virtual Result<void> SaveBeside(const std::filesystem::path& /*checkpoint*/) const { return {}; }
  // Null: nobody watches it.
  virtual StageAlarms* alarms() { return nullptr; }
};

// --- a stage of a recipe -------------------------------------------------------------------------

// What comes out of a stage.
enum class StageProduct {
  kPolicy,     // other weights
  kSimulator,  // a model that answers calls in later stages
  kJournal,    // a journal that answers calls in later stages
};

struct StageTraits {
  StageProduct product = StageProduct::kPolicy;
  // What comes out is a function of what it depends on (StageContext::InputsOf), so that recipes
  // share it through the cache.
  bool shared = false;
  // Trial and error: measured before it, on dev meanwhile and after it. Its steps are logged one by
  // one, with trees; those of other stages as means over several.
  bool practice = false;

  bool trains_policy() const { return product == StageProduct::kPolicy; }
};

// How large it is, as far as the recipe says it.
struct StageSize {
  int64_t steps = 1;           // at most
  int64_t expected_steps = 1;  // if nothing is left out
  int64_t groups = 0;          // drawn per step
  int64_t group = 0;           // trajectories per group
  int64_t slices = 1;          // of a step's gradient
  int64_t call_tokens = 0;     // of one call of the engine, at most; 0: it trains no policy
};

// What was seen of episodes and of this machine, to tell how long a stage will take.
struct EpisodeFigures {
  double tokens = 0, policy_tokens = 0;                             // per episode
  double train_tokens_per_second = 0, drawn_tokens_per_second = 0;  // measured
};

// Told while something is made: steps that are done, of how many, and their numbers.
using MakingProgress = std::function<void(int64_t step, int64_t steps, const StepValues& values)>;

// One [[stage]], read and checked.
class Stage {
 public:
  virtual ~Stage() = default;

  std::string_view kind() const { return kind_; }
  const StageTraits& traits() const { return traits_; }

  virtual StageSize size() const = 0;
  // 0: no time worth speaking of.
  virtual double SecondsPerStep(const EpisodeFigures& figures) const = 0;
  // Who shows how it is done; null: nobody.
  virtual const DemonstratorOptions* demonstrator() const { return nullptr; }
  // What is imitated instead; null: nothing.
  virtual const ConversationMixture* conversations() const { return nullptr; }
  // Files whose contents decide what comes out.
  virtual std::vector<std::string> files() const { return {}; }
  // Whether what it makes hangs on the policy as it is then.
  virtual bool needs_policy() const { return traits_.trains_policy(); }
  // Whether it fits the rest of the recipe; problems go to its table.
  virtual void Check(const TrainingRecipe& /*recipe*/, RecipeTable* /*table*/) const {}

  // Stages that train the policy: begins, or goes on (`begin` false; Restore follows). `number` is
  // the stage's among the recipe's. The context must outlive the run.
  virtual Result<std::unique_ptr<StageRun>> Open(int64_t number, bool begin,
                                                 StageContext* context) const;
  // All others: leaves what it makes in the folder.
  virtual Result<void> Make(StageContext* context, const std::filesystem::path& folder,
                            const MakingProgress& progress) const;

 private:
  friend std::shared_ptr<const Stage> ReadStage(RecipeTable table,
                                                const EnvironmentOptions& environment,
                                                std::span<const struct StageKind> kinds);
  std::string kind_;
  StageTraits traits_;
};

// A stage with what its entry says.
template <typename Settings>
class StageOf : public Stage {
 public:
  explicit StageOf(Settings read) : settings(std::move(read)) {}
  const Settings settings;
};

// How often a stage has tasks of each environment, where there are several: `mix` of its entry.
EnvironmentMix ReadMix(RecipeTable* table, const EnvironmentOptions& environment);

// --- the kinds there are -------------------------------------------------------------------------

struct StageKind {
  std::string_view name;  // `kind` in the recipe
  StageTraits traits;
  // Problems go to the recipe.
  std::shared_ptr<Stage> (*read)(RecipeTable table, const EnvironmentOptions& environment);
};

// To add one, write its file and name it here (docs/howto/add-a-stage.md).
std::span<const StageKind> BuiltInStages();

// One entry of [[stage]]; null only when the recipe has problems.
std::shared_ptr<const Stage> ReadStage(RecipeTable table, const EnvironmentOptions& environment,
                                       std::span<const StageKind> kinds = BuiltInStages());

// Whether a stage of this kind trains the policy, for those who have only the name; of a kind that
// is not known this is not known either: false.
bool TrainsPolicy(std::string_view kind);

}  // namespace hone
