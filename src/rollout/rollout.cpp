#include "rollout/rollout.h"

#include <algorithm>

#include <set>

#include <fmt/format.h>

#include "base/rng.h"
#include "rollout/scheduler.h"

namespace hone {
namespace {

Json CountsToJson(const std::map<std::string, int64_t>& counts) {
  Json json = Json::Object();
  for (const auto& [name, count] : counts) json.Set(name, count);
  return json;
}

Result<void> CheckRequests(std::span<const GroupRequest> requests) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const GroupRequest& request : requests) {
    const std::string& id = request.task.id;
    if (request.leaves < 1) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("task \"{}\": a group has at least one leaf", id));
    }
    if (!seen.emplace(request.scope, id).second) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("task \"{}\" is to be done by two groups of the scope \"{}\"; their "
                               "calls could not be told apart: give each a scope of its own",
                               id, request.scope));
    }
  }
  return {};
}

}  // namespace

uint64_t EpisodeSeed(uint64_t group_seed) { return Rng(group_seed).Split("episode").NextU64(); }

std::unique_ptr<TurnDrawer> NewDrawer(const RolloutOptions& options, const Policy& policy) {
  return options.drawer ? options.drawer() : NewEngineDrawer(&policy.engine());
}

double RolloutCounts::SharedShare() const {
  if (path_tokens == 0) return 0;
  return static_cast<double>(path_tokens - tree_tokens) / static_cast<double>(path_tokens);
}

void RolloutCounts::Add(const RolloutCounts& other) {
  for (int64_t RolloutCounts::*count :
       {&RolloutCounts::groups, &RolloutCounts::leaves, &RolloutCounts::turns,
        &RolloutCounts::calls, &RolloutCounts::environment_calls, &RolloutCounts::sampled_tokens,
        &RolloutCounts::computed_tokens, &RolloutCounts::path_tokens, &RolloutCounts::tree_tokens,
        &RolloutCounts::tool_errors, &RolloutCounts::retries, &RolloutCounts::dropped,
        &RolloutCounts::given_up, &RolloutCounts::preemptions, &RolloutCounts::unread_calls}) {
    this->*count += other.*count;
  }
  if (unread_note.empty()) unread_note = other.unread_note;
  for (const auto& [name, count] : other.endings) endings[name] += count;
  for (const auto& [name, count] : other.faults) faults[name] += count;
  for (double RolloutSeconds::*part :
       {&RolloutSeconds::sampling, &RolloutSeconds::waiting, &RolloutSeconds::environment,
        &RolloutSeconds::text, &RolloutSeconds::total}) {
    seconds.*part += other.seconds.*part;
  }
}

Json RolloutCounts::ToJson() const {
  return Json::Of({{"groups", groups},
                   {"leaves", leaves},
                   {"turns", turns},
                   {"calls", calls},
                   {"environment_calls", environment_calls},
                   {"sampled_tokens", sampled_tokens},
                   {"computed_tokens", computed_tokens},
                   {"path_tokens", path_tokens},
                   {"tree_tokens", tree_tokens},
                   {"shared_share", SharedShare()},
                   {"tool_errors", tool_errors},
                   {"retries", retries},
                   {"dropped", dropped},
                   {"given_up", given_up},
                   {"preemptions", preemptions},
                   {"unread_calls", unread_calls},
                   {"endings", CountsToJson(endings)},
                   {"faults", CountsToJson(faults)},
                   {"seconds", Json::Of({{"sampling", seconds.sampling},
                                         {"waiting", seconds.waiting},
                                         {"environment", seconds.environment},
                                         {"text", seconds.text},
                                         {"total", seconds.total}})}});
}

Result<Rollout> Rollout::New(RolloutOptions options, const Environment* environment,
                             const Policy& policy, const Strategy* strategy, Executor* executor) {
  if (options.max_live < 1 || options.retries < 0 || options.max_turns < 1) {
    return Error(ErrorCode::kInvalidArgument,
                 "a rollout needs max_live and max_turns of at least 1, and retries of at least 0");
  }
  if (options.carry.turns > 0 && (strategy->traits().branches() || strategy->traits().waits)) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("episodes cannot be carried over to newer weights where {} lets them "
                             "branch or wait; use chains",
                             strategy->traits().name));
  }
  const Toolbox& toolbox = *environment->tools();
  for (const Toolbox::Kit& kit : toolbox.kits()) {
    const int64_t most = kit.toolkit->sessions_at_once();
    if (most > 0) options.max_live = std::min(options.max_live, most);
  }
  const int64_t episodes = environment->traits().episodes_at_once;
  if (episodes > 0) options.max_live = std::min(options.max_live, episodes);
  const bool limited = episodes > 0 || std::any_of(toolbox.kits().begin(), toolbox.kits().end(),
                                                   [](const Toolbox::Kit& kit) {
                                                     return kit.toolkit->sessions_at_once() > 0;
                                                   });
  if (options.carry.turns > 0 && limited) {
    return Error(ErrorCode::kUnsupported,
                 "episodes that are carried over to newer weights are open all at a time, and the "
                 "tools have room for some alone; leave out rollout.carry");
  }
  if (strategy->traits().branches()) {
    if (episodes > 0) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("{} branches inside episodes, and {} can have only {} at a time; "
                               "use chains",
                               strategy->traits().name, environment->traits().name, episodes));
    }
    for (const Toolbox::Tool& tool : toolbox.tools()) {
      const Toolkit& toolkit = *toolbox.kits()[tool.kit].toolkit;
      if (toolkit.sharing() != Sharing::kOnce && toolkit.sessions_at_once() == 0) continue;
      return Error(ErrorCode::kUnsupported,
                   fmt::format("{} branches inside episodes, but the session of the tool \"{}\" "
                               "cannot be had twice; use chains",
                               strategy->traits().name, tool.spec.name));
    }
  }
  return Rollout(std::move(options), environment, policy, strategy, executor);
}

Result<RolloutResult> Rollout::Run(std::span<const GroupRequest> requests,
                                   std::stop_token stop) const {
  HONE_RETURN_IF_ERROR(CheckRequests(requests));
  if (strategy_->traits().branches() && !requests.empty()) {
    // Before anything is computed. Where the first task cannot be opened, that is its own problem.
    const GroupRequest& first = requests[0];
    const auto episode = environment_->Open(first.task, first.seed);
    if (episode.ok()) {
      if (const auto clone = (*episode)->Clone(); !clone.ok()) {
        return clone.error().In(
            fmt::format("{} branches inside episodes", strategy_->traits().name));
      }
    }
  }
  const std::unique_ptr<Clock> machine = options_.clock == nullptr ? NewRealClock() : nullptr;
  const Clock& clock = options_.clock == nullptr ? *machine : *options_.clock;
  Scheduler scheduler(options_, *environment_, policy_, *strategy_, executor_, clock, requests);
  return scheduler.Run(std::move(stop));
}

}  // namespace hone
