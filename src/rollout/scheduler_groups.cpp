// The part of the scheduler that begins groups, asks strategies, waits, and puts finished trees
// together.

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "rollout/scheduler.h"
#include "rollout/stopwatch.h"

namespace hone {

// Those that were begun first go on first; a new group begins when there is room that nobody needs.
Result<void> Scheduler::AdmitFromQueue() {
  while (live_ < options_.max_live) {
    if (queue_.empty()) {
      if (next_group_ == requests_.size()) break;
      if (opened_.empty()) OpenAhead();
      HONE_RETURN_IF_ERROR(BeginGroup(next_group_++));
      continue;
    }
    LiveTrajectory* trajectory = queue_.begin()->second;
    queue_.erase(queue_.begin());
    ++live_;
    HONE_RETURN_IF_ERROR(StartOrResume(trajectory));
  }
  return {};
}

// Those that there is room for now, if all goes well, at the same time.
void Scheduler::OpenAhead() {
  size_t count = 0;
  int64_t room = options_.max_live - live_;
  do {
    const GroupRequest& request = requests_[next_group_ + count];
    room -= request.leaves + request.greedy;
    ++count;
  } while (work_.apart() && room > 0 && next_group_ + count < requests_.size());
  for (Result<TurnWork::Opened>& one : work_.Open(requests_.subspan(next_group_, count))) {
    opened_.push_back(std::move(one));
  }
}

Result<void> Scheduler::BeginGroup(size_t index) {
  auto owned = std::make_unique<LiveGroup>();
  LiveGroup* group = owned.get();
  group->index = index;
  group->request = &requests_[index];
  group->episode_seed = EpisodeSeed(group->request->seed);
  groups_[index] = std::move(owned);
  ++result_.counts.groups;
  // A task that cannot be opened is its group's problem, not the run's: the others go on.
  if (const Result<void> opened = OpenPrompt(group); !opened.ok()) {
    group->report.problem = opened.error().message();
    FinishGroup(group);
    return {};
  }
  return AskStrategy(group);
}

Result<void> Scheduler::OpenPrompt(LiveGroup* group) {
  Result<TurnWork::Opened> opened = std::move(opened_.front());
  opened_.pop_front();
  if (!opened.ok()) return opened.error();
  group->spare = std::move(opened->episode);
  group->session_seed = group->spare->opening().session_seed;
  std::vector<TokenId> tokens;
  auto prompt = std::make_shared<BranchPoint>();
  prompt->progress.said = std::move(opened->said);
  for (Node& node : opened->prompt) {
    tokens.insert(tokens.end(), node.tokens.begin(), node.tokens.end());
    prompt->progress.node = group->tree.Add(prompt->progress.node, std::move(node));
  }
  HONE_RETURN_IF_ERROR(policy_.engine().CheckTokens(tokens));
  if (static_cast<int64_t>(tokens.size()) >= policy_.engine().config().max_positions) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the prompt has {} tokens, which leaves no room in a model of {} "
                             "positions",
                             tokens.size(), policy_.engine().config().max_positions));
  }
  prompt->progress.tokens = static_cast<int64_t>(tokens.size());
  prompt->sequence = drawer_->Start(std::move(tokens));
  group->sequences.push_back(prompt->sequence);
  group->prompt = std::move(prompt);
  return {};
}

// The group's places, in an order that does not tell who came first. Who waited waits no more: it
// goes on, or is given up.
std::vector<Scheduler::Candidate> Scheduler::TakeCandidates(LiveGroup* group) {
  std::vector<Candidate> candidates;
  for (const auto& branch_point : group->branch_points)
    candidates.push_back({&branch_point->progress, branch_point, nullptr});
  for (LiveTrajectory* waiting : group->waiting) {
    candidates.push_back({&waiting->progress, nullptr, waiting});
  }
  // Branch points and waiting ones come in the order of time, which depends on latencies; turns and
  // paths do not.
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.progress->turns, a.progress->path) <
           std::tie(b.progress->turns, b.progress->path);
  });
  candidates.insert(candidates.begin(), {&group->prompt->progress, group->prompt, nullptr});
  group->waiting.clear();
  return candidates;
}

