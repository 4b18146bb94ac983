#include "envs/play.h"

#include <map>

#include <fmt/format.h>

#include "record/final_state.h"

namespace hone {
namespace {

// The outcomes of these calls, in their order.
std::vector<CallOutcome> CarryOut(std::vector<CallRequest> requests, Executor* executor) {
  std::vector<CallOutcome> outcomes(requests.size());
  std::map<uint64_t, size_t> tickets;
  for (size_t i = 0; i < requests.size(); ++i) {
    tickets[executor->Submit(std::move(requests[i]))] = i;
  }
  while (!tickets.empty()) {
    std::optional<CallOutcome> outcome = executor->Next();
    CHECK(outcome.has_value(), "an executor that gives no outcome for a call under way");
    const auto found = tickets.find(outcome->ticket);
    if (found == tickets.end()) continue;
    outcomes[found->second] = *std::move(outcome);
    tickets.erase(found);
  }
  return outcomes;
}

// The results of these calls, in their order. `hide`: the agent's do not reach what it cannot see.
std::vector<ToolResult> Execute(const PlayPlace& place, const std::vector<Call>& calls,
                                const EnvironmentTraits* hide,
                                const std::shared_ptr<Sessions>& sessions, CallIdentity identity) {
  std::vector<ToolResult> results(calls.size());
  std::vector<CallRequest> requests;
  std::vector<size_t> asked;  // which call each of them is
  for (size_t i = 0; i < calls.size(); ++i) {
    results[i].call = static_cast<int32_t>(i);
    if (hide != nullptr && IsHidden(*hide, calls[i].name)) {
      results[i].status = CallStatus::kUnknownTool;
      results[i].blame = Blame::kAgent;
      results[i].content = fmt::format("there is no tool \"{}\"", calls[i].name);
      continue;
    }
    identity.call = static_cast<int32_t>(i);
    requests.push_back({identity, calls[i].name, calls[i].arguments, sessions});
    asked.push_back(i);
  }
  if (requests.empty()) return results;
  std::vector<CallOutcome> outcomes = place.carry_out(std::move(requests));
  for (size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].result.call = static_cast<int32_t>(asked[i]);
    results[asked[i]] = std::move(outcomes[i].result);
  }
  return results;
}

void Append(EnvironmentTurn more, EnvironmentTurn* turn) {
  if (!more.user.empty()) turn->user = std::move(more.user);
  for (std::string& notice : more.notices) turn->notices.push_back(std::move(notice));
  turn->ending = more.ending;
  turn->blame = more.blame;
  turn->calls = std::move(more.calls);
}

Json CallMessage(const AgentTurn& turn) {
  Json message = Json::Of({{"role", "assistant"}, {"content", turn.answer.value_or("")}});
  if (!turn.thought.empty()) message.Set("reasoning_content", turn.thought);
  Json::Array calls;
  for (const Call& call : turn.calls) {
    calls.push_back(
        Json::Of({{"type", "function"},
                  {"function", Json::Of({{"name", call.name}, {"arguments", call.arguments}})}}));
  }
  if (!calls.empty()) message.Set("tool_calls", std::move(calls));
  return message;
}

}  // namespace

bool Playthrough::success() const { return FinalState(final_state).is_right() == true; }

int64_t Playthrough::CountCalls() const {
  int64_t calls = 0;
  for (const PlayedTurn& turn : turns) calls += static_cast<int64_t>(turn.agent.calls.size());
  return calls;
}

PlayPlace PlaceOf(const Environment& environment, Caller* caller, PlayIdentity identity,
                  int64_t max_turns) {
  return {.environment = &environment,
          .carry_out =
              [caller](std::vector<CallRequest> requests) {
                return caller->CallAll(std::move(requests));
              },
          .identity = std::move(identity),
          .max_turns = max_turns};
}

Result<Playthrough> Play(const Environment& environment, const Task& task, uint64_t seed,
                         Agent* agent, Executor* executor, const PlayIdentity& identity,
                         int64_t max_turns) {
  Result<Playthrough> played = Play({.environment = &environment,
                                     .carry_out =
                                         [executor](std::vector<CallRequest> requests) {
                                           return CarryOut(std::move(requests), executor);
                                         },
                                     .identity = identity,
                                     .max_turns = max_turns},
                                    task, seed, agent);
  HONE_RETURN_IF_ERROR(executor->Recorded());
  return played;
}

Result<Playthrough> Play(const PlayPlace& place, const Task& task, uint64_t seed, Agent* agent) {
  const Environment& environment = *place.environment;
  const PlayIdentity& identity = place.identity;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Episode> episode, environment.Open(task, seed));
  Playthrough played;
  played.opening = episode->opening();
  const Environment& own_rules = environment.For(task);
  const auto sessions = std::make_shared<Sessions>(own_rules.tools(), played.opening.session_seed);
  CallIdentity call{identity.run, task.id, identity.path, 0, 0};
  CallIdentity own{identity.run, task.id, identity.path + "/environment", 0, 0};
  while (static_cast<int64_t>(played.turns.size()) < place.max_turns) {
    PlayedTurn turn;
    turn.agent = agent->Act(played.opening, played.turns);
    if (agent->left()) {
      played.ending = agent->ending();
      played.final_state = episode->final_state();
      return played;
    }
    turn.agent.results = Execute(place, turn.agent.calls, &own_rules.traits(), sessions, call);
    ++call.turn;
    turn.environment = episode->Step(turn.agent);
    while (!turn.environment.calls.empty()) {
      const std::vector<ToolResult> results =
          Execute(place, turn.environment.calls, nullptr, sessions, own);
      ++own.turn;
      Append(episode->Resume(results), &turn.environment);
    }
    played.turns.push_back(std::move(turn));
    const EnvironmentTurn& last = played.turns.back().environment;
    if (!last.ending) continue;
    played.ending = *last.ending;
    played.blame = last.blame;
    played.final_state = episode->final_state();
    return played;
  }
  played.ending = Ending::kTurnLimit;
  played.final_state = episode->final_state();
  return played;
}

Json MessagesOf(const Playthrough& playthrough) {
  Json::Array messages = playthrough.opening.messages.AsArray();
  for (const PlayedTurn& turn : playthrough.turns) {
    messages.push_back(CallMessage(turn.agent));
    for (const ToolResult& result : turn.agent.results) {
      messages.push_back(Json::Of({{"role", "tool"},
                                   {"name", turn.agent.calls[result.call].name},
                                   {"content", result.content}}));
    }
    for (const std::string& notice : turn.environment.notices) {
      messages.push_back(Json::Of({{"role", "user"}, {"content", notice}}));
    }
    if (!turn.environment.user.empty()) {
      messages.push_back(Json::Of({{"role", "user"}, {"content", turn.environment.user}}));
    }
  }
  return messages;
}

}  // namespace hone
