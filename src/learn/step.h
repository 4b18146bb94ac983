#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "credit/method.h"
#include "engine/engine.h"
#include "envs/environments.h"
#include "envs/gold.h"
#include "evaluate/measures.h"
#include "learn/curriculum.h"
#include "learn/model_views.h"
#include "learn/objective_options.h"
#include "learn/training_group.h"
#include "rewards/rewarder.h"
#include "rollout/rollout.h"

// One step of practice as values. Each function takes what the one before it made; between the last
// two, TrainingGroupsOf leaves out what nothing can be learned from.
//
//   PoseTasks ─▶ DrawGroups ─▶ ScoreGroups ─▶ CreditGroups ─▶ UpdatePolicy (learn/update.h)
//     tasks        trees         scores         advantages       new weights
//
// None keeps anything but what its arguments name. train/stages/rl_stage.cpp puts them together.

namespace hone {

// --- which tasks ---------------------------------------------------------------------------------

// Where tasks come from. Everything must outlive the calls.
struct TaskSupply {
  const LoadedEnvironment* environment = nullptr;
  Curriculum* curriculum = nullptr;
  // Asks what is right in the world that answers in training, by playing each task's plan there.
  // Null: the real tools answer, and tasks are right as they come.
  AskGold ask = nullptr;
};

// A step has one round of drawing, and more where groups that say nothing are drawn again.
struct Round {
  int64_t step = 0;
  int64_t first = 0;   // groups of this step that were asked for before
  size_t groups = 0;   // to be asked for now
  int64_t leaves = 1;  // trajectories per group
  int64_t greedy = 0;  // beside them, drawn greedily (GroupRequest::greedy)
  std::string scope;   // of the step, in the identity of its calls
  Rng rng{0};          // of the step
};

struct PosedTasks {
  int64_t step = 0;
  std::vector<GroupRequest> requests;
  std::vector<uint64_t> numbers;  // of their tasks
  int64_t asked = 0;              // groups, those without sense included
  int64_t voids = 0;              // tasks that make no sense in the world that answers
};

// The next tasks of the curriculum; in another world than the real one with its gold answers, and
// without those that cannot be done there. An error is one of the tools or the journal.
Result<PosedTasks> PoseTasks(const TaskSupply& supply, const Round& round);

// --- what the policy makes of them ---------------------------------------------------------------

struct DrawnGroups {
  int64_t step = 0;
  std::vector<ScoredTree> records;  // trees with leaves, not scored yet
  std::vector<uint64_t> numbers;    // of their tasks
  int64_t asked = 0;                // groups
  int64_t voids = 0;                // as PosedTasks
  int64_t unopened = 0;             // groups that could not begin
  RolloutCounts counts;
};

// An error where none of the tasks could be begun: there is nothing to practise. The pool checks
// the records; null: one after the other. kStopped after `stop`.
Result<DrawnGroups> GroupsOf(const PosedTasks& posed, RolloutResult played, ThreadPool* pool);
Result<DrawnGroups> DrawGroups(const Rollout& rollout, PosedTasks posed, ThreadPool* pool = nullptr,
                               std::stop_token stop = {});

// --- what it is worth ----------------------------------------------------------------------------

struct ScoringOptions {
  Rewarder* rewarder = nullptr;  // null: they have scores (GiveScores)
  // Where schedules of weights stand, in steps; absent: at the step that drew.
  std::optional<int64_t> clock = {};
  std::map<std::string, double> reward_scale;  // of terms' weights, by their name; absent: 1
  std::string kind_by;                         // what the curriculum tells tasks apart by
  ThreadPool* pool = nullptr;  // scores and measures the groups; null: one after the other
};

struct ScoredGroups {
  // With scores. Empty records at the end stand for groups that were asked for and are not there.
  std::vector<ScoredTree> records;
  std::vector<Measures> measures;      // of all leaves, in their order
  std::vector<GroupOutcome> outcomes;  // of the groups that say something of their task
  int64_t asked = 0, voids = 0, unopened = 0;
  RolloutCounts counts;

  // What groups are told apart by (DynamicSamplingOptions::metric), per group: totals of leaves;
  // weighted values of the reward term of that name; with "success", 1 or 0 of judged leaves.
  std::vector<std::vector<double>> Values(std::string_view metric) const;
  void Append(ScoredGroups round);
};

Result<ScoredGroups> ScoreGroups(const ScoringOptions& options, DrawnGroups drawn);
// The part of it that asks the rewarder, which may wait for others.
Result<void> GiveScores(Rewarder* rewarder, const RewardContext& context,
                        std::vector<ScoredTree>* records);

// The records of these numbers that have leaves, in that order; a number may come twice.
std::vector<ScoredTree> Choose(std::vector<ScoredTree> records, const std::vector<size_t>& chosen);

// --- who earned it -------------------------------------------------------------------------------

struct CreditOptions {
  Method method;
  // Of this step. With KlPlace::kReward the penalty becomes a term of the records beforehand.
  KlOptions kl;
  // As AssignOptions: false once the rewards of a run are known to give what the method reads.
  bool terms_required = true;
  ThreadPool* pool = nullptr;  // checks the records; null: one after the other
};

struct CreditedGroups {
  std::vector<ScoredTree> records;  // with advantages
  std::vector<Credit> credits;      // of each, with notes
  ModelViews views;
};

Result<CreditedGroups> CreditGroups(const CreditOptions& options, std::vector<ScoredTree> records,
                                    ModelViews views);

// What UpdatePolicy takes, with all that a loss needs. To learn results wants views.now (CHECK).
Result<std::vector<TrainingGroup>> TrainingGroupsOf(const Method& method,
                                                    const CreditedGroups& credited,
                                                    bool learn_results = false);

}  // namespace hone