// Nothing of the group is under way: the strategy says what is next.
Result<void> Scheduler::AskStrategy(LiveGroup* group) {
  std::vector<Candidate> candidates = TakeCandidates(group);
  GroupView view;
  // Counted by decisions of this group: other groups' decisions come in between as they like.
  view.rng = Rng(group->request->seed).Split("strategy").Split(group->decisions++);
  view.leaves = group->request->leaves + group->request->greedy;
  view.ended = group->ended;
  view.started = group->started;
  view.vocabulary = policy_.engine().config().vocab;
  const auto turn = [&](NodeId node) { return node == kNoNode ? nullptr : &group->tree.At(node); };
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Progress& at = *candidates[i].progress;
    view.places.push_back({.id = static_cast<int32_t>(i),
                           .path = at.path.Text(),
                           .turns = at.turns,
                           .open = candidates[i].waiting != nullptr,
                           .after_results = at.after_results,
                           .last_turn = turn(at.last_turn),
                           .first_turn = turn(at.first_turn)});
  }
  for (const Extension& extension : strategy_.Next(view)) {
    CHECK(extension.place >= 0 && extension.place < static_cast<int32_t>(candidates.size()) &&
              extension.trajectories > 0,
          "a strategy named a place that is not there");
    HONE_RETURN_IF_ERROR(
        Extend(group, extension.trajectories, &candidates[static_cast<size_t>(extension.place)]));
  }
  // What still waits was not named: given up, as if it had never been begun.
  for (const Candidate& candidate : candidates) {
    if (candidate.waiting == nullptr) continue;
    --group->started;
    --wanted_;
    ++result_.counts.given_up;
    ReleaseTrajectory(candidate.waiting);
  }
  if (group->under_way == 0) FinishGroup(group);
  return {};
}

// So many trajectories go on from a place: the one that waits there, if one does, then new ones.
Result<void> Scheduler::Extend(LiveGroup* group, int64_t trajectories, Candidate* at) {
  LiveTrajectory* going_on = std::exchange(at->waiting, nullptr);
  const int64_t fresh = trajectories - (going_on != nullptr ? 1 : 0);
  // Copied only where it branches: a copy of an episode can be dear, and most go on alone.
  if (fresh > 0 && at->branch_point == nullptr) {
    HONE_ASSIGN_OR_RETURN(at->branch_point, BranchPointOf(*going_on));
  }
  for (int64_t i = 0; i < fresh; ++i) {
    // The one that goes on keeps its name; branches of "0" are "0/1", "0/2" and so on.
    const TrajectoryPath& path = at->branch_point->progress.path;
    const int32_t number = path.parts.empty() ? group->roots++ : ++group->forks[path.Text()];
    ++group->started;
    ++wanted_;
    Enqueue(group, at->branch_point, path.Child(number), 0);
  }
  if (going_on != nullptr) {
    ++group->under_way;
    queue_[{group->index, going_on->number}] = going_on;
  }
  return {};
}

void Scheduler::FinishGroup(LiveGroup* group) {
  // Kept until now: any place of the tree could have been gone on from.
  for (const TurnDrawer::Id sequence : group->sequences) drawer_->Release(sequence);
  RolloutCounts& counts = result_.counts;
  Tree& tree = result_.trees[group->index];
  tree.task = group->request->task;
  tree.seed = group->request->seed;
  GroupTree::Finished finished = std::move(group->tree).Finish();
  tree.nodes = std::move(finished.nodes);
  tree.leaves = std::move(finished.leaves);
  group->report.paths = std::move(finished.paths);
  if (tree.leaves.empty() && group->report.problem.empty()) {
    group->report.problem =
        "every trajectory broke by somebody else's fault; the last: " + group->last_problem;
  }
  for (const Leaf& leaf : tree.leaves) {
    ++counts.leaves;
    ++counts.endings[std::string(EndingName(leaf.ending))];
    for (const NodeId node : WholePathTo(tree, leaf.node)) {
      counts.path_tokens +=
          static_cast<int64_t>(tree.nodes[static_cast<size_t>(node)].tokens.size());
    }
  }
  counts.tree_tokens += CountTokens(tree);
  result_.groups[group->index] = std::move(group->report);
  groups_.erase(group->index);
}

// Outcomes before the next step: whoever has its results draws in that step. Calls that take no
// virtual time are answered now; left to the wait at the end, they would come one by one, and each
// trajectory would draw its next turn alone.
Result<void> Scheduler::TakeOutcomes() {
  while (true) {
    executor_->CatchUp();
    bool any = false;
    std::vector<LiveTrajectory*> settled;
    while (std::optional<CallOutcome> outcome = executor_->Poll()) {
      any = true;
      LiveTrajectory* trajectory = OnOutcome(*std::move(outcome));
      if (trajectory != nullptr) settled.push_back(trajectory);
    }
    if (!any) return {};
    HONE_RETURN_IF_ERROR(OnResults(settled));
  }
}

// Nobody draws, and somebody's environment is at work: calls that end meanwhile go on soon.
Result<void> Scheduler::WaitForStep() {
  constexpr std::chrono::milliseconds kLook{1}, kLong{20};
  LiveTrajectory* stepped = nullptr;
  {
    const Stopwatch watch(clock_, &result_.counts.seconds.environment);
    stepped = steps_.Wait(tickets_.empty() ? kLong : kLook);
  }
  return stepped == nullptr ? Result<void>() : OnStepped(stepped);
}

}  // namespace hone
