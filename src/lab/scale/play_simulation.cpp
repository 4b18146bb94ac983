#include "lab/scale/play_simulation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace hone::lab {
namespace {

int64_t AtLeastOne(double value) { return std::max<int64_t>(1, std::llround(value)); }

// The earliest is at the top; of two that are equal, who began first.
struct Due {
  double when = 0;
  size_t trajectory = 0;
  bool operator>(const Due& other) const {
    return when != other.when ? when > other.when : trajectory > other.trajectory;
  }
};
using Queue = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

class Player {
 public:
  Player(const DeviceCosts& costs, const ScaleWorkloadOptions& workload,
         std::span<const PlayedGroup* const> groups)
      : costs_(costs), workload_(workload), open_(groups.size(), 0) {
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const auto& turns : groups[g]->trajectories) trajectories_.push_back({&turns, g});
    }
    for (const Trajectory& one : trajectories_) ++open_[one.group];
    begun_.assign(groups.size(), false);
  }

  PlayTimes Run() {
    while (ended_ < trajectories_.size()) {
      BeginSome();
      TakeAnswers();
      if (drawing_.empty()) {
        now_ = waiting_.top().when;
      } else {
        DrawSome();
      }
    }
    if (!trajectories_.empty()) Work(costs_.RolloutSeconds());
    times_.span = now_;
    return times_;
  }

 private:
  struct Trajectory {
    const std::vector<PlayedTurn>* turns = nullptr;
    size_t group = 0;
    size_t turn = 0;
    double tokens = 0;  // beside the prompt of its group
  };

  void Work(double seconds) {
    now_ += seconds;
    times_.busy += seconds;
  }

  void Hold(double tokens) {
    held_ += tokens;
    times_.most_tokens = std::max(times_.most_tokens, held_);
  }

  void BeginTurn(size_t number) {
    const Trajectory& one = trajectories_[number];
    const int64_t tokens = (*one.turns)[one.turn].tokens;
    times_.drawn_tokens += tokens;
    drawing_.push({static_cast<double>(steps_ + tokens), number});
  }

  void BeginSome() {
    while (next_ < trajectories_.size() && next_ - ended_ < static_cast<size_t>(workload_.live)) {
      const size_t group = trajectories_[next_].group;
      if (!begun_[group]) {
        begun_[group] = true;
        Work(costs_.PromptSeconds(workload_.prompt_tokens));
        Hold(workload_.prompt_tokens);
      }
      BeginTurn(next_++);
    }
  }

  void TakeAnswers() {
    while (!waiting_.empty() && waiting_.top().when <= now_) {
      const size_t number = waiting_.top().trajectory;
      waiting_.pop();
      Work(costs_.PromptSeconds(workload_.answer_tokens));
      Hold(workload_.answer_tokens);
      trajectories_[number].tokens += workload_.answer_tokens;
      BeginTurn(number);
    }
  }

  // Of so many steps from here: each has a token more of every sequence to look at.
  double SecondsOf(int64_t steps) const {
    const auto n = static_cast<double>(steps), live = static_cast<double>(drawing_.size());
    return n * costs_.StepSeconds(live, held_) + costs_.KvSeconds() * live * n * (n - 1) / 2;
  }

  // Steps until a turn ends, or an answer is there.
  void DrawSome() {
    int64_t steps = static_cast<int64_t>(drawing_.top().when) - steps_;
    if (!waiting_.empty() && now_ + SecondsOf(steps) > waiting_.top().when) {
      const double left = waiting_.top().when - now_;
      int64_t few = 0, enough = steps;
      while (enough - few > 1) {
        const int64_t middle = few + (enough - few) / 2;
        (SecondsOf(middle) < left ? few : enough) = middle;
      }
      steps = enough;
    }
    Work(SecondsOf(steps));
    steps_ += steps;
    Hold(static_cast<double>(steps) * static_cast<double>(drawing_.size()));
    while (!drawing_.empty() && drawing_.top().when <= static_cast<double>(steps_)) {
      const size_t number = drawing_.top().trajectory;
      drawing_.pop();
      EndTurn(number);
    }
  }

  void EndTurn(size_t number) {
    Work(costs_.TurnSeconds());
    Trajectory& one = trajectories_[number];
    const PlayedTurn& turn = (*one.turns)[one.turn];
    one.tokens += static_cast<double>(turn.tokens);
    if (++one.turn < one.turns->size()) {
      waiting_.push({now_ + turn.tool_seconds, number});
      return;
    }
    ++ended_;
    held_ -= one.tokens;
    if (--open_[one.group] == 0) held_ -= workload_.prompt_tokens;
  }

  const DeviceCosts& costs_;
  const ScaleWorkloadOptions& workload_;
  std::vector<Trajectory> trajectories_;
  std::vector<int64_t> open_;  // trajectories of each group that have not ended
  std::vector<bool> begun_;    // by group: its prompt was read
  Queue drawing_;              // by the step after which the turn ends
  Queue waiting_;              // by the time at which the answer comes
  size_t next_ = 0, ended_ = 0;
  int64_t steps_ = 0;
  double now_ = 0, held_ = 0;
  PlayTimes times_;
};

}  // namespace

int64_t PlayedGroup::drawn_tokens() const {
  int64_t tokens = 0;
  for (const auto& turns : trajectories) {
    for (const PlayedTurn& turn : turns) tokens += turn.tokens;
  }
  return tokens;
}

int64_t PlayedGroup::turns() const {
  int64_t count = 0;
  for (const auto& turns : trajectories) count += std::ssize(turns);
  return count;
}

double PlayedGroup::tree_tokens(const ScaleWorkloadOptions& workload) const {
  const auto answers = static_cast<double>(turns() - std::ssize(trajectories));
  return workload.prompt_tokens + static_cast<double>(drawn_tokens()) +
         answers * workload.answer_tokens;
}

std::vector<PlayedGroup> DrawLengths(const ScaleWorkloadOptions& workload, const Rng& rng) {
  std::vector<PlayedGroup> groups(static_cast<size_t>(workload.groups));
  for (size_t g = 0; g < groups.size(); ++g) {
    const Rng of_group = rng.Split("group").Split(g);
    Rng task = of_group.Split("task");
    const double longer = workload.task.Draw(&task);
    groups[g].trajectories.resize(static_cast<size_t>(workload.group));
    for (size_t t = 0; t < groups[g].trajectories.size(); ++t) {
      Rng own = of_group.Split("trajectory").Split(t);
      auto& turns = groups[g].trajectories[t];
      turns.resize(static_cast<size_t>(AtLeastOne(workload.turns.Draw(&own))));
      for (PlayedTurn& turn : turns) {
        turn.tokens = AtLeastOne(longer * workload.turn_tokens.Draw(&own));
        turn.tool_seconds = workload.tool_seconds.Draw(&own);
      }
    }
  }
  return groups;
}

PlayTimes SimulatePlay(const DeviceCosts& costs, const ScaleWorkloadOptions& workload,
                       std::span<const PlayedGroup* const> groups) {
  return Player(costs, workload, groups).Run();
}

}  // namespace hone::lab
