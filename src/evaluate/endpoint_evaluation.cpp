#include "evaluate/endpoint_evaluation.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/mutex.h"
#include "evaluate/endpoint_agent.h"
#include "evaluate/played_tree.h"
#include "text/call_format.h"

namespace hone {
namespace {

// Hands the tasks to several threads, and what they made of them to one listener.
class EndpointWork {
 public:
  using Make = std::function<Result<EndpointEpisode>(size_t index)>;
  using Listener = std::function<Result<void>(EndpointEpisode)>;

  EndpointWork(size_t count, int64_t most_failures, const Make& make, const Listener& ended)
      : count_(count), most_failures_(most_failures), make_(make), ended_(ended) {}

  // The first one alone: where nobody is there, or the key is wrong, nothing else is asked.
  Result<void> First(std::string_view who) {
    HONE_ASSIGN_OR_RETURN(EndpointEpisode episode, make_(0));
    if (!episode.problem.empty()) {
      return Error(ErrorCode::kUnavailable,
                   fmt::format("{} cannot be asked: {}", who, episode.problem));
    }
    next_ = 1;
    return Hear(std::move(episode));
  }

  Result<void> Rest(int64_t threads, const std::stop_token& stop) {
    {
      std::vector<std::jthread> workers;
      for (int64_t i = 0; i < threads; ++i) {
        workers.emplace_back([this, stop] { Work(stop); });
      }
    }
    MutexLock lock(mutex_);
    if (failure_) return *failure_;
    if (stop.stop_requested()) return Error(ErrorCode::kStopped, "stopped");
    return {};
  }

 private:
  void Work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const size_t index = next_++;
      if (index >= count_) return;
      Result<EndpointEpisode> episode = make_(index);
      if (stop.stop_requested()) return;
      const Result<void> heard =
          episode.ok() ? Hear(*std::move(episode)) : Result<void>(episode.error());
      if (heard.ok()) continue;
      next_ = count_;  // the others may stop, too
      MutexLock lock(mutex_);
      if (!failure_) failure_ = heard.error();
      return;
    }
  }

  Result<void> Hear(EndpointEpisode episode) {
    MutexLock lock(mutex_);
    if (failure_) return {};
    const std::string problem = episode.problem;
    failures_ = problem.empty() ? 0 : failures_ + 1;
    HONE_RETURN_IF_ERROR(ended_(std::move(episode)));
    if (failures_ < most_failures_) return {};
    return Error(ErrorCode::kUnavailable,
                 fmt::format("the endpoint left {} episodes in a row without an answer: {}",
                             failures_, problem));
  }

  const size_t count_;
  const int64_t most_failures_;
  const Make& make_;
  const Listener& ended_;
  std::atomic<size_t> next_ = 0;
  Mutex mutex_;
  int64_t failures_ HONE_GUARDED_BY(mutex_) = 0;  // in a row
  std::optional<Error> failure_ HONE_GUARDED_BY(mutex_);
};

// Answers that look like calls: the server does not read the format that its model writes.
void NoteUnread(const EndpointEpisode& episode, RolloutCounts* counts) {
  for (const PlayedTurn& turn : episode.played.turns) {
    if (!turn.agent.calls.empty() || !turn.agent.answer) continue;
    const std::optional<UnreadCall> unread = FindUnreadCall(*turn.agent.answer);
    if (!unread) continue;
    ++counts->unread_calls;
    if (!counts->unread_note.empty()) continue;
    counts->unread_note = fmt::format(
        "an answer looks like a call of {} in the format {}, which the endpoint did not read: set "
        "its server's parser of calls to that format",
        unread->name, CallFormatName(unread->format));
  }
}

Result<Measures> MeasureEpisode(const EndpointTask& task, const EndpointEpisode& episode) {
  HONE_ASSIGN_OR_RETURN(std::vector<Measures> measured,
                        MeasureTree(PlayedTree(task.task, task.seed, episode.played)));
  Measures& m = measured.at(0);
  m.tokens = episode.tokens.completion;
  m.money += episode.money;
  if (!episode.problem.empty()) {
    m.counts = false;
    m.success = std::nullopt;
  }
  return m;
}

}  // namespace

