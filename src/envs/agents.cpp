#include "envs/agents.h"

#include <fmt/format.h>

namespace hone {
namespace {

class PlanAgent final : public Agent {
 public:
  PlanAgent(Plan plan, std::vector<std::string> thoughts)
      : plan_(std::move(plan)), thoughts_(std::move(thoughts)) {}

  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
    AgentTurn turn = Next(turns);
    // While a call is under way its number is that of the results.
    const size_t number = turn.calls.empty() ? plan_.calls.size() : results_.size();
    if (number < thoughts_.size()) turn.thought = thoughts_[number];
    return turn;
  }

 private:
  AgentTurn Next(const std::vector<PlayedTurn>& turns) {
    if (waiting_) {
      const ToolResult& result = turns.back().agent.results[0];
      if (result.status != CallStatus::kOk) return Says("none");
      Result<Json> value = ParseJson(result.content);
      results_.emplace_back(value.ok() ? *value : Json(result.content));
      waiting_ = false;
    }
    while (results_.size() < plan_.calls.size()) {
      const Result<std::optional<Call>> call = ResolveCall(plan_, results_.size(), results_);
      if (!call.ok()) return Says("none");
      if (*call) {
        waiting_ = true;
        AgentTurn turn;
        turn.calls = {**call};
        return turn;
      }
      results_.emplace_back();
    }
    const Result<std::optional<std::string>> answer = ResolveAnswer(plan_, results_);
    return Says(answer.ok() ? answer->value_or("done") : "none");
  }

  const Plan plan_;
  const std::vector<std::string> thoughts_;  // before each call and before the answer; or none
  PlanResults results_;
  bool waiting_ = false;  // for the result of the call that was made last
};

class IdleAgent final : public Agent {
 public:
  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>&) override { return Says("none"); }
};

// The words of a text: what stands between blanks, without punctuation around it.
void AddWords(std::string_view text, std::vector<std::string>* words) {
  constexpr std::string_view kBetween = " \t\r\n.,:;!?\"'{}[]()";
  for (size_t begin = text.find_first_not_of(kBetween); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    words->emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBetween, end);
  }
}

class RandomAgent final : public Agent {
 public:
  RandomAgent(Json tools, Rng rng, bool answers)
      : tools_(std::move(tools)), rng_(rng), answers_(answers) {}

  AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) override {
    std::vector<std::string> words;
    for (const Json& message : opening.messages.AsArray()) {
      const Json* role = message.Find("role");
      const Json* content = message.Find("content");
      if (role == nullptr || content == nullptr || !(*role == Json("user"))) continue;
      AddWords(PlainText(*content), &words);
    }
    for (const PlayedTurn& turn : turns) {
      for (const ToolResult& result : turn.agent.results) AddWords(result.content, &words);
      AddWords(turn.environment.user, &words);
    }
    if (words.empty()) words.emplace_back("none");
    const Json::Array& tools = tools_.AsArray();
    if (tools.empty() || (answers_ && rng_.Below(2) == 0)) return Says(Word(words));
    const Json& tool = *tools[rng_.Below(tools.size())].Find("function");
    AgentTurn turn;
    turn.calls = {{tool.Find("name")->AsString(), Arguments(*tool.Find("parameters"), words), {}}};
    return turn;
  }

 private:
  std::string Word(const std::vector<std::string>& words) {
    return words[rng_.Below(words.size())];
  }

  Json Arguments(const Json& schema, const std::vector<std::string>& words) {
    Json::Object arguments;
    const Json* properties = schema.Find("properties");
    if (properties == nullptr) return arguments;
    for (const auto& [name, property] : properties->AsObject()) {
      arguments.emplace_back(name, Value(property, words));
    }
    return arguments;
  }

  Json Value(const Json& schema, const std::vector<std::string>& words) {
    if (const Json* choices = schema.Find("enum")) {
      return choices->AsArray()[rng_.Below(choices->AsArray().size())];
    }
    const Json* type = schema.Find("type");
    if (type == nullptr || *type == Json("string")) return Word(words);
    if (*type == Json("array")) return Json::Array{Word(words)};
    if (*type == Json("boolean")) return rng_.Below(2) == 0;
    return static_cast<int64_t>(rng_.Below(100));
  }

  const Json tools_;
  Rng rng_;
  const bool answers_;
};

}  // namespace

AgentTurn Says(std::string text) {
  AgentTurn turn;
  turn.answer = std::move(text);
  return turn;
}

std::unique_ptr<Agent> NewPlanAgent(Plan plan, std::vector<std::string> thoughts) {
  return std::make_unique<PlanAgent>(std::move(plan), std::move(thoughts));
}
Result<std::unique_ptr<Agent>> NewPlanAgentFor(const Task& task) {
  HONE_ASSIGN_OR_RETURN(std::optional<Plan> plan, PlanOf(task));
  if (!plan) {
    return Error(ErrorCode::kNotFound, fmt::format("task \"{}\" has no plan", task.id));
  }
  std::vector<std::string> thoughts;
  if (const Json* said = task.metadata.Find("thoughts"); said != nullptr && said->is_array()) {
    for (const Json& thought : said->AsArray()) thoughts.push_back(PlainText(thought));
  }
  return NewPlanAgent(std::move(*plan), std::move(thoughts));
}
std::unique_ptr<Agent> NewIdleAgent() { return std::make_unique<IdleAgent>(); }
std::unique_ptr<Agent> NewRandomAgent(Json tools, Rng rng) {
  return std::make_unique<RandomAgent>(std::move(tools), rng, true);
}
std::unique_ptr<Agent> NewAlwaysCallAgent(Json tools, Rng rng) {
  return std::make_unique<RandomAgent>(std::move(tools), rng, false);
}

}  // namespace hone
