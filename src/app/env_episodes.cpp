#include "app/env_episodes.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/terminal.h"
#include "base/nearest.h"
#include "envs/agents.h"
#include "envs/gold.h"
#include "record/final_state.h"

namespace hone {
namespace {

Result<std::unique_ptr<Agent>> NewAgent(const OpenedEnvironment& opened, const Task& task,
                                        const EpisodesRequest& request) {
  if (request.make) return request.make(task, WorldSeed(request.seed, task));
  const LoadedEnvironment& loaded = opened.loaded;
  const Rng rng = Rng(request.seed).Split("agent").Split(task.id);
  if (request.agent == "gold") return loaded.gold_agent(task);
  if (request.agent == "random") return NewRandomAgent(VisibleTools(*loaded.environment), rng);
  if (request.agent == "idle") return NewIdleAgent();
  if (request.agent == "always-call") {
    return NewAlwaysCallAgent(VisibleTools(*loaded.environment), rng);
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("--agent {}: not one of person, {}, and neither a model's folder nor a "
                           "URL{}",
                           request.agent, fmt::join(AgentNames(), ", "),
                           DidYouMean(request.agent, AgentNames())));
}

std::string SourcesText(const std::map<CallSource, int64_t>& sources) {
  std::string text;
  for (const auto& [source, count] : sources) {
    text += fmt::format("{}{} by the {}", text.empty() ? "" : ", ", count,
                        source == CallSource::kTool ? "tools" : CallSourceName(source));
  }
  return text;
}

}  // namespace

std::vector<std::string> AgentNames() { return {"gold", "random", "idle", "always-call"}; }

Json EpisodeReport::ToJson() const {
  if (!void_because.empty()) return Json::Of({{"id", task}, {"void", void_because}});
  return Json::Of({{"id", task},
                   {"ending", EndingName(played.ending)},
                   {"blame", BlameName(played.blame)},
                   {"success", played.success()},
                   {"messages", MessagesOf(played)},
                   {"final_state", played.final_state}});
}

Json EpisodesReport::Summary() const {
  Json::Object by_source;
  for (const auto& [source, count] : sources) {
    by_source.emplace_back(CallSourceName(source), count);
  }
  return Json::Of({{"tasks", static_cast<int64_t>(episodes.size())},
                   {"succeeded", succeeded},
                   {"failed", failed},
                   {"void", voided},
                   {"answered_by", std::move(by_source)}});
}

std::string EpisodesReport::View() const {
  std::string view;
  for (const EpisodeReport& episode : episodes) {
    const Playthrough& played = episode.played;
    if (!episode.void_because.empty()) {
      view +=
          fmt::format("{}: void: {}\n", Printable(episode.task), Printable(episode.void_because));
    } else if (!played.success()) {
      const Json* answer = FinalState(played.final_state).answer();
      view += fmt::format(
          "{}: {}{}, {} calls, answer {}\n", Printable(episode.task), EndingName(played.ending),
          played.blame == Blame::kNone ? "" : fmt::format(" (blame {})", BlameName(played.blame)),
          played.CountCalls(), answer == nullptr ? "none" : Printable(DumpJson(*answer)));
    }
  }
  view += fmt::format("{} tasks: {} succeeded, {} failed, {} void; calls answered: {}\n",
                      episodes.size(), succeeded, failed, voided,
                      sources.empty() ? "none" : SourcesText(sources));
  return view;
}

std::string EpisodesReport::Lines() const {
  std::string lines;
  for (const EpisodeReport& episode : episodes) lines += DumpJson(episode.ToJson()) + "\n";
  return lines;
}

Result<Task> TaskInRun(const OpenedEnvironment& opened, Task task, uint64_t seed,
                       AnsweredRun* run) {
  if (!run->simulated) return task;
  const uint64_t world = WorldSeed(seed, task);
  HONE_ASSIGN_OR_RETURN(std::vector<GoldTask> there,
                        GoldInWorld(*opened.loaded.environment, std::span(&task, 1),
                                    std::span(&world, 1), run->executor.get(), run->name));
  if (!there[0].void_because.empty()) {
    return Error(ErrorCode::kUnavailable, there[0].void_because);
  }
  return std::move(there[0].task);
}

Result<EpisodesReport> PlayEpisodes(const OpenedEnvironment& opened, const EpisodesRequest& request,
                                    AnsweredRun* run) {
  EpisodesReport report;
  for (uint64_t i = request.first; i < request.first + request.count; ++i) {
    const Task task = opened.loaded.tasks->Make(request.split, i);
    EpisodeReport& episode = report.episodes.emplace_back();
    episode.task = task.id;
    const Result<Task> here = TaskInRun(opened, task, request.seed, run);
    if (!here.ok()) {
      episode.void_because = here.error().message();
      ++report.voided;
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const auto agent, NewAgent(opened, *here, request));
    HONE_ASSIGN_OR_RETURN(episode.played,
                          Play(*opened.loaded.environment, *here, WorldSeed(request.seed, task),
                               agent.get(), run->executor.get(), {.run = run->name, .path = "0"}));
    if (agent->left() && agent->ending() == Ending::kInterrupted) {
      episode.void_because = "the agent left: " + agent->problem();
      ++report.voided;
      continue;
    }
    ++(episode.played.success() ? report.succeeded : report.failed);
  }
  report.sources = run->executor->counts().by_source;
  return report;
}

}  // namespace hone
