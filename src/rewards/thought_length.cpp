#include "rewards/thought_length.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "record/reward_terms.h"
#include "rewards/outcome.h"

namespace hone {
namespace {

struct Member {
  const TrajectoryView* trajectory;
  Outcome outcome;
};

// The term of one member, whose right siblings have from `shortest` to `longest` tokens.
void AddShort(const Member& member, const ThoughtPay& pay, int64_t shortest, int64_t longest,
              std::vector<RewardTerm>* terms) {
  if (!member.outcome.match && !member.outcome.fault) return;  // nobody knows what is right
  RewardTerm term = member.trajectory->Overall(kShortThoughtTerm, std::nullopt);
  term.fault = member.outcome.fault;
  if (!term.fault) {
    const int64_t tokens = member.trajectory->thought_tokens;
    term.value =
        member.outcome.right() ? pay.shorter * ShortThought(tokens, shortest, longest) : 0.0;
  }
  terms->push_back(std::move(term));
}

}  // namespace

double OverlongThought(int64_t tokens, const ThoughtPay& pay) {
  CHECK(pay.buffer > 0, "the buffer of an overlong penalty must have a length");
  const double over = static_cast<double>(tokens - (pay.most - pay.buffer));
  return -std::clamp(over / static_cast<double>(pay.buffer), 0.0, 1.0);
}

double ShortThought(int64_t tokens, int64_t shortest, int64_t longest) {
  if (longest <= shortest) return 0;
  return static_cast<double>(longest - tokens) / static_cast<double>(longest - shortest);
}

std::unique_ptr<Rewarder> NewThoughtLength(ThoughtPay pay) {
  return NewGroupRewarder([pay](const std::vector<TrajectoryView>& group, const Labels& labels,
                                const Task&) {
    std::vector<Member> members;
    int64_t shortest = std::numeric_limits<int64_t>::max(), longest = 0;
    for (const TrajectoryView& trajectory : group) {
      Outcome outcome = pay.shorter > 0 ? OutcomeOf(trajectory, labels) : Outcome();
      if (outcome.right()) {
        shortest = std::min(shortest, trajectory.thought_tokens);
        longest = std::max(longest, trajectory.thought_tokens);
      }
      members.push_back({&trajectory, std::move(outcome)});
    }
    std::vector<std::vector<RewardTerm>> all;
    for (const Member& member : members) {
      std::vector<RewardTerm>& terms = all.emplace_back();
      if (pay.most > 0) {
        const double penalty = OverlongThought(member.trajectory->thought_tokens, pay);
        terms.push_back(member.trajectory->Overall(kOverlongThoughtTerm, pay.overlong * penalty));
      }
      if (pay.shorter > 0) AddShort(member, pay, shortest, longest, &terms);
    }
    return all;
  });
}

}  // namespace hone
