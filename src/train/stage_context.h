#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cluster/cluster.h"
#include "evaluate/policy_evaluation.h"
#include "learn/curriculum.h"
#include "learn/together/shared_step.h"
#include "rollout/remote_engine.h"
#include "train/backend.h"
#include "train/folder/agent_card.h"
#include "train/pass_times.h"
#include "train/run_model.h"
#include "train/training_recipe.h"

namespace hone {

// The journal of what real tools answered, in the folder of a stage that recorded it.
inline constexpr char kRecordedJournal[] = "recorded.sqlite";

// Whoever shows how to do it in the recipe's first stage that shows anything. The tokenizer learns
// from the same.
DemonstratorOptions FirstDemonstrator(const TrainingRecipe& recipe);
// The conversations of the first stage that has some: then the tokenizer learns from them. Null:
// none has.
const ConversationMixture* FirstConversations(const TrainingRecipe& recipe);

// How a context is opened.
struct StageContextOptions {
  bool rehearsal = false;
  SetUpHooks hooks = {};
};

class Crew;  // train/processes/crew.h

// What the stages of a run work with.
struct StageContext {
  const TrainingRecipe* recipe = nullptr;
  LoadedEnvironment environment;
  RunLanguage language;
  std::unique_ptr<Backend> real;     // the real tools, for evaluation
  std::unique_ptr<Backend> showing;  // who answers those who show how to do it
  Engine::Options engine_options;
  std::unique_ptr<Engine> engine;      // the policy
  std::filesystem::path simulator;     // what a stage has made; empty: none has
  std::filesystem::path recorded;      // the journal that a stage has made; empty: none has
  std::filesystem::path made_last;     // the folder of the last of both
  Json curriculum;                     // where the last stage of practice left it; null: none did
  std::filesystem::path folder;        // of the run
  std::filesystem::path gone_on_from;  // the checkpoint whose state is restored; empty: none is
  PassTimes* times = nullptr;
  // Who computes with this process; null: nobody. The crew is there in process 0 alone.
  Cluster* cluster = nullptr;
  Crew* crew = nullptr;
  std::unique_ptr<SharedStep> shared_step;  // of the engine; null: there is no cluster
  // Draws the turns of practice; null: the engine does.
  std::unique_ptr<RemoteEngine> remote;
  std::function<void(std::string_view)> note;  // told what whoever watches should know; or null
  std::function<bool()> stop;                  // whether to end what is being made; or null
  std::function<void(std::string_view, int64_t, int64_t)> progress;  // as SetUpHooks has it
  double tools_seconds = 0;  // that it took to start the tools

  // The tools, the environment and the language of a recipe, without an engine. `folder` is the
  // run's, where real tools that are not part of this program are journaled; empty: they are not,
  // and nobody shows anything (`showing` is null). `tokenizer` is one that is there already (of a
  // checkpoint); empty: it is made, from what is shown (`hooks`). In a rehearsal nobody outside
  // this program is asked: demonstrations are answered by chance.
  static Result<std::unique_ptr<StageContext>> Open(const TrainingRecipe& recipe,
                                                    const std::filesystem::path& folder,
                                                    const std::filesystem::path& tokenizer,
                                                    PassTimes* times,
                                                    const StageContextOptions& options = {});

  // The environment of a stage: of several, with tasks of each as often as the stage has them, and
  // others than earlier stages had where there is no end of them.
  LoadedEnvironment EnvironmentOf(const EnvironmentMix& mix, int64_t stage) const;
  // Whether there are several environments, with tasks of dev.
  bool HasSeveralOnDev() const;
  // Which of the tasks are practised next: what earlier stages of practice posed is behind it. They
  // must outlive it.
  Result<std::unique_ptr<Curriculum>> OpenCurriculum(const TaskSource& tasks) const;
  // The policy at this temperature, or another engine with weights of it.
  Result<Policy> PolicyAt(double temperature, int64_t version) const;
  Result<Policy> PolicyOf(Engine* weights, double temperature, int64_t version) const;
  // The engine, in all processes: as the recipe makes it; of a folder with its whole state; with
  // the weights that it has and a new optimiser, as what another stage's gradients were like is of
  // no use.
  Result<void> MakeEngine();
  Result<void> LoadEngine(const std::filesystem::path& state);
  Result<void> FreshEngine(bool critic);
  // On real tools. `options.run` is ours to say.
  Result<Evaluation> Evaluate(EvaluationOptions options, double temperature) const;
  // Everything that the output of a stage of the recipe hangs on, which the cache names it after.
  // Imitation hangs on the weights that the engine has now, for it begins with them.
  Result<Json> InputsOf(size_t stage);
  // How the agent sees its tasks, or the conversations that it imitates.
  AgentCard Card() const;
  // Tells whoever watches how far this part is; null where nobody does.
  std::function<void(int64_t done, int64_t all)> ProgressOf(std::string part) const;
  // What a stage has made is there for those that come after it.
  void Provide(StageProduct product, const std::filesystem::path& made);

  std::string environment_is;  // its digest, once InputsOf needed it

 private:
  void ShareSteps();
};

}  // namespace hone
