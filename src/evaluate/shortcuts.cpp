#include "evaluate/shortcuts.h"

#include <algorithm>
#include <map>

#include "envs/plan.h"
#include "envs/play.h"
#include "envs/task_source.h"

namespace hone {
namespace {

constexpr size_t kCandidates = 12;

class SayingAgent final : public Agent {
 public:
  explicit SayingAgent(std::string text) : text_(std::move(text)) {}
  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>&) override {
    AgentTurn turn;
    turn.answer = text_;
    return turn;
  }

 private:
  const std::string text_;
};

std::vector<std::string> OutputsOf(const Task& task) {
  std::vector<std::string> outputs;
  const Json* told = task.reward.Find("outputs");
  if (told == nullptr || !told->is_array()) return outputs;
  for (const Json& output : told->AsArray()) outputs.push_back(PlainText(output));
  return outputs;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// The most frequent texts; ties by the text.
std::vector<std::string> Commonest(const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<int64_t, std::string>> ranked;
  for (const auto& [text, count] : counts) ranked.emplace_back(-count, text);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(kCandidates, ranked.size()); ++i) {
    texts.push_back(ranked[i].second);
  }
  return texts;
}

std::vector<std::string> CandidatesFor(const std::vector<const Task*>& tasks) {
  std::map<std::string, int64_t> answers, facts;
  for (const Task* task : tasks) {
    if (!task->answer.is_null()) ++answers[PlainText(task->answer)];
    const std::vector<std::string> outputs = OutputsOf(*task);
    if (!outputs.empty()) ++answers[Joined(outputs)];
    for (const std::string& output : outputs) ++facts[output];
  }
  std::vector<std::string> candidates = Commonest(answers);
  if (!facts.empty()) candidates.push_back(Joined(Commonest(facts)));
  candidates.emplace_back("none");
  return candidates;
}

class Shortcutter {
 public:
  Shortcutter(const Environment& environment, uint64_t seed)
      : environment_(environment), seed_(seed), executor_({}, timeline_.get()) {}

  Result<int64_t> Successes(const std::vector<const Task*>& tasks, const std::string& text) {
    int64_t right = 0;
    for (const Task* task : tasks) {
      SayingAgent agent(text);
      HONE_ASSIGN_OR_RETURN(const Playthrough played,
                            Play(environment_, *task, seed_, &agent, &executor_));
      right += played.success();
    }
    return right;
  }

  Result<std::string> Best(const std::vector<const Task*>& tasks) {
    std::string best;
    int64_t most = -1;
    for (const std::string& candidate : CandidatesFor(tasks)) {
      HONE_ASSIGN_OR_RETURN(const int64_t right, Successes(tasks, candidate));
      if (right <= most) continue;
      most = right;
      best = candidate;
    }
    return best;
  }

 private:
  const Environment& environment_;
  const uint64_t seed_;
  const std::unique_ptr<Timeline> timeline_ = NewVirtualTimeline();
  Executor executor_;  // that nobody asks
};

// Tasks to choose by and tasks to measure on.
struct Halves {
  std::vector<const Task*> choose, measure;

  void Add(const Task* task) {
    (choose.size() <= measure.size() ? choose : measure).push_back(task);
  }
};

}  // namespace

Result<Shortcuts> MeasureShortcuts(const Environment& environment, const std::vector<Task>& tasks,
                                   uint64_t seed) {
  Halves all;
  std::map<std::string, Halves> kinds;
  for (const Task& task : tasks) {
    all.Add(&task);
    kinds[SplitMarksOf(task).kind].Add(&task);
  }
  Shortcutter shortcutter(environment, seed);
  Shortcuts found;
  HONE_ASSIGN_OR_RETURN(found.answer, shortcutter.Best(all.choose));
  HONE_ASSIGN_OR_RETURN(const int64_t right, shortcutter.Successes(all.measure, found.answer));
  found.tasks = static_cast<int64_t>(all.measure.size());
  found.constant =
      static_cast<double>(right) / static_cast<double>(std::max<int64_t>(found.tasks, 1));
  int64_t kind_right = 0, kind_tasks = 0;
  for (const auto& [kind, halves] : kinds) {
    HONE_ASSIGN_OR_RETURN(const std::string best, shortcutter.Best(halves.choose));
    HONE_ASSIGN_OR_RETURN(const int64_t own, shortcutter.Successes(halves.measure, best));
    kind_right += own;
    kind_tasks += static_cast<int64_t>(halves.measure.size());
  }
  found.without_call =
      static_cast<double>(kind_right) / static_cast<double>(std::max<int64_t>(kind_tasks, 1));
  return found;
}

}  // namespace hone
