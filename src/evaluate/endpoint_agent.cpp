#include "evaluate/endpoint_agent.h"

#include "rollout/no_calls.h"

#include <fmt/format.h>

namespace hone {
namespace {

// One of "tool_calls".
void ReadCall(const Json& given, AgentTurn* turn) {
  const Json* function = given.Find("function");
  const Json* name = function == nullptr ? nullptr : function->Find("name");
  if (name == nullptr || !name->is_string()) {
    turn->faults.push_back({FaultKind::kBadCall, "a call without a name", {}});
    return;
  }
  const Json* written = function->Find("arguments");
  Json arguments = Json::Of({});
  if (written != nullptr && written->is_string() && !written->AsString().empty()) {
    const Result<Json> parsed = ParseJson(written->AsString());
    if (!parsed.ok()) {
      turn->faults.push_back(
          {FaultKind::kBadJson, "the arguments are no JSON: " + parsed.error().message(), {}});
      return;
    }
    arguments = *parsed;
  } else if (written != nullptr && written->is_object()) {
    arguments = *written;  // some servers do not write them as text
  }
  if (!arguments.is_object()) {
    turn->faults.push_back({FaultKind::kBadCall, "the arguments are no object", {}});
    return;
  }
  turn->calls.push_back({name->AsString(), std::move(arguments), {}});
}

// As the API has it: Hone's own notes on a tool are not for others.
Json ApiTool(const Json& tool) {
  const Json* function = tool.Find("function");
  Json shown = Json::Of({});
  for (const auto& [key, value] : (function != nullptr ? *function : tool).AsObject()) {
    if (key != "x-hone") shown.Set(key, value);
  }
  return Json::Of({{"type", "function"}, {"function", std::move(shown)}});
}

std::string IdOf(const Json& call, size_t index) {
  const Json* id = call.Find("id");
  return id != nullptr && id->is_string() ? id->AsString() : fmt::format("call_{}", index);
}

}  // namespace

Json EndpointAgent::Conversation(const Opening& opening,
                                 const std::vector<PlayedTurn>& turns) const {
  Json::Array messages = opening.messages.AsArray();
  for (size_t i = 0; i < turns.size(); ++i) {
    messages.push_back(said_[i]);
    const Json* calls = said_[i].Find("tool_calls");
    size_t answered = 0;
    for (size_t call = 0; calls != nullptr && call < calls->AsArray().size(); ++call) {
      // Of calls that could not be read there is no result, but the API wants one for each.
      const auto& results = turns[i].agent.results;
      const bool there = turns[i].agent.faults.empty() && answered < results.size();
      messages.push_back(
          Json::Of({{"role", "tool"},
                    {"tool_call_id", IdOf(calls->AsArray()[call], call)},
                    {"content", there ? results[answered++].content : "this call is unreadable"}}));
    }
    for (const std::string& notice : turns[i].environment.notices) {
      messages.push_back(Json::Of({{"role", "user"}, {"content", notice}}));
    }
    if (const std::string& user = turns[i].environment.user; !user.empty()) {
      messages.push_back(Json::Of({{"role", "user"}, {"content", user}}));
    }
  }
  return messages;
}

Json EndpointAgent::ToolsOf(const Opening& opening) const {
  Json::Array shown;
  if (options_.without_tools) return shown;
  const Json& listed = opening.tools.AsArray().empty() ? options_.tools : opening.tools;
  for (const Json& tool : listed.AsArray()) shown.push_back(ApiTool(tool));
  return shown;
}

AgentTurn EndpointAgent::Act(const Opening& opening, const std::vector<PlayedTurn>& turns) {
  Json::Array messages = Conversation(opening, turns).AsArray();
  // Thoughts are not sent back: most endpoints refuse them, and templates leave earlier ones out.
  for (Json& message : messages) {
    std::erase_if(message.AsObject(),
                  [](const auto& member) { return member.first == "reasoning_content"; });
  }
  const ChatTurn got = model_->Complete({.messages = std::move(messages),
                                         .tools = ToolsOf(opening),
                                         .temperature = options_.temperature,
                                         .max_tokens = options_.max_tokens,
                                         .seed = options_.seed});
  AgentTurn turn;
  if (got.status != CompletionStatus::kOk) {
    problem_ = got.problem.empty() ? std::string(CompletionStatusName(got.status)) : got.problem;
    for (const char* sign : {"context_length_exceeded", "maximum context length"}) {
      if (problem_.find(sign) != std::string::npos) ending_ = Ending::kTokenLimit;
    }
    return turn;
  }
  tokens_.prompt += got.usage.prompt;
  tokens_.completion += got.usage.completion;
  money_ += got.money;
  latency_us_ += got.latency_us;
  Json message = Json::Of({{"role", "assistant"}, {"content", got.text}});
  if (!got.reasoning.empty()) message.Set("reasoning_content", got.reasoning);
  // A call that is denied has no result, and endpoints refuse calls without one.
  if (!got.calls.AsArray().empty() && !options_.without_tools) {
    message.Set("tool_calls", got.calls);
  }
  said_.push_back(std::move(message));
  for (const Json& call : got.calls.AsArray()) ReadCall(call, &turn);
  if (options_.without_tools) NoCalls::Deny(&turn, {});
  if (got.calls.AsArray().empty()) turn.answer = got.text;
  turn.tokens = got.usage.completion;
  turn.context_tokens = got.usage.prompt + got.usage.completion;
  return turn;
}

}  // namespace hone
