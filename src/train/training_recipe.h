#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "credit/method.h"
#include "engine/engine.h"
#include "engine/lora.h"
#include "envs/environments.h"
#include "learn/alarms.h"
#include "learn/curriculum.h"
#include "learn/dynamic_sampling.h"
#include "learn/objective_options.h"
#include "learn/running/reward_scale.h"
#include "learn/self_imitation.h"
#include "rollout/practice_options.h"
#include "rollout/remote_options.h"
#include "simulate/backend_options.h"
#include "tools/tool_recipe.h"
#include "train/stage.h"

// A whole training run as data: docs/recipe.md has every key.

namespace hone {

// [run]: where it is written down. Nothing here but the seed reaches the weights,
// unless alarms act: then save_every says where a roll-back goes.
struct RunOptions {
  std::string name = "run";
  uint64_t seed = 1;
  int64_t threads = 0;          // 0: as many as the machine has
  std::string out = "runs";     // the run's folder is out/name
  std::string cache;            // outputs of stages that recipes share; empty: out/cache
  std::string resume = "auto";  // auto, never, or the folder of a checkpoint
  int64_t save_every = 10;      // steps of rl between checkpoints
  int64_t sft_save_every = 500;
  int64_t keep = 2;          // checkpoints, beside the best one
  int64_t store_groups = 4;  // trees per step that are stored; -1: all
  int64_t log_every = 25;    // steps of sft between entries of the log
  double patience = 3600;    // seconds that several processes wait for each other; 0: for ever
};

// [model]
struct PolicyModelOptions {
  std::string folder;  // a Hugging Face folder; empty: a fresh model
  ModelConfig fresh;   // its vocabulary is the tokenizer's
  std::string dialect = "hermes";
  Precision precision = Precision::kBf16;
  DeviceKind device = DeviceKind::kAuto;
  bool recompute_activations = false;
  bool small_moments = false;       // on a GPU only
  std::optional<LoraOptions> lora;  // [model.lora]
  // [model.tokenizer], of a fresh model
  int64_t vocabulary = 768;   // bytes and merges, at most; markers come on top
  int64_t texts = 3000;       // demonstrations that it is trained on
  int64_t min_frequency = 9;  // a pair seen less often is not merged
};

// [evaluation]
struct RunEvaluationOptions {
  int64_t every = 25;  // steps of rl between evaluations on dev; 0: none
  int64_t dev_tasks = 128;
  int64_t test_tasks = 512;  // before and after; 0: none
  double temperature = 1;    // of the sampled evaluation; greedy is measured besides
  bool without_tools = false;  // test once more with the tools taken away, sampled
  std::vector<std::string> more = {"unseen-kinds", "unseen-phrases"};  // splits, at the end
  int64_t more_tasks = 256;
  uint64_t seed = 0;  // the same for all runs that are to be compared

  // How many tasks of a split are measured when somebody asks for it.
  int64_t TasksOf(Split split) const;
};

struct TrainingRecipe {
  RunOptions run;
  PolicyModelOptions model;
  EnvironmentOptions environment;
  std::vector<ToolkitOptions> tools;
  // Who answers calls in training: [answers], [simulator], [user], [[faults]], [redact]. Evaluation
  // has the real tools, always.
  BackendOptions answers;
  Json rewards = "default";  // what RewarderFromJson takes
  RewardScaleOptions reward_scale;
  std::string credit = "grpo";
  Method method;  // of that name
  bool mask_truncated =
      false;  // trajectories that were cut off leave the loss, whatever the method
  ObjectiveOptions objective;
  RemoteOptions policy;     // who draws the turns of training; off: the policy's own engine
  PracticeOptions rollout;  // of training; evaluation says its own temperature
  CurriculumOptions curriculum;
  DynamicSamplingOptions dynamic_sampling;
  SelfImitationOptions replay;
  AlarmOptions alarms;
  std::vector<std::shared_ptr<const Stage>> stages;
  RunEvaluationOptions evaluation;

  std::vector<RecipePath> paths;  // that it names
  Json resolved;                  // everything that was read, defaults included
  Json said;                      // of it, what differs from the defaults
  std::string resolved_text;      // the same as TOML

  std::filesystem::path Folder() const;  // of the run
  // The method at a step: some change with it.
  Result<Method> MethodAt(int64_t step) const;
  bool Simulates() const { return hone::Simulates(answers.mode); }
  // The simulator of the run is what its simulator stage makes.
  bool LearnsSimulator() const { return Makes(StageProduct::kSimulator); }
  // What the real tools answered is recorded by a stage, and the run is answered by that.
  bool JournalsItself() const { return Makes(StageProduct::kJournal); }
  bool Makes(StageProduct product) const;
  // Steps of the run before its first practice.
  int64_t StepsBeforePractice() const;
};

// What a recipe is read for. kToReport: to know its finished runs again, which takes the files that
// are part of its identity (train/recipe_identity.h), but not the model that they began with.
enum class RecipeUse { kToTrain, kToReport };

// Reads all of a recipe and checks that its parts fit each other, without computing anything: all
// problems at once, each with its line.
Result<TrainingRecipe> ReadTrainingRecipe(Recipe* recipe,
                                          std::span<const StageKind> stages = BuiltInStages(),
                                          RecipeUse use = RecipeUse::kToTrain);

// The same of a run that was trained elsewhere or long ago and is only acted with: what nobody
// needs any more (the stages, what answered in training, the model that it began with) need not be
// there, and `stages` stays empty.
Result<TrainingRecipe> ReadTrainedRecipe(const std::filesystem::path& run,
                                         const std::vector<std::string>& overrides = {});
// The model of such a run alone, and what it was rewarded for, as RewarderFromJson takes it: a
// program that gives rewards may be gone where the run is only acted with.
Result<PolicyModelOptions> ReadTrainedModel(const std::filesystem::path& run);
Result<Json> ReadTrainedRewards(const std::filesystem::path& run);

// How somebody else is measured in a recipe's environment: its [evaluation] and its [rewards]. Of a
// recipe that describes an environment alone, the defaults.
struct MeasuringParts {
  RunEvaluationOptions evaluation;
  Json rewards = "default";
};
Result<MeasuringParts> ReadMeasuring(const std::filesystem::path& file,
                                     const std::vector<std::string>& overrides);

// For who wants the environment, the tools or who answers of such a recipe: all other tables are
// known, and not looked at.
void PassOverTraining(RecipeTable root);

}  // namespace hone
