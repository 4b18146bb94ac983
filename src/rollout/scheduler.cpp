#include "rollout/scheduler.h"

#include <fmt/format.h>

#include "rollout/segment.h"
#include "rollout/stopwatch.h"

namespace hone {
namespace {

// Somebody who is neither agent nor tool: the trajectory says nothing about the policy.
bool IsSomebodyElse(Blame blame) {
  return blame != Blame::kNone && blame != Blame::kAgent && blame != Blame::kTool;
}

// Whether the tool may have done what the call asks. Nothing was done where the call was refused
// beforehand, or where the answer is not the tool's.
bool MayHaveActed(const ToolResult& result) {
  switch (result.status) {
    case CallStatus::kOk:
    case CallStatus::kToolError:
    case CallStatus::kTimeout:
    case CallStatus::kInterrupted: return true;
    case CallStatus::kUnavailable: return result.blame == Blame::kTool;
    case CallStatus::kDenied:
    case CallStatus::kUnknownTool:
    case CallStatus::kInvalidArguments: return false;
  }
  return true;
}

// What a trajectory that failed is remembered by.
std::string ProblemOf(const LiveTrajectory& trajectory) {
  for (const ToolResult& result : trajectory.agent.results) {
    if (IsSomebodyElse(result.blame)) return result.content;
  }
  return "the environment says that it failed";
}

std::string ScopedPath(const GroupRequest& request, const TrajectoryPath& path) {
  return request.scope.empty() ? path.Text() : request.scope + "/" + path.Text();
}

}  // namespace

Scheduler::Scheduler(const RolloutOptions& options, const Environment& environment,
                     const Policy& policy, const Strategy& strategy, Executor* executor,
                     const Clock& clock, std::span<const GroupRequest> requests)
    : options_(options),
      environment_(environment),
      policy_(policy),
      strategy_(strategy),
      executor_(executor),
      clock_(clock),
      requests_(requests),
      always_appends_(*AppendingOf(policy.codec().dialect()) == Appending::kAlways),
      work_(options, environment, policy, clock, &result_.counts.seconds),
      version_(policy.options().version),
      drawer_(NewDrawer(options, policy)) {
  result_.trees.resize(requests.size());
  result_.groups.resize(requests.size());
}

Result<RolloutResult> Scheduler::Run(std::stop_token stop) {
  RolloutCounts& counts = result_.counts;
  const int64_t computed_before = policy_.engine().tokens_computed();
  {
    const Stopwatch total(clock_, &counts.seconds.total);
    std::vector<TurnDrawer::Id> turns;  // that ended in the last step
    while (true) {
      if (stop.stop_requested()) return Error(ErrorCode::kStopped, "the rollout was stopped");
      // A device draws for the others while the turns that ended are played. Which step a turn is
      // part of is not seen in what it draws.
      {
        const Stopwatch sampling(clock_, &counts.seconds.sampling);
        drawer_->Begin();
      }
      HONE_RETURN_IF_ERROR(OnTurns(std::exchange(turns, {})));
      HONE_RETURN_IF_ERROR(AdmitFromQueue());
      HONE_RETURN_IF_ERROR(TakeOutcomes());
      while (LiveTrajectory* stepped = steps_.Poll()) HONE_RETURN_IF_ERROR(OnStepped(stepped));
      // While somebody draws, calls come in beside it; only when nobody does is there time to wait.
      if (!drawing_.empty()) {
        const Stopwatch sampling(clock_, &counts.seconds.sampling);
        constexpr std::chrono::milliseconds kLook{1},
            kLong{20};  // whether others may be ready, or not
        const bool others = !tickets_.empty() || steps_.under_way() > 0;
        HONE_ASSIGN_OR_RETURN(turns, drawer_->Draw(others ? kLook : kLong));
        continue;
      }
      if (steps_.under_way() > 0) {
        HONE_RETURN_IF_ERROR(WaitForStep());
        continue;
      }
      if (tickets_.empty()) {
        if (!queue_.empty() || next_group_ < requests_.size())
          continue;  // somebody's turn has come
        if (parked_.empty()) break;
        HONE_RETURN_IF_ERROR(GoOnWithNextVersion(stop));
        continue;
      }
      std::optional<CallOutcome> outcome;
      {
        const Stopwatch waiting(clock_, &counts.seconds.waiting);
        outcome = executor_->Next(stop);
      }
      if (outcome) {
        LiveTrajectory* settled = OnOutcome(*std::move(outcome));
        if (settled != nullptr) HONE_RETURN_IF_ERROR(OnResults({&settled, 1}));
      } else if (!stop.stop_requested()) {
        return Error(ErrorCode::kUnavailable,
                     "calls are under way, but the executor will never have their outcome; was it "
                     "given a timeline of its own?");
      }
    }
  }
  HONE_RETURN_IF_ERROR(executor_->Recorded());
  CHECK(groups_.empty(), "a group was left behind");
  counts.computed_tokens = policy_.engine().tokens_computed() - computed_before;
  CountDrawer();
  return std::move(result_);
}

// --- trajectories --------------------------------------------------------------------------------

void Scheduler::Enqueue(LiveGroup* group, std::shared_ptr<const BranchPoint> origin,
                        TrajectoryPath path, int64_t repetitions) {
  auto trajectory = std::make_unique<LiveTrajectory>();
  trajectory->group = group;
  trajectory->origin = std::move(origin);
  trajectory->progress = trajectory->origin->progress;
  trajectory->progress.path = std::move(path);
  trajectory->repetitions = repetitions;
  // The last that begin at the prompt; a repetition of one is one.
  trajectory->greedy = group->request->greedy > 0 &&
                       trajectory->progress.path.parts.front().number >= group->request->leaves;
  trajectory->number = next_number_++;
  // By group first: a group that was begun is finished before later ones take its place.
  queue_[{group->index, trajectory->number}] = trajectory.get();
  group->trajectories[trajectory->number] = std::move(trajectory);
  ++group->under_way;
}

Result<void> Scheduler::StartOrResume(LiveTrajectory* trajectory) {
  if (trajectory->episode != nullptr) return DrawTurn(trajectory);  // it had waited
  LiveGroup* group = trajectory->group;
  const BranchPoint& origin = *trajectory->origin;
  {
    const Stopwatch watch(clock_, &result_.counts.seconds.environment);
    if (origin.episode != nullptr) {
      // A program that was started afresh knows nothing of what came before.
      auto cloned = origin.episode->Clone();
      if (!cloned.ok())
        return RetryOrDrop(trajectory, Blame::kEnvironment, cloned.error().message());
      trajectory->episode = *std::move(cloned);
      HONE_ASSIGN_OR_RETURN(trajectory->sessions, origin.sessions->Fork());
    } else {
      if (group->spare == nullptr) {
        auto opened = environment_.Open(group->request->task, group->episode_seed);
        if (!opened.ok())
          return RetryOrDrop(trajectory, Blame::kEnvironment, opened.error().message());
        group->spare = *std::move(opened);
      }
      trajectory->episode = std::move(group->spare);
      trajectory->sessions = std::make_shared<Sessions>(
          environment_.For(group->request->task).tools(), group->session_seed);
    }
  }
  // The origin's sequence may have grown since: its owner went on. The beginning is what it was.
  trajectory->sequence = drawer_->Fork(origin.sequence, origin.progress.tokens);
  return DrawTurn(trajectory);
}

Result<void> Scheduler::DrawTurn(LiveTrajectory* trajectory) {
  // By the path's name alone: which numbers a trajectory draws does not depend on when it is begun,
  // nor on who draws beside it. A repetition has a name of its own, or it would break again.
  Rng rng = Rng(trajectory->group->request->seed)
                .Split("trajectory")
                .Split(trajectory->progress.path.Text());
  // The numbers of a stream go by the position in the sequence, which begins anew there.
  if (const int32_t segment = trajectory->progress.segment; segment > 0) {
    rng = rng.Split("segment").Split(static_cast<uint64_t>(segment));
  }
  const std::span<const TokenId> before = drawer_->Tokens(trajectory->sequence);
  HONE_RETURN_IF_ERROR(
      drawer_->Generate(trajectory->sequence, policy_.RequestFor(rng, before, trajectory->greedy)));
  drawing_[trajectory->sequence] = trajectory;
  return {};
}

Result<std::shared_ptr<const BranchPoint>> Scheduler::BranchPointOf(
    const LiveTrajectory& trajectory) {
  const Stopwatch watch(clock_, &result_.counts.seconds.environment);
  auto branch_point = std::make_shared<BranchPoint>();
  branch_point->progress = trajectory.progress;
  branch_point->sequence = trajectory.sequence;
  HONE_ASSIGN_OR_RETURN(branch_point->episode, trajectory.episode->Clone());
  HONE_ASSIGN_OR_RETURN(branch_point->sessions, trajectory.sessions->Fork());
  return std::shared_ptr<const BranchPoint>(std::move(branch_point));
}

// The context gets its next tokens, and the policy goes on, when its strategy lets it.
Result<void> Scheduler::AppendAndContinue(LiveTrajectory* trajectory, Node next) {
  LiveGroup* group = trajectory->group;
  Progress& progress = trajectory->progress;
  drawer_->Append(trajectory->sequence, next.tokens);
  progress.tokens += static_cast<int64_t>(next.tokens.size());
  progress.after_results = !next.results.empty();
  progress.node = group->tree.Add(progress.node, std::move(next));
  return WaitOrContinue(trajectory);
}

// The turn is over, and the context is ready for the next one.
Result<void> Scheduler::WaitOrContinue(LiveTrajectory* trajectory) {
  LiveGroup* group = trajectory->group;
  trajectory->agent = {};
  trajectory->environment = {};
  // Copied now: when the strategy comes back, episode and sessions will have moved on.
  if (strategy_.traits().returns) {
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<const BranchPoint> branch_point,
                          BranchPointOf(*trajectory));
    group->branch_points.push_back(std::move(branch_point));
  }
  if (IsCarried(*trajectory)) {
    Park(trajectory);
    return {};
  }
  if (!strategy_.traits().waits) return DrawTurn(trajectory);
  group->waiting.push_back(trajectory);
  --live_;  // its place goes to others: what it waits for may need it
  if (--group->under_way == 0) return AskStrategy(group);
  return {};
}