Result<EndpointEpisode> EndpointPlayer::One(const EndpointTask& task, size_t index) const {
  const Environment& environment = *environment_->environment;
  EndpointAgent agent(model_,
                      {.temperature = options_.temperature,
                       .max_tokens = options_.turn_tokens,
                       .seed = Rng(task.seed).Split(static_cast<uint64_t>(task.sample)).NextU64(),
                       .tools = VisibleTools(environment.For(task.task)),
                       .without_tools = options_.without_tools});
  const std::string path =
      fmt::format("{}{}{}", task.scope, task.scope.empty() ? "" : "/", task.sample);
  EndpointEpisode episode{.index = index};
  HONE_ASSIGN_OR_RETURN(
      episode.played, hone::Play(PlaceOf(environment, caller_, {.run = options_.run, .path = path},
                                         options_.max_turns),
                                 task.task, EpisodeSeed(task.seed), &agent));
  episode.messages = agent.Conversation(episode.played.opening, episode.played.turns);
  episode.tools = agent.ToolsOf(episode.played.opening);
  if (agent.left() && agent.ending() == Ending::kInterrupted) episode.problem = agent.problem();
  episode.tokens = agent.tokens();
  episode.money = agent.money();
  episode.latency_us = agent.latency_us();
  return episode;
}

Result<void> EndpointPlayer::Play(std::span<const EndpointTask> tasks,
                                  const std::function<Result<void>(EndpointEpisode)>& ended,
                                  const std::stop_token& stop) const {
  if (tasks.empty()) return {};
  const EndpointWork::Make make = [&](size_t index) { return One(tasks[index], index); };
  EndpointWork work(tasks.size(), options_.most_failures, make, ended);
  HONE_RETURN_IF_ERROR(work.First(model_->name()));
  return work.Rest(options_.at_once, stop);
}

Result<Evaluation> EndpointPlayer::Evaluate(const EvaluationOptions& options) const {
  EndpointPlayOptions own = options_;
  own.without_tools = options.without_tools;
  if (own.without_tools) own.run += std::string("-") + kWithoutTools;
  return EndpointPlayer(environment_, caller_, model_, own).EvaluateOnce(options);
}

Result<Evaluation> EndpointPlayer::EvaluateOnce(const EvaluationOptions& options) const {
  HONE_ASSIGN_OR_RETURN(const std::vector<GroupRequest> requests,
                        EvaluationRequests(options, *environment_->tasks));
  std::vector<EndpointTask> tasks;
  for (const GroupRequest& request : requests) {
    for (int64_t sample = 0; sample < options.samples; ++sample) {
      tasks.push_back({request.task, request.seed, sample, request.scope});
    }
  }
  Evaluation evaluation;
  evaluation.split = options.split;
  evaluation.temperature = static_cast<float>(options_.temperature);
  evaluation.samples = options.samples;
  evaluation.without_tools = options.without_tools;
  evaluation.tasks = std::ssize(requests);
  evaluation.measures.resize(tasks.size());
  const auto begun = std::chrono::steady_clock::now();
  int64_t heard = 0;
  HONE_RETURN_IF_ERROR(Play(tasks, [&](const EndpointEpisode& episode) -> Result<void> {
    HONE_ASSIGN_OR_RETURN(evaluation.measures[episode.index],
                          MeasureEpisode(tasks[episode.index], episode));
    ++evaluation.counts.leaves;
    NoteUnread(episode, &evaluation.counts);
    ++heard;
    if (options.progress) options.progress(heard, std::ssize(tasks));
    return {};
  }));
  evaluation.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (evaluation.Broken() == std::ssize(evaluation.measures)) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("none of {} tasks of {} could be done, and the agent is not to blame",
                             evaluation.tasks, SplitName(options.split)));
  }
  return evaluation;
}

}  // namespace hone
