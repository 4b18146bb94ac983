#include "evaluate/known_steps.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "envs/play.h"
#include "record/final_state.h"
#include "rewards/matching/plain_text.h"
#include "rollout/chains.h"
#include "rollout/rollout.h"

namespace hone {
namespace {

constexpr size_t kLongestValue = 200;  // bytes of a result that a thought repeats

// The environment with episodes that have begun already: what was played is part of the opening.
class BegunEnvironment final : public Environment {
 public:
  using Turns = std::map<std::string, std::vector<PlayedTurn>>;  // by the task's id

  BegunEnvironment(const Environment* inner, const Turns* turns) : inner_(inner), turns_(turns) {}

  const EnvironmentTraits& traits() const override { return inner_->traits(); }
  const std::shared_ptr<const Toolbox>& tools() const override { return inner_->tools(); }
  const Environment& For(const Task& task) const override { return inner_->For(task); }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> episode, inner_->Open(task, seed));
    Playthrough played{.opening = episode->opening(), .turns = {}, .final_state = {}};
    if (const auto begun = turns_->find(task.id); begun != turns_->end()) {
      played.turns = begun->second;
    }
    for (const PlayedTurn& turn : played.turns) {
      if (episode->Step(turn.agent).ending) {
        return Error(ErrorCode::kInvalidArgument, "the demonstration ends before its last step");
      }
    }
    Opening opening = played.opening;
    opening.messages = MessagesOf(played);
    return std::unique_ptr<Episode>(
        std::make_unique<BegunEpisode>(std::move(episode), std::move(opening)));
  }

 private:
  class BegunEpisode final : public Episode {
   public:
    BegunEpisode(std::unique_ptr<Episode> inner, Opening opening)
        : inner_(std::move(inner)), opening_(std::move(opening)) {}

    const Opening& opening() const override { return opening_; }
    EnvironmentTurn Step(const AgentTurn& turn) override { return inner_->Step(turn); }
    EnvironmentTurn Resume(const std::vector<ToolResult>& results) override {
      return inner_->Resume(results);
    }
    Json final_state() const override { return inner_->final_state(); }
    Result<std::unique_ptr<Episode>> Clone() const override {
      HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> inner, inner_->Clone());
      return std::unique_ptr<Episode>(std::make_unique<BegunEpisode>(std::move(inner), opening_));
    }

   private:
    std::unique_ptr<Episode> inner_;
    Opening opening_;
  };

  const Environment* const inner_;
  const Turns* const turns_;
};

// A task with the gold agent's way, while its steps are asked about.
struct Lesson {
  Task task;
  uint64_t seed = 0;  // of its group
  Playthrough gold;
  size_t turn = 0;                // of the gold agent, that is asked about next
  std::vector<PlayedTurn> taken;  // turns that stay, with thoughts
  std::string known;              // what the next thought says is known
  KnownTask found;

  bool asks() const { return turn < gold.turns.size() && !gold.turns[turn].agent.calls.empty(); }
  const Call& call() const { return gold.turns[turn].agent.calls[0]; }
};

std::string ValueIn(const PlayedTurn& turn) {
  if (turn.agent.results.empty()) return "";
  const std::string text = Utf8Lossy(turn.agent.results[0].content);
  if (text.size() <= kLongestValue) return text;
  const size_t blank = text.rfind(' ', kLongestValue);
  size_t end = blank == text.npos ? kLongestValue : blank;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + " ...";
}

std::string Filled(const std::string& form, const Call& call, const std::string& value) {
  std::string text = Replaced(form, "{tool}", call.name);
  text = Replaced(text, "{call}", DumpJson(call.arguments));
  return Replaced(text, "{value}", value);
}

void AddSentence(const std::string& sentence, std::string* thought) {
  if (!thought->empty() && !sentence.empty()) *thought += " ";
  *thought += sentence;
}

class KnownStepsSearch {
 public:
  KnownStepsSearch(const KnownStepsOptions& options, const LoadedEnvironment& environment,
                   const Policy& policy, Executor* executor)
      : options_(options), environment_(environment), policy_(policy), executor_(executor) {}

  Result<KnownSteps> Run() {
    if (environment_.environment->traits().kind == EnvironmentKind::kMultiTurn) {
      return Error(ErrorCode::kUnsupported,
                   "steps are asked about one by one, which a user who answers does not go along "
                   "with; choose an environment of single questions");
    }
    HONE_RETURN_IF_ERROR(ShowAll());
    while (true) {
      if (options_.stop && options_.stop()) {
        return Error(ErrorCode::kStopped, "stopped; nothing is written");
      }
      // One round asks about one step of each task: trajectories without the same tool together.
      std::map<std::string, std::vector<size_t>> by_tool;
      for (size_t i = 0; i < lessons_.size(); ++i) {
        if (lessons_[i].asks()) by_tool[lessons_[i].call().name].push_back(i);
      }
      if (by_tool.empty()) break;
      for (const auto& [tool, asked] : by_tool) HONE_RETURN_IF_ERROR(Ask(tool, asked));
    }
    for (Lesson& lesson : lessons_) Conclude(&lesson);
    return std::move(found_);
  }

