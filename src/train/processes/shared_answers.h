#pragma once

#include <string_view>

#include "cluster/cluster.h"
#include "cluster/wire.h"
#include "learn/together/slices.h"
#include "simulate/players/answer_training.h"

namespace hone {

// A model that learns to answer like tools, trained in slices: by the processes of a cluster, or by
// this one alone where there is none.
class SharedAnswers final : public AnswerSlices {
 public:
  // The cluster must outlive it; null: there is none. In process 0, Begin tells the others to train
  // the same model (Order::kLearnAnswers), unless there is nothing to share: one slice.
  SharedAnswers(int64_t count, Cluster* cluster)
      : cluster_(count > 1 ? cluster : nullptr), slices_(count, cluster_) {}

  int64_t count() const override { return slices_.count(); }
  void Begin(const std::vector<AnswerExample>& examples, int64_t vocabulary,
             const LearnedOptions& options) override;
  double AddUp(Engine* engine, const std::function<double(int64_t slice)>& accumulate) override;

 private:
  Cluster* cluster_;
  Slices slices_;
};

// What another process does when it is told: `arguments` are those of the order.
void LearnAnswersToo(WireReader* arguments, int threads, Cluster* cluster);

}  // namespace hone