// It is over. Its sequence stays where others may go on from it.
void Scheduler::ReleaseTrajectory(LiveTrajectory* trajectory) {
  LiveGroup* group = trajectory->group;
  if (trajectory->sequence >= 0) {
    if (strategy_.traits().branches()) {
      group->sequences.push_back(trajectory->sequence);
    } else {
      drawer_->Release(trajectory->sequence);
    }
  }
  group->trajectories.erase(trajectory->number);
}

// It ended by itself: a leaf.
Result<void> Scheduler::AddLeaf(LiveTrajectory* trajectory, Ending ending, Blame blame) {
  if (ending == Ending::kFailed && (blame == Blame::kNone || IsSomebodyElse(blame))) {
    return RetryOrDrop(trajectory, blame == Blame::kNone ? Blame::kEnvironment : blame,
                       ProblemOf(*trajectory));
  }
  LiveGroup* group = trajectory->group;
  NodeId node = trajectory->progress.node;
  // Results that nobody will read any more: rewards look at them.
  if (std::optional<Node> last = TurnCodec::AfterEnding(trajectory->agent)) {
    node = group->tree.Add(node, *std::move(last));
  }
  {
    const Stopwatch watch(clock_, &result_.counts.seconds.environment);
    group->tree.AddLeaf(
        trajectory->progress.path,
        {.node = node,
         .ending = ending,
         .blame = blame,
         .final_state = trajectory->ahead.final_state ? *std::move(trajectory->ahead.final_state)
                                                      : trajectory->episode->final_state()});
  }
  return Retire(trajectory, true);
}

