#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "learn/update.h"
#include "train/processes/shared_play.h"

namespace hone {

// Whether several processes may carry a recipe out; the error says what stands in the way.
Result<void> CanBeShared(const TrainingRecipe& recipe);

// The other processes of a run, as process 0 sees them, which carries the recipe out. They do what
// it says (train/processes/worker.h) and keep nothing: what is written down is its to write. Their
// engines have the weights of its own at any time.
//
// Whatever cannot be reached throws ClusterError.
class Crew {
 public:
  // The cluster must outlive it. An error where another process runs another program or recipe.
  // Shares the journals first.
  static Result<std::unique_ptr<Crew>> Begin(Cluster* cluster, const TrainingRecipe& recipe);
  // Tells them that the run is over; not when an exception is under way, which ends them all.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  Cluster* cluster() const { return cluster_; }

  // What tools answered to any process is known to all; while none has a journal open.
  Result<void> ShareJournals(const TrainingRecipe& recipe);
  // They open environment and tools as this process has.
  Result<void> SetUp(const StageContext& context);
  // What happened to the engine of process 0: it is made anew, as the recipe says; it was loaded
  // from this folder; or has the weights it had, with a new optimiser. Afterwards all have the same
  // weights on the same kind of device, or it is an error.
  Result<void> EngineWasMade(const Engine& engine);
  Result<void> EngineWasLoaded(const std::filesystem::path& folder, const Engine& engine);
  Result<void> EngineIsFresh(bool critic, const Engine& engine);
  // They bring their moments of the optimiser (Engine::Moments), as process 0 does.
  void AskForMoments();
  // What a stage has made is there for those that come after it.
  Result<void> Provide(StageProduct product, const std::filesystem::path& made);
  // A stage that trains the policy begins or goes on.
  Result<void> OpenStage(int64_t number);

  // They take this step of a stage, which is not practice, as process 0 does.
  void TakeStep(int64_t step);
  // All play their share of the requests; process 0, too.
  Result<Played> Play(const PlayOrder& order, const StageContext& context,
                      const DrawingTools* tools, std::span<const GroupRequest> requests,
                      const std::function<void(int64_t ended, int64_t wanted)>& progress = {});
  // The same of questions about what is right in the world that answers (AskForGold).
  struct Gold {
    std::vector<GoldTask> tasks;
    CallCounts calls_of_others;
  };
  Result<Gold> AskForGold(const StageContext& context, const DrawingTools& tools,
                          std::span<const GoldQuestion> questions, const std::string& run);
  // They make this call of UpdatePolicy, as process 0 does: with `options.cluster`.
  void Update(int64_t stage, int64_t step, const UpdateOptions& options,
              std::span<const TrainingGroup> groups);

  // How long each process played since the last time: "process/1/rollout".
  std::map<std::string, double> TakeSeconds();

 private:
  explicit Crew(Cluster* cluster) : cluster_(cluster) {}
  Result<void> Acknowledged();
  Result<void> SameWeights(const Engine& engine);

  Cluster* cluster_;
  std::map<std::string, double> seconds_;
};

}  // namespace hone
