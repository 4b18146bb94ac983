#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/recipe.h"
#include "base/result.h"
#include "base/rng.h"
#include "envs/task_source.h"

namespace hone {

// A level of difficulty: for some steps, this share of each kind of task.
struct Phase {
  std::string name;
  int64_t steps = 100;                // at most; the last phase has no end
  double success = 0;                 // above 0: it is over as soon as that is reached
  std::map<std::string, double> mix;  // kinds and their weights; empty: as the source has them
  // What the weights of reward terms are multiplied by while it lasts; absent: 1.
  std::map<std::string, double> rewards = {};
};

struct CurriculumOptions {
  enum class Order {
    kSource,   // as the source has them
    kPhases,   // when, which, how, pipelines, and all together
    kDynamic,  // towards kinds that are not mastered, most of all where success stalls
    // Towards kinds (or, by index, tasks) whose groups disagree most about their reward. Rewards
    // are alike within the deviation (by n) of all rewards so far. Where there are only two values
    // that deviation is at most half of their distance, and they are never taken for one another.
    kEntropy,
  };
  Order order = Order::kSource;
  std::string by = "family";  // what tasks are told apart by: learn/task_stream.h
  std::vector<Phase> phases;
  double floor = 0.3;    // share of the tasks that stays as the source has them: no kind is lost
  double memory = 32;    // groups of a kind that its averages remember
  double target = 0.95;  // success at which a kind is mastered
  double stall = 0.01;   // success that gains less over the memory stalls
  double boost = 2;      // how much more a kind that stalls is practised
};
// The phases of the embedded desk, by family: A when, B which, C how, D pipelines. No family is
// ever absent: what is not practised is lost.
std::vector<Phase> StandardPhases();
// [curriculum] of a recipe.
CurriculumOptions ReadCurriculum(RecipeTable table);

// What came of a group.
struct GroupOutcome {
  uint64_t index = 0;           // the task's number
  std::string kind;             // KindOf the task
  double success = 0;           // share of the leaves that succeeded
  std::vector<double> rewards;  // of the leaves that were scored
};

// Entropy, in nats, of the rewards of a group: 0 when all are equal. From the smallest on, rewards
// that are less than `alike` above the smallest of their class are of one class.
double RewardEntropy(std::span<const double> rewards, double alike = 1e-9);

// Which tasks come next. A function of the options, the Rng and what was observed; the order of
// observations in a step does not matter. Not synchronised.
class Curriculum {
 public:
  virtual ~Curriculum() = default;

  // The numbers of the next `count` training tasks. One call per step, and further ones where
  // groups are drawn again.
  virtual std::vector<uint64_t> Sample(int64_t step, size_t count) = 0;
  // What came of all groups of a step; once per step.
  virtual void Observe(std::span<const GroupOutcome> groups) = 0;
  // How likely each kind is in the next step, for the record; empty: as the source has them.
  virtual std::map<std::string, double> Weights() const = 0;
  // The phase that the next step is in; empty without phases.
  virtual std::string PhaseName() const = 0;
  // What the weights of reward terms are multiplied by in that phase; absent: 1.
  virtual std::map<std::string, double> RewardWeights() const = 0;

  // Everything that Sample depends on. Restored into a curriculum of the same options, source and
  // Rng, it goes on as if nothing had happened.
  virtual Json ToJson() const = 0;
  virtual Result<void> Restore(const Json& state) = 0;
};

// `source` must outlive it. An error when it has no training task, or none of a kind that a phase
// wants.
Result<std::unique_ptr<Curriculum>> NewCurriculum(CurriculumOptions options,
                                                  const TaskSource* source, const Rng& rng);

}  // namespace hone