// Somebody else broke it: it says nothing about the policy, and is begun again or left out. In
// earnest (options_.in_earnest), a trajectory that may have done what must not be done twice, such
// as sending a letter, is left out: begun again, it would send the letter a second time.
Result<void> Scheduler::RetryOrDrop(LiveTrajectory* trajectory, Blame blame, std::string problem) {
  LiveGroup* group = trajectory->group;
  RolloutCounts& counts = result_.counts;
  ++counts.faults[std::string(BlameName(blame))];
  group->last_problem = std::move(problem);
  const bool acted = trajectory->acted && options_.in_earnest;
  const bool again = trajectory->repetitions < options_.retries && !acted;
  if (again) {
    ++counts.retries;
    Enqueue(group, trajectory->origin, trajectory->progress.path.Again(),
            trajectory->repetitions + 1);
  } else {
    ++counts.dropped;
    ++group->report.dropped;
  }
  return Retire(trajectory, !again);
}

// `counts`: it is not begun again, so progress and the strategy see one more that ended.
Result<void> Scheduler::Retire(LiveTrajectory* trajectory, bool counts) {
  LiveGroup* group = trajectory->group;
  ReleaseTrajectory(trajectory);
  --live_;
  if (counts) {
    ++group->ended;
    ++ended_;
    if (options_.progress) options_.progress(ended_, wanted_);
  }
  if (--group->under_way == 0) return AskStrategy(group);
  return {};
}

