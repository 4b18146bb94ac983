#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "engine/optimizer.h"

namespace hone {

// Which process has each tensor: adds up its gradient, keeps its moments and takes its steps. Whole
// tensors, as Muon wants them; the largest first, each to whoever has least.
std::vector<int> OwnersOf(const std::vector<size_t>& sizes, int processes);

// Steps of the optimiser that the processes of a cluster take together. Every process makes one of
// the same sizes (Engine::GradientSizes), and gives it to its engine (Engine::ShareSteps).
class SharedStep {
 public:
  // The cluster must outlive it.
  SharedStep(Cluster* cluster, std::vector<size_t> sizes);
  SharedStep(const SharedStep&) = delete;
  SharedStep& operator=(const SharedStep&) = delete;

  // Tells the others to bring their moments (Engine::Moments), in process 0, before it brings its
  // own: it alone writes checkpoints.
  std::function<void()> tell_others;

  const StepShare& share() const { return share_; }

 private:
  void BringSquares(std::vector<double>* squares) const;
  void BringWeights(Model* model) const;
  std::string WriteMoments(const Optimizer& optimizer) const;
  void BringMoments(Optimizer* optimizer) const;

  Cluster* cluster_;
  std::vector<size_t> sizes_;
  std::vector<int> owners_;
  StepShare share_;
};

}  // namespace hone
