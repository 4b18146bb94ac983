#pragma once

#include <memory>
#include <optional>

#include "train/training_recipe.h"

namespace hone {

// Who answers the calls of a run: an executor with all that stands behind it.
class Backend {
 public:
  // The real tools. With a journal what they answer is recorded under the identity of the call, and
  // what is there already is taken from it; empty: nothing is written. Tools that are part of this
  // program (KindTraits::in_process) run one after the other, in no time.
  static Result<std::unique_ptr<Backend>> Real(const TrainingRecipe& recipe,
                                               const LoadedEnvironment& environment,
                                               const std::filesystem::path& journal);
  // The real tools for whoever shows how to do it. What they say is trained on, so it is written
  // down where the recipe writes what tools say in training (`elsewhere`: where a simulator answers
  // there), and a replay takes it from there.
  static Result<std::unique_ptr<Backend>> ForDemonstrations(const TrainingRecipe& recipe,
                                                            const LoadedEnvironment& environment,
                                                            const std::filesystem::path& elsewhere);
  // As the recipe says for training. `learned` is the folder of the simulator that a stage has
  // made, `recorded` the journal of what the real tools answered; empty: none was.
  static Result<std::unique_ptr<Backend>> ForTraining(const TrainingRecipe& recipe,
                                                      const LoadedEnvironment& environment,
                                                      const std::filesystem::path& learned,
                                                      const std::filesystem::path& recorded = {});
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  Executor* executor() { return executor_.get(); }
  // Null where nothing is simulated.
  const Simulator* simulator() const { return simulator_.get(); }
  // What the real tools have cost so far and how long it took, on conditions ([[conditions]]);
  // absent: there are none.
  struct Spent {
    int64_t nanodollars = 0;
    Clock::Duration time{0};
  };
  std::optional<Spent> spent() const;

 private:
  Backend() = default;
  Result<void> Open(const BackendOptions& backend, RoutingOptions answers, const Toolbox& toolbox);

  std::unique_ptr<Timeline> timeline_;
  bool virtual_ = false;  // the timeline is; else nobody waits for a tool on conditions
  std::shared_ptr<Simulator> simulator_;
  std::shared_ptr<Bill> bill_;  // null: there are no conditions
  std::unique_ptr<Executor> executor_;
};

// Whether the environment's tools are part of this program: fast, and the same every time.
bool HasToolsInProcess(const TrainingRecipe& recipe);

}  // namespace hone