// --- events --------------------------------------------------------------------------------------

Result<void> Scheduler::OnTurns(const std::vector<TurnDrawer::Id>& sequences) {
  if (sequences.empty()) return {};
  std::vector<LiveTrajectory*> trajectories;
  for (const TurnDrawer::Id sequence : sequences) trajectories.push_back(TakeTurn(sequence));
  work_.Read(trajectories);
  for (LiveTrajectory* trajectory : trajectories) HONE_RETURN_IF_ERROR(OnTurn(trajectory));
  return {};
}

// Puts the turn into the tree, not read yet.
LiveTrajectory* Scheduler::TakeTurn(TurnDrawer::Id sequence) {
  const auto found = drawing_.find(sequence);
  CHECK(found != drawing_.end(), "a turn that nobody asked for");
  LiveTrajectory* trajectory = found->second;
  drawing_.erase(found);
  Progress& progress = trajectory->progress;
  SampleResult drawn = drawer_->Take(sequence);
  RolloutCounts& counts = result_.counts;
  ++counts.turns;
  counts.sampled_tokens += static_cast<int64_t>(drawn.tokens.size());
  trajectory->turn_end = drawn.stopped ? TurnEnd::kEnded : TurnEnd::kCut;
  progress.tokens += static_cast<int64_t>(drawn.tokens.size());
  const std::span<const TokenId> said = drawer_->Tokens(sequence);
  const auto before = said.first(said.size() - drawn.tokens.size());
  Node node = policy_.NodeOf(std::move(drawn), before, trajectory->greedy);
  node.policy_version = version_;
  progress.node = trajectory->group->tree.Add(progress.node, std::move(node));
  progress.last_turn = progress.node;
  if (progress.turns == 0) progress.first_turn = progress.node;
  ++progress.turns;
  trajectory->resuming = false;
  trajectory->ahead = {};
  return trajectory;
}

Result<void> Scheduler::OnTurn(LiveTrajectory* trajectory) {
  if (trajectory->ahead.failure) std::rethrow_exception(trajectory->ahead.failure);
  if (const auto& unread = trajectory->ahead.unread) {
    RolloutCounts& counts = result_.counts;
    ++counts.unread_calls;
    if (counts.unread_note.empty()) counts.unread_note = NoteOn(*unread);
  }
  result_.counts.calls += static_cast<int64_t>(trajectory->agent.calls.size());
  return SubmitCalls(trajectory, trajectory->agent.calls);
}

Result<void> Scheduler::SubmitCalls(LiveTrajectory* trajectory, const std::vector<Call>& calls) {
  const GroupRequest& request = *trajectory->group->request;
  const Environment& own = environment_.For(request.task);
  const Progress& progress = trajectory->progress;
  CallIdentity identity{options_.run, request.task.id, ScopedPath(request, progress.path),
                        progress.turns - 1, 0};
  // The environment's calls have names of their own, or the journal would take one of them for the
  // agent's call of the same number.
  if (trajectory->resuming) {
    identity.path += "/environment";
    identity.turn = progress.environment_turns;
  }
  trajectory->results.assign(calls.size(), {});
  trajectory->awaited = 0;
  {
    const Stopwatch watch(clock_, &result_.counts.seconds.waiting);
    for (size_t i = 0; i < calls.size(); ++i) {
      ToolResult& result = trajectory->results[i];
      result.call = static_cast<int32_t>(i);
      // To the agent a hidden tool does not exist: the same words as for a name it made up.
      if (!trajectory->resuming && IsHidden(own.traits(), calls[i].name)) {
        result.status = CallStatus::kUnknownTool;
        result.blame = Blame::kAgent;
        result.content = fmt::format("there is no tool \"{}\"", calls[i].name);
        continue;
      }
      identity.call = static_cast<int32_t>(i);
      ++trajectory->awaited;
      const uint64_t ticket =
          executor_->Submit({identity, calls[i].name, calls[i].arguments, trajectory->sessions});
      const Toolbox::Tool* tool = own.tools()->Find(calls[i].name);
      tickets_[ticket] = {trajectory, i, tool == nullptr || tool->may_repeat};
    }
  }
  if (trajectory->awaited == 0) return OnResults({&trajectory, 1});
  return {};
}

