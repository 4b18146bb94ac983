#include "train/stages/drawing_lane.h"

#include "base/check.h"
#include "rewards/compose.h"
#include "rewards/confined_runner.h"

namespace hone {

CallCounts CallsSince(const CallCounts& before, const CallCounts& now) {
  CallCounts since = now;
  for (const auto& [source, count] : before) since[source] -= count;
  return since;
}

Result<Rollout> PracticeOf(const StageContext& context, Engine* engine, Executor* executor,
                           int64_t version, CarryOptions carry) {
  const TrainingRecipe& recipe = *context.recipe;
  HONE_ASSIGN_OR_RETURN(
      const Policy policy,
      context.PolicyOf(engine, recipe.rollout.policy.sampling.temperature, version));
  RolloutOptions options = recipe.rollout.options;
  options.run = recipe.run.name;
  options.in_earnest = !recipe.Simulates();
  options.carry = std::move(carry);
  if (context.remote != nullptr) {
    options.drawer = [remote = context.remote.get(), policy, stop = context.stop] {
      return NewRemoteDrawer(remote, policy, {.stop = stop});
    };
  }
  return Rollout::New(std::move(options), context.environment.environment.get(), policy,
                      recipe.rollout.strategy.get(), executor);
}

Result<DrawingTools> DrawingTools::Open(const StageContext& context) {
  DrawingTools tools;
  HONE_ASSIGN_OR_RETURN(tools.backend, Backend::ForTraining(*context.recipe, context.environment,
                                                            context.simulator, context.recorded));
  tools.runner = NewConfinedRunner();
  HONE_ASSIGN_OR_RETURN(tools.rewarder,
                        RewarderFromJson(context.recipe->rewards, {.runner = tools.runner.get()}));
  return tools;
}

Result<std::unique_ptr<DrawingLane>> DrawingLane::Open(const StageContext& context) {
  std::unique_ptr<DrawingLane> lane(new DrawingLane(context));
  HONE_ASSIGN_OR_RETURN(lane->tools_, DrawingTools::Open(context));
  return lane;
}

DrawingLane::~DrawingLane() { Abandon(); }

Result<void> DrawingLane::Begin(const VersionedWeights& weights, int64_t newer, PosedTasks posed,
                                int64_t schedule) {
  CHECK(!under_way_.valid(), "a lane draws one step at a time");
  if (engine_ == nullptr) {
    engine_ = std::make_unique<Engine>(*weights.model, context_.engine_options);
  } else {
    engine_->MixIn(*weights.model, 1);
  }
  {
    MutexLock lock(mutex_);
    newer_.clear();
    wanted_ = newer;
  }
  CarryOptions carry{.turns = newer > 0 ? context_.recipe->rollout.carry : 0,
                     .versions = newer,
                     .next = [this](std::stop_token stop) { return TakeNext(std::move(stop)); }};
  HONE_ASSIGN_OR_RETURN(const Rollout rollout,
                        PracticeOf(context_, engine_.get(), tools_.backend->executor(),
                                   weights.version, std::move(carry)));
  stop_ = std::stop_source();
  under_way_ = std::async(std::launch::async, [this, rollout, posed = std::move(posed), schedule,
                                               stop = stop_.get_token()]() mutable {
    return Draw(rollout, std::move(posed), schedule, stop);
  });
  return {};
}

void DrawingLane::Offer(const VersionedWeights& weights) {
  MutexLock lock(mutex_);
  if (wanted_ == 0) return;
  --wanted_;
  newer_.push_back(weights);
  offered_.notify_all();
}

Result<int64_t> DrawingLane::TakeNext(std::stop_token stop) {
  NoteTime();
  VersionedWeights next;
  {
    MutexLock lock(mutex_);
    if (!offered_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return !newer_.empty(); })) {
      return Error(ErrorCode::kStopped, "the rollout was stopped");
    }
    next = std::move(newer_.front());
    newer_.pop_front();
  }
  engine_->MixIn(*next.model, 1);
  return next.version;
}

// What passed of the tools' virtual clock was the present version's.
void DrawingLane::NoteTime() {
  const std::optional<Backend::Spent> spent = tools_.backend->spent();
  if (!spent) return;
  took_.push_back(spent->time - noted_);
  noted_ = spent->time;
}

Result<DrawingLane::Drawn> DrawingLane::Draw(const Rollout& rollout, PosedTasks posed,
                                             int64_t schedule, std::stop_token stop) {
  const CallCounts calls = tools_.backend->executor()->counts().by_source;
  const Backend::Spent before = tools_.backend->spent().value_or(Backend::Spent());
  noted_ = before.time;
  took_.clear();
  Drawn drawn;
  HONE_ASSIGN_OR_RETURN(drawn.groups, DrawGroups(rollout, std::move(posed), engine_->pool(), stop));
  NoteTime();
  drawn.calls = CallsSince(calls, tools_.backend->executor()->counts().by_source);
  drawn.nanodollars = tools_.backend->spent().value_or(before).nanodollars - before.nanodollars;
  drawn.took = std::move(took_);
  const RewardContext scoring{.step = schedule, .stop = stop, .pool = engine_->pool()};
  HONE_RETURN_IF_ERROR(GiveScores(tools_.rewarder.get(), scoring, &drawn.groups.records));
  return drawn;
}

Result<DrawingLane::Drawn> DrawingLane::Wait() { return under_way_.get(); }

void DrawingLane::Abandon() {
  if (!under_way_.valid()) return;
  stop_.request_stop();  // also whoever waits for weights
  under_way_.wait();
  under_way_ = {};
}

}  // namespace hone
