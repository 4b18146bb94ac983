// The part of the scheduler in which the policy reads a conversation anew: because the template
// writes it otherwise now, or because newer weights go on with it.

#include "rollout/scheduler.h"
#include "rollout/segment.h"
#include "rollout/stopwatch.h"

namespace hone {

// The template writes what was said before otherwise now. What was drawn stays as it is; the policy
// reads the conversation anew, in a segment of its own.
Result<void> Scheduler::BeginSegment(LiveTrajectory* trajectory) {
  LiveGroup* group = trajectory->group;
  Progress& progress = trajectory->progress;
  std::optional<Result<std::vector<Node>>> nodes;
  {
    const Stopwatch watch(clock_, &result_.counts.seconds.text);
    nodes = SegmentOf(policy_.codec(), *progress.said);
  }
  if (!nodes->ok()) return RetryOrDrop(trajectory, Blame::kEnvironment, nodes->error().message());
  std::vector<TokenId> tokens;
  for (const Node& node : **nodes) {
    tokens.insert(tokens.end(), node.tokens.begin(), node.tokens.end());
  }
  // A segment that fills the context leaves no room for a token of the policy: nothing to learn.
  if (static_cast<int64_t>(tokens.size()) >= policy_.engine().config().max_positions) {
    return AddLeaf(trajectory, Ending::kTokenLimit, Blame::kNone);
  }
  progress.after_results = !trajectory->agent.results.empty();
  // The results of the last calls belong to the old segment, too: rewards and credit find them
  // behind the turn that asked, whatever the new segment shows of them.
  if (std::optional<Node> results = TurnCodec::AfterEnding(trajectory->agent)) {
    progress.node = group->tree.Add(progress.node, *std::move(results));
  }
  (*nodes)->front().folded_from = progress.node;
  (*nodes)->front().rewritten = true;
  progress.node = kNoNode;
  for (Node& node : **nodes) progress.node = group->tree.Add(progress.node, std::move(node));
  progress.tokens = static_cast<int64_t>(tokens.size());
  ++progress.segment;
  // Others may still go on from the segment before.
  if (strategy_.traits().branches()) {
    group->sequences.push_back(trajectory->sequence);
  } else {
    drawer_->Release(trajectory->sequence);
  }
  trajectory->sequence = drawer_->Start(std::move(tokens));
  return WaitOrContinue(trajectory);
}

// What it did counts; another takes its place, or none.
void Scheduler::CountDrawer() {
  const TurnDrawer::Counters counters = drawer_->counters();
  result_.counts.passes += counters.passes;
  result_.counts.preemptions += counters.preemptions;
}

bool Scheduler::IsCarried(const LiveTrajectory& trajectory) const {
  const CarryOptions& carry = options_.carry;
  return carry.turns > 0 && newer_ < carry.versions &&
         trajectory.progress.turns >= carry.turns * (newer_ + 1);
}

// Until all have taken the turns of this version. Its keys and values would be of no use then.
void Scheduler::Park(LiveTrajectory* trajectory) {
  trajectory->parked = drawer_->Tokens(trajectory->sequence);
  parked_.push_back(trajectory);
  drawer_->Release(trajectory->sequence);
  trajectory->sequence = -1;
  --live_;  // its place goes to others: they have turns to take before it goes on
}

// All that is left to play is parked. What was said is read anew by the next version, prompts once
// for all that share them.
Result<void> Scheduler::GoOnWithNextVersion(std::stop_token stop) {
  std::vector<std::pair<LiveGroup*, std::vector<TokenId>>> prompts;
  for (const auto& [index, group] : groups_) {
    prompts.emplace_back(group.get(), drawer_->Tokens(group->prompt->sequence));
  }
  CountDrawer();
  drawer_.reset();  // weights change only while no sequence is alive
  HONE_ASSIGN_OR_RETURN(version_, options_.carry.next(stop));
  ++newer_;
  drawer_ = NewDrawer(options_, policy_);
  for (auto& [group, tokens] : prompts) {
    group->prompt->sequence = drawer_->Start(std::move(tokens));
    group->sequences = {group->prompt->sequence};
  }
  for (LiveTrajectory* trajectory : std::exchange(parked_, {})) {
    const std::vector<TokenId> tokens = std::move(trajectory->parked);
    const BranchPoint& prompt = *trajectory->group->prompt;
    if (trajectory->progress.segment == 0) {
      trajectory->sequence = drawer_->Fork(prompt.sequence, -1);
      drawer_->Append(trajectory->sequence,
                      std::span(tokens).subspan(static_cast<size_t>(prompt.progress.tokens)));
    } else {
      trajectory->sequence = drawer_->Start(tokens);
    }
    queue_[{trajectory->group->index, trajectory->number}] = trajectory;
  }
  return {};
}

}  // namespace hone
