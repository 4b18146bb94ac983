#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/json.h"
#include "train/stages/drawing_lane.h"

namespace hone {

// Rollout ahead of training (`rollout.ahead = k`): the groups of a step are begun as soon as the
// policy has made all steps but the last k before it, and drawn beside the training of those. So
// step t is drawn with the weights after max(0, t - k) steps: who draws what with which weights
// follows from the recipe, never from who was faster (docs/ahead.md). With `rollout.carry = m`
// an episode takes m turns with these weights, m with those of one step later, and so on, the last
// ones with the weights that the step is trained from.
//
// It keeps steps that are begun and not taken, in their order, with a lane for each, and the
// weights that they need. Clocks are virtual ones, of tools with conditions.
class DrawingAhead {
 public:
  // Refuses environments and tools that have room for some episodes alone. The context must outlive
  // it.
  static Result<DrawingAhead> Open(int64_t ahead, const StageContext& context);
  DrawingAhead(DrawingAhead&&) = default;
  DrawingAhead& operator=(DrawingAhead&&) = default;

  // Steps that may be begun at a time: those ahead, and the one that is trained next.
  int64_t most() const { return static_cast<int64_t>(idle_.size() + begun_.size()); }
  int64_t count() const { return static_cast<int64_t>(begun_.size()); }  // begun
  bool Has(int64_t step) const { return !begun_.empty() && begun_.front().step == step; }

  // The policy has made so many steps of the stage. To be told before anything is begun, and after
  // each step.
  void PolicyMade(int64_t steps, Clock::Duration clock);
  // Begins a step, behind all that are begun, with the weights that the policy has now. `schedule`
  // is where the weights of rewards stand for it, in steps.
  Result<void> Begin(PosedTasks posed, int64_t schedule, Clock::Duration clock);
  struct Taken {
    DrawingLane::Drawn drawn;
    int64_t version = 0;       // of the weights that drew it first
    Clock::Duration ended{0};  // when all of it was there
  };
  // The oldest that is begun; waits for it.
  Result<Taken> Take();
  void Abandon();

  // What was begun, for a checkpoint. Weights other than the policy's own lie beside it in the
  // checkpoint's folder, where Save puts them.
  Json ToJson(Clock::Duration clock) const;
  Result<void> Save(const std::filesystem::path& checkpoint) const;
  // Begins again what a checkpoint had begun. The policy is as it was then.
  Result<void> Restore(const Json& state, Clock::Duration clock,
                       const std::filesystem::path& checkpoint);

 private:
  struct Kept {
    VersionedWeights weights;
    Clock::Duration clock{0};  // when the policy had them
  };
  struct Begun {
    int64_t step = 0, version = 0, schedule = 0;
    Clock::Duration clock{0};
    PosedTasks posed;
    std::unique_ptr<DrawingLane> lane;
  };
  explicit DrawingAhead(const StageContext& context) : context_(&context) {}
  const Kept& KeptOf(int64_t version) const;
  Result<void> BeginWith(Begun begun);
  void DropUnused();

  const StageContext* context_;
  std::deque<Kept> kept_;  // consecutive versions; the last is the policy's
  std::vector<std::unique_ptr<DrawingLane>> idle_;
  std::deque<Begun> begun_;
};

}  // namespace hone
