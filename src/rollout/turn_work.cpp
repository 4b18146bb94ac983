#include "rollout/turn_work.h"

#include <utility>

#include "base/thread_pool.h"
#include "rollout/segment.h"
#include "rollout/stopwatch.h"

namespace hone {
namespace {

// A turn takes some 20 microseconds, and a thread that sleeps wakes in as much.
constexpr size_t kTurnsAtOnce = 4;
constexpr size_t kGroupsAtOnce = 2;

void AppendTurn(EnvironmentTurn more, EnvironmentTurn* turn) {
  if (!more.user.empty()) turn->user = std::move(more.user);
  for (std::string& notice : more.notices) turn->notices.push_back(std::move(notice));
  turn->ending = more.ending;
  turn->blame = more.blame;
  turn->calls = std::move(more.calls);
}

}  // namespace

TurnWork::TurnWork(const RolloutOptions& options, const Environment& environment,
                   const Policy& policy, const Clock& clock, RolloutSeconds* seconds)
    : options_(options),
      environment_(environment),
      policy_(policy),
      clock_(clock),
      seconds_(seconds),
      always_appends_(*AppendingOf(policy.codec().dialect()) == Appending::kAlways),
      apart_(environment.traits().episodes_apart && !environment.traits().steps_wait) {}

// --- sharing -------------------------------------------------------------------------------------

void TurnWork::Share(size_t count, size_t grain, const Piece& piece) {
  std::vector<Spent> spent(count);
  double wall = 0;
  {
    const Stopwatch watch(clock_, &wall);
    ForEach(policy_.engine().pool(), count, grain, [&](size_t i) { piece(i, &spent[i]); });
  }
  Spent all;
  for (const Spent& one : spent) {
    all.text += one.text;
    all.environment += one.environment;
  }
  const double sum = all.text + all.environment;
  const double text = sum > 0 ? all.text / sum : 1;
  seconds_->text += wall * text;
  seconds_->environment += wall * (1 - text);
}

void TurnWork::ShareTrajectories(std::span<LiveTrajectory* const> trajectories,
                                 const std::function<void(LiveTrajectory*, Spent*)>& piece) {
  Share(trajectories.size(), kTurnsAtOnce, [&](size_t i, Spent* spent) {
    LiveTrajectory* trajectory = trajectories[i];
    if (trajectory->ahead.failure) return;
    try {
      piece(trajectory, spent);
    } catch (...) {
      trajectory->ahead.failure = std::current_exception();
    }
  });
}

// --- what is asked for ---------------------------------------------------------------------------

std::vector<Result<TurnWork::Opened>> TurnWork::Open(std::span<const GroupRequest> requests) {
  std::vector<std::optional<Result<Opened>>> opened(requests.size());
  const size_t grain = apart_ ? kGroupsAtOnce : requests.size();
  Share(requests.size(), grain,
        [&](size_t i, Spent* spent) { opened[i] = OpenOne(requests[i], spent); });
  std::vector<Result<Opened>> all;
  for (std::optional<Result<Opened>>& one : opened) all.push_back(*std::move(one));
  return all;
}

void TurnWork::Read(std::span<LiveTrajectory* const> trajectories) {
  ShareTrajectories(trajectories, [this](LiveTrajectory* trajectory, Spent* spent) {
    ReadOne(trajectory, spent);
    if (!apart_ || !trajectory->agent.calls.empty()) return;
    StepOne(trajectory, spent);
    FollowOne(trajectory, spent);
  });
}

void TurnWork::Step(std::span<LiveTrajectory* const> trajectories) {
  if (!apart_) {
    for (LiveTrajectory* trajectory : trajectories) {
      Spent spent;
      const Stopwatch watch(clock_, &seconds_->environment);
      StepOne(trajectory, &spent);
    }
  }
  ShareTrajectories(trajectories, [this](LiveTrajectory* trajectory, Spent* spent) {
    if (apart_) StepOne(trajectory, spent);
    FollowOne(trajectory, spent);
  });
}

void TurnWork::Follow(LiveTrajectory* trajectory) {
  LiveTrajectory* const one[] = {trajectory};
  ShareTrajectories(one, [this](LiveTrajectory* only, Spent* spent) { FollowOne(only, spent); });
}

// --- pieces --------------------------------------------------------------------------------------

Result<TurnWork::Opened> TurnWork::OpenOne(const GroupRequest& request, Spent* spent) const {
  Opened opened;
  {
    const Stopwatch watch(clock_, &spent->environment);
    HONE_ASSIGN_OR_RETURN(opened.episode,
                          environment_.Open(request.task, EpisodeSeed(request.seed)));
  }
  const Stopwatch watch(clock_, &spent->text);
  Opening opening = opened.episode->opening();
  if (policy_.no_calls() != nullptr) policy_.no_calls()->Hide(&opening.tools);
  HONE_ASSIGN_OR_RETURN(opened.prompt, policy_.codec().Prompt(opening));
  if (!always_appends_) {
    HONE_ASSIGN_OR_RETURN(Conversation said, ConversationOf(opening));
    opened.said = std::make_shared<const Conversation>(std::move(said));
  }
  return opened;
}

void TurnWork::ReadOne(LiveTrajectory* trajectory, Spent* spent) const {
  const Stopwatch watch(clock_, &spent->text);
  Node& node = trajectory->group->tree.At(trajectory->progress.node);
  trajectory->agent = policy_.codec().ReadTurn(trajectory->turn_end, &node);
  if (policy_.no_calls() == nullptr) {
    trajectory->ahead.unread = policy_.codec().UnreadIn(trajectory->agent, node);
  } else {
    NoCalls::Deny(&trajectory->agent, policy_.no_calls()->tools());
    node.calls = trajectory->agent.calls;
    node.faults = trajectory->agent.faults;
  }
  trajectory->agent.context_tokens = trajectory->progress.tokens;
}

void TurnWork::StepEpisode(LiveTrajectory* trajectory) {
  if (trajectory->resuming) {
    AppendTurn(trajectory->episode->Resume(trajectory->results), &trajectory->environment);
  } else {
    trajectory->environment = trajectory->episode->Step(trajectory->agent);
  }
}

void TurnWork::StepOne(LiveTrajectory* trajectory, Spent* spent) const {
  const Stopwatch watch(clock_, &spent->environment);
  StepEpisode(trajectory);
  trajectory->ahead.stepped = true;
}

void TurnWork::FollowOne(LiveTrajectory* trajectory, Spent* spent) const {
  const EnvironmentTurn& environment = trajectory->environment;
  const Progress& progress = trajectory->progress;
  // With calls of the environment's own the turn is not complete.
  if (!environment.ending && !environment.calls.empty()) return;
  if (environment.ending || progress.turns >= options_.max_turns) {
    const Stopwatch watch(clock_, &spent->environment);
    if (environment.ending != Ending::kFailed) {
      trajectory->ahead.final_state = trajectory->episode->final_state();
    }
    return;
  }
  const Stopwatch watch(clock_, &spent->text);
  const TurnCodec& codec = policy_.codec();
  const Node& turn = std::as_const(trajectory->group->tree).At(progress.node);
  trajectory->ahead.next = codec.After(turn, trajectory->agent, environment);
  if (!always_appends_) {
    trajectory->ahead.said = std::make_shared<const Conversation>(
        Said(codec, *progress.said, turn, trajectory->agent, environment));
  }
}

}  // namespace hone
