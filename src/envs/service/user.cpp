#include "envs/service/user.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/json_fields.h"

namespace hone::service {
namespace {

constexpr int kPatience = 4;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool HasAny(std::string_view text, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) {
    return text.find(phrase) != std::string_view::npos;
  });
}

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool Mentions(std::string_view text, std::string_view words) {
  const std::string in = Lower(text), what = Lower(words);
  if (what.empty()) return true;
  for (size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) {
    const size_t end = at + what.size();
    if ((at == 0 || !IsWordCharacter(in[at - 1])) &&
        (end == in.size() || !IsWordCharacter(in[end]))) {
      return true;
    }
  }
  return false;
}

Json ScriptToJson(const Script& script) {
  Json::Array goals;
  for (const Goal& goal : script.goals) {
    Json json = Json::Of({{"kind", goal.kind}, {"request", goal.request}, {"calls", goal.calls}});
    for (const auto& [key, value] :
         {std::pair("again", &goal.again), std::pair("order", &goal.order),
          std::pair("product", &goal.product), std::pair("colour", &goal.colour),
          std::pair("city", &goal.city), std::pair("reason", &goal.reason),
          std::pair("fallback", &goal.fallback), std::pair("change", &goal.change)}) {
      if (!value->empty()) json.Set(key, *value);
    }
    if (!goal.facts.empty()) json.Set("facts", Json::ArrayOf(goal.facts));
    goals.push_back(std::move(json));
  }
  return Json::Of({{"email", script.email}, {"goals", std::move(goals)}});
}

Result<Script> ScriptFromJson(const Json& json) {
  Script script;
  JsonErrors errors;
  {
    JsonFields fields(json, "metadata.user", &errors);
    fields.Required("email", &script.email);
    std::vector<Json> goals;
    fields.Required("goals", &goals);
    for (size_t i = 0; i < goals.size(); ++i) {
      Goal& goal = script.goals.emplace_back();
      JsonFields goal_fields(goals[i], fmt::format("metadata.user.goals[{}]", i), &errors);
      goal_fields.Optional("kind", &goal.kind);
      goal_fields.Required("request", &goal.request);
      goal_fields.Optional("again", &goal.again);
      goal_fields.Optional("order", &goal.order);
      goal_fields.Optional("product", &goal.product);
      goal_fields.Optional("colour", &goal.colour);
      goal_fields.Optional("city", &goal.city);
      goal_fields.Optional("reason", &goal.reason);
      goal_fields.Optional("fallback", &goal.fallback);
      goal_fields.Optional("change", &goal.change);
      goal_fields.Optional("facts", &goal.facts);
      goal_fields.Optional("calls", &goal.calls);
    }
    if (goals.empty()) errors.Add("metadata.user.goals", "must not be empty");
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  return script;
}

ScriptedUser::ScriptedUser(Script script, std::vector<std::string> outputs)
    : script_(std::move(script)), outputs_(std::move(outputs)), told_(outputs_.size(), false) {}

std::string ScriptedUser::Opening() const { return script_.goals[0].request; }

ScriptedUser::Line ScriptedUser::LosePatience(std::string text) {
  if (++useless_ >= kPatience) return {"This leads nowhere. Goodbye.", true};
  return {std::move(text), false};
}

ScriptedUser::Line ScriptedUser::FinishGoal() {
  for (const int64_t fact : goal().facts) {
    const auto place = static_cast<size_t>(fact);
    if (place < told_.size() && !told_[place]) return LosePatience(goal().again);
  }
  ++at_;
  changed_ = fell_back_ = confirmed_ = false;
  if (satisfied()) return {"No, that is all. Thank you, goodbye.", true};
  return {"Thank you. " + goal().request, false};
}

std::string ScriptedUser::AnswerTo(std::string_view question) const {
  std::string answer;
  const auto say = [&](std::string_view what, const std::string& value) {
    if (value.empty()) return;
    answer += fmt::format("{}The {} is {}.", answer.empty() ? "" : " ", what, value);
  };
  const std::string& colour = fell_back_ ? goal().fallback : goal().colour;
  if (HasAny(question, {"email", "e-mail", "who are you"})) say("email", script_.email);
  if (HasAny(question, {"reason", "why"})) say("reason", goal().reason);
  if (HasAny(question, {"colour", "color"})) say("colour", colour);
  if (HasAny(question, {"city", "address", "where"})) say("city", goal().city);
  if (HasAny(question, {"which order", "order number", "what order"})) say("order", goal().order);
  if (HasAny(question, {"product", "item", "which one"})) say("product", goal().product);
  return answer;
}

ScriptedUser::Line ScriptedUser::Reply(std::string_view agent) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (Mentions(agent, outputs_[i])) told_[i] = true;
  }
  const std::string text = Lower(agent);
  const bool asks = text.find('?') != std::string::npos;
  if (asks && HasAny(text, {"shall i", "should i", "may i", "confirm", "do you want me", "proceed",
                            "go ahead"})) {
    if (!goal().change.empty() && !changed_) {
      changed_ = true;
      return {goal().change, false};
    }
    confirmed_ = true;
    return {"Yes, please.", false};
  }
  if (!goal().fallback.empty() && !fell_back_ &&
      HasAny(text, {"out of stock", "not in stock", "sold out", "not available", "unavailable"})) {
    fell_back_ = true;
    return {fmt::format("Then {}, please.", goal().fallback), false};
  }
  if (HasAny(text, {"anything else", "something else"})) return FinishGoal();
  if (asks) {
    std::string answer = AnswerTo(text);
    if (!answer.empty()) return {std::move(answer), false};
    return LosePatience(goal().request);
  }
  if (HasAny(text, {"done", "cancelled", "canceled", "changed", "exchanged", "returned", "cannot",
                    "can't", "not possible", "not allowed", "sorry", "the status", "the total",
                    "the price"})) {
    return FinishGoal();
  }
  return LosePatience("Please go on.");
}

}  // namespace hone::service