// The trajectory, if it was the last outcome that it waited for.
LiveTrajectory* Scheduler::OnOutcome(CallOutcome outcome) {
  const auto found = tickets_.find(outcome.ticket);
  if (found == tickets_.end()) return nullptr;  // of a run that was stopped
  const auto [trajectory, call, may_repeat] = found->second;
  tickets_.erase(found);
  if (!may_repeat && MayHaveActed(outcome.result)) trajectory->acted = true;
  outcome.result.call = static_cast<int32_t>(call);
  trajectory->results[call] = std::move(outcome.result);
  return --trajectory->awaited == 0 ? trajectory : nullptr;
}

// All that these wait for is there.
Result<void> Scheduler::OnResults(std::span<LiveTrajectory* const> trajectories) {
  std::vector<LiveTrajectory*> unstepped;
  for (LiveTrajectory* trajectory : trajectories) {
    if (trajectory->resuming) {
      ++trajectory->progress.environment_turns;
    } else {
      for (const ToolResult& result : trajectory->results) {
        result_.counts.tool_errors += result.status == CallStatus::kOk ? 0 : 1;
      }
      trajectory->agent.results = std::move(trajectory->results);
    }
    if (environment_.traits().steps_wait) {
      steps_.Run(trajectory, [trajectory] { TurnWork::StepEpisode(trajectory); });
    } else if (!trajectory->ahead.stepped) {
      unstepped.push_back(trajectory);
    }
  }
  if (environment_.traits().steps_wait) return {};
  if (!unstepped.empty()) work_.Step(unstepped);
  for (LiveTrajectory* trajectory : trajectories) HONE_RETURN_IF_ERROR(OnStepped(trajectory));
  return {};
}

Result<void> Scheduler::OnStepped(LiveTrajectory* trajectory) {
  if (environment_.traits().steps_wait) work_.Follow(trajectory);
  if (trajectory->ahead.failure) std::rethrow_exception(trajectory->ahead.failure);
  if (trajectory->environment.ending || trajectory->environment.calls.empty()) {
    return CompleteTurn(trajectory);
  }
  // The turn is not complete before the environment has what it asked for: a played user may need
  // tools to know what it says.
  trajectory->resuming = true;
  trajectory->ahead = {};
  const std::vector<Call> calls = std::move(trajectory->environment.calls);
  trajectory->environment.calls.clear();
  result_.counts.environment_calls += static_cast<int64_t>(calls.size());
  return SubmitCalls(trajectory, calls);
}

// The turn is complete.
Result<void> Scheduler::CompleteTurn(LiveTrajectory* trajectory) {
  const EnvironmentTurn& environment = trajectory->environment;
  const Progress& progress = trajectory->progress;
  if (environment.ending) return AddLeaf(trajectory, *environment.ending, environment.blame);
  if (progress.turns >= options_.max_turns) {
    return AddLeaf(trajectory, Ending::kTurnLimit, Blame::kNone);
  }
  std::optional<Result<Node>>& next = trajectory->ahead.next;
  CHECK(next.has_value(), "what follows a complete turn is there");
  if (!always_appends_) trajectory->progress.said = std::move(trajectory->ahead.said);
  // kUnsupported says that what was said before is written otherwise now; anything else is an
  // error.
  if (!always_appends_ && !next->ok() && next->error().code() == ErrorCode::kUnsupported) {
    return BeginSegment(trajectory);
  }
  if (!next->ok()) return RetryOrDrop(trajectory, Blame::kEnvironment, next->error().message());
  // The policy must have room for one token at least.
  const auto tokens = static_cast<int64_t>((*next)->tokens.size());
  if (progress.tokens + tokens >= policy_.engine().config().max_positions) {
    return AddLeaf(trajectory, Ending::kTokenLimit, Blame::kNone);
  }
  return AppendAndContinue(trajectory, *std::move(*next));
}

}  // namespace hone