 private:
  // Lets the gold agent do every task.
  Result<void> ShowAll() {
    const TaskSource& source = *environment_.tasks;
    const auto wanted = static_cast<uint64_t>(options_.tasks);
    const uint64_t count = std::min(wanted, source.count(options_.split).value_or(wanted));
    if (count == 0) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("there are no tasks in {}", SplitName(options_.split)));
    }
    const Rng rng = Rng(options_.seed).Split("known steps").Split(SplitName(options_.split));
    for (uint64_t i = 0; i < count; ++i) {
      Lesson lesson;
      lesson.task = source.Make(options_.split, i);
      lesson.seed = rng.Split(i).NextU64();
      HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Agent> agent,
                            environment_.gold_agent(lesson.task));
      HONE_ASSIGN_OR_RETURN(
          lesson.gold,
          Play(*environment_.environment, lesson.task, EpisodeSeed(lesson.seed), agent.get(),
               executor_, {.run = "known-steps-gold", .path = fmt::format("{}", i)}));
      if (!lesson.gold.success()) {
        ++found_.skipped;
        continue;
      }
      lesson.found.id = lesson.task.id;
      const Json* kind = lesson.task.metadata.Find("kind");
      if (kind != nullptr && kind->is_string()) lesson.found.kind = kind->AsString();
      for (const PlayedTurn& turn : lesson.gold.turns) steps_ += turn.agent.calls.empty() ? 0 : 1;
      for (const PlayedTurn& turn : lesson.gold.turns) {
        for (const Call& call : turn.agent.calls) {
          calls_.insert_or_assign(call.name, MessageCall{call.name, call.arguments});
        }
      }
      lessons_.push_back(std::move(lesson));
    }
    return {};
  }

  Result<void> Ask(const std::string& tool, const std::vector<size_t>& asked) {
    BegunEnvironment::Turns begun;
    std::vector<GroupRequest> requests;
    for (const size_t i : asked) {
      const Lesson& lesson = lessons_[i];
      begun[lesson.task.id] = lesson.taken;
      requests.push_back({.task = lesson.task,
                          .seed = Rng(lesson.seed).Split(lesson.turn).NextU64(),
                          .leaves = options_.samples,
                          .scope = fmt::format("{}-{}", i, lesson.turn)});
    }
    ToolsAway away{.away = {calls_.at(tool)}, .others = {}};
    for (const auto& [name, call] : calls_) {
      if (name != tool) away.others.push_back(call);
    }
    const BegunEnvironment environment(environment_.environment.get(), &begun);
    const std::unique_ptr<Strategy> chains = NewChains();
    HONE_ASSIGN_OR_RETURN(
        const Rollout rollout,
        Rollout::New({.run = "known-steps", .max_live = options_.max_live}, &environment,
                     policy_.WithoutCalls(away), chains.get(), executor_));
    HONE_ASSIGN_OR_RETURN(const RolloutResult result, rollout.Run(requests));
    for (size_t r = 0; r < asked.size(); ++r) {
      if (result.trees[r].leaves.empty()) {
        return Error(ErrorCode::kUnavailable,
                     fmt::format("task \"{}\" could not be played: {}", requests[r].task.id,
                                 result.groups[r].problem));
      }
      Decide(result.trees[r], &lessons_[asked[r]]);
    }
    return {};
  }

  // What the trajectories without the step's tool say of it, and on to the next step.
  void Decide(const Tree& tree, Lesson* lesson) {
    KnownStep step{.tool = lesson->call().name};
    for (const Leaf& leaf : tree.leaves) {
      if (BrokenByOthers(leaf)) continue;
      ++step.samples;
      step.right += FinalState(leaf.final_state).is_right() == true ? 1 : 0;
    }
    step.known = step.samples > 0 && static_cast<double>(step.right) >=
                                         options_.threshold * static_cast<double>(step.samples);
    PlayedTurn turn = lesson->gold.turns[lesson->turn];
    if (step.known) {
      AddSentence(Filled(options_.known, lesson->call(), ValueIn(turn)), &lesson->known);
    } else {
      AddSentence(lesson->known, &turn.agent.thought);
      AddSentence(Filled(options_.needed, lesson->call(), ""), &turn.agent.thought);
      lesson->known.clear();
      if (!options_.thoughts) turn.agent.thought.clear();
      lesson->taken.push_back(std::move(turn));
    }
    lesson->found.steps.push_back(std::move(step));
    ++lesson->turn;
    if (options_.progress) options_.progress(++done_, steps_);
  }

  void Conclude(Lesson* lesson) {
    for (; lesson->turn < lesson->gold.turns.size(); ++lesson->turn) {
      PlayedTurn turn = lesson->gold.turns[lesson->turn];
      AddSentence(lesson->known, &turn.agent.thought);
      lesson->known.clear();
      if (!options_.thoughts) turn.agent.thought.clear();
      lesson->taken.push_back(std::move(turn));
    }
    Playthrough shown = lesson->gold;
    shown.turns = std::move(lesson->taken);
    Json demonstration = Json::Of({{"messages", MessagesOf(shown)}});
    if (!shown.opening.tools.AsArray().empty()) demonstration.Set("tools", shown.opening.tools);
    lesson->found.demonstration = std::move(demonstration);
    found_.tasks.push_back(std::move(lesson->found));
  }

  const KnownStepsOptions& options_;
  const LoadedEnvironment& environment_;
  const Policy& policy_;
  Executor* const executor_;
  std::vector<Lesson> lessons_;
  std::map<std::string, MessageCall> calls_;  // one of each tool
  KnownSteps found_;
  int64_t steps_ = 0, done_ = 0;
};

}  // namespace

std::map<std::string, std::pair<int64_t, int64_t>> KnownSteps::ByTool() const {
  std::map<std::string, std::pair<int64_t, int64_t>> by_tool;
  for (const KnownTask& task : tasks) {
    for (const KnownStep& step : task.steps) {
      auto& [known, all] = by_tool[step.tool];
      known += step.known ? 1 : 0;
      ++all;
    }
  }
  return by_tool;
}

Result<KnownSteps> FindKnownSteps(const KnownStepsOptions& options,
                                  const LoadedEnvironment& environment, const Policy& policy,
                                  Executor* executor) {
  return KnownStepsSearch(options, environment, policy, executor).Run();
}

}  // namespace hone
