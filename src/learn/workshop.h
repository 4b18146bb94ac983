#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "evaluate/policy_evaluation.h"
#include "learn/pass_times.h"
#include "learn/run_model.h"
#include "learn/training_recipe.h"
#include "learn/world.h"

namespace hone {

// Numbers of one step by name, for logs ("success", "reward/mean", "time/sampling").
using StepValues = std::map<std::string, double>;

// What the stages of a run work with.
struct Workshop {
  const TrainingRecipe* recipe = nullptr;
  LoadedEnvironment environment;
  RunLanguage language;
  std::unique_ptr<World> real;  // the real tools: for demonstrations and evaluation
  Engine::Options engine_options;
  std::unique_ptr<Engine> engine;   // the policy
  std::filesystem::path simulator;  // what a stage has made; empty: none has
  std::filesystem::path folder;     // of the run
  PassTimes* times = nullptr;

  // The tools, the environment and the language of a recipe, without an engine. `tokenizer` is one
  // that is there already (of a checkpoint); empty: it is made.
  static Result<std::unique_ptr<Workshop>> Open(const TrainingRecipe& recipe,
                                                const std::filesystem::path& folder,
                                                const std::filesystem::path& tokenizer,
                                                PassTimes* times);

  // The policy at this temperature.
  Result<Policy> PolicyAt(double temperature, int64_t version) const;
  // On real tools.
  Result<Evaluation> Evaluate(Split split, int64_t tasks, double temperature) const;
};

}  // namespace hone
