#include "envs/desk/desk_teacher.h"

#include <algorithm>

#include <fmt/format.h>

#include "envs/agents.h"
#include "envs/desk/desk_world.h"
#include "envs/plan.h"

namespace hone::desk {
namespace {

constexpr double kTwiceShare = 0.2;
constexpr double kConfusable = 0.3;
constexpr double kRecovers = 0.3;
constexpr double kEarly = 0.1;
constexpr double kBelieves = 0.7;

// What stands in a request.
struct Seen {
  std::vector<std::string> cities, names, days, numbers;
};

Seen Read(std::string_view prompt) {
  Seen seen;
  constexpr std::string_view kBetween = " .,:;?!";
  for (size_t begin = prompt.find_first_not_of(kBetween); begin != std::string_view::npos;) {
    const size_t end = std::min(prompt.find_first_of(kBetween, begin), prompt.size());
    const std::string_view word = prompt.substr(begin, end - begin);
    if (IndexOf(Cities(), word) >= 0) seen.cities.emplace_back(word);
    if (IndexOf(Names(), word) >= 0) seen.names.emplace_back(word);
    if (IndexOf(Days(), word) >= 0) seen.days.emplace_back(word);
    if (word.find_first_not_of("0123456789") == std::string_view::npos) {
      seen.numbers.emplace_back(word);
    }
    begin = prompt.find_first_not_of(kBetween, end);
  }
  return seen;
}

class Teacher final : public Agent {
 public:
  Teacher(Plan plan, Seen seen, std::string typo, double error, Rng rng)
      : plan_(std::move(plan)),
        seen_(std::move(seen)),
        typo_(std::move(typo)),
        error_(error),
        rng_(rng) {}

  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
    if (!turns.empty()) Observe(turns.back());
    if (surrender_) return Says(*surrender_);
    if (plan_.calls.empty()) return ActWithoutTools();
    SkipUnneeded();
    if (results_.size() == plan_.calls.size()) return Says(RightAnswer());
    if (Chance(kEarly * error_)) return Says(FirstValue());
    return NextCall();
  }

 private:
  // Which call's result is awaited.
  enum class Waiting { kNothing, kRight, kRepeat, kWrong, kNeedless };

  bool Chance(double probability) { return rng_.NextDouble() < probability; }

  // What the last call came to.
  void Observe(const PlayedTurn& turn) {
    const Waiting waiting = std::exchange(waiting_, Waiting::kNothing);
    if (waiting == Waiting::kNothing || turn.agent.results.empty()) return;
    const ToolResult& result = turn.agent.results[0];
    const bool ok = result.status == CallStatus::kOk;
    const Result<Json> value = ParseJson(result.content);
    const Json parsed = value.ok() ? *value : Json(result.content);
    if (ok && !first_value_ && parsed.is_object() && !parsed.AsObject().empty()) {
      first_value_ = PlainText(parsed.AsObject()[0].second);
    }
    if (waiting == Waiting::kRight) {
      if (ok) {
        results_.emplace_back(parsed);
      } else {
        surrender_ = "none";
      }
    } else if (waiting == Waiting::kWrong && !recovers_) {
      surrender_ = plan_.calls[results_.size()].name == "send" ? "done"
                   : ok                                        ? FirstValue()
                                                               : "none";
    } else if (waiting == Waiting::kNeedless) {
      surrender_ = !believes_ ? RightAnswer() : ok ? FirstValue() : "none";
    }
  }

  void SkipUnneeded() {
    while (results_.size() < plan_.calls.size()) {
      const auto call = ResolveCall(plan_, results_.size(), results_);
      if (!call.ok() || *call) return;
      results_.emplace_back();
    }
  }

  AgentTurn NextCall() {
    const auto call = ResolveCall(plan_, results_.size(), results_);
    if (!call.ok() || !*call) return Says("none");
    AgentTurn turn;
    turn.calls = {**call};
    // A call goes wrong once; what it recovers with is right.
    if (!recovers_ && Chance(error_)) {
      if (Chance(kTwiceShare)) {
        waiting_ = Waiting::kRepeat;
        recovers_ = true;
        return turn;
      }
      Spoil(&turn.calls[0]);
      waiting_ = Waiting::kWrong;
      recovers_ = turn.calls[0].name != "send" && Chance(kRecovers);
      return turn;
    }
    recovers_ = false;
    waiting_ = Waiting::kRight;
    return turn;
  }

  AgentTurn ActWithoutTools() {
    if (!Chance(error_)) return Says(RightAnswer());
    believes_ = Chance(kBelieves);
    waiting_ = Waiting::kNeedless;
    AgentTurn turn;
    turn.calls = {NeedlessCall()};
    return turn;
  }

  Call NeedlessCall() {
    if (seen_.numbers.size() >= 2) {
      const size_t last = seen_.numbers.size() - 1;
      return {"calculator",
              Json::Of({{"expression", seen_.numbers[last - 1] + "+" + seen_.numbers[last]}}),
              {}};
    }
    if (!seen_.names.empty() && !seen_.numbers.empty()) {
      return {"contact", Json::Of({{"name", seen_.names.back()}}), {}};
    }
    if (!seen_.cities.empty() && !seen_.days.empty()) {
      return {"weather", Json::Of({{"city", seen_.cities.back()}, {"day", seen_.days.back()}}), {}};
    }
    return {
        "schedule", Json::Of({{"name", Any(Names())}, {"day", Other("", seen_.days, Days())}}), {}};
  }

  std::string Any(std::span<const std::string_view> words) {
    return std::string(words[rng_.Below(words.size())]);
  }

  // Something else than `right`: from the request if it has such a thing, else anything.
  std::string Other(std::string_view right, const std::vector<std::string>& seen,
                    std::span<const std::string_view> words) {
    std::vector<std::string> others;
    for (const std::string& word : seen) {
      if (word != right) others.push_back(word);
    }
    if (!others.empty()) return others[rng_.Below(others.size())];
    std::string word = Any(words);
    while (word == right) word = Any(words);
    return word;
  }

  void Spoil(Call* call) {
    if (Chance(kConfusable) && Confuse(call)) return;
    Json& arguments = call->arguments;
    const auto text = [&](std::string_view key) { return arguments.Find(key)->AsString(); };
    if (!typo_.empty()) {
      // Copies what it read.
      arguments.Set(call->name == "contact" ? "name" : "city", typo_);
    } else if (call->name == "weather") {
      if (rng_.Below(2) == 0) {
        arguments.Set("city", Other(text("city"), seen_.cities, Cities()));
      } else {
        arguments.Set("day", Other(text("day"), seen_.days, Days()));
      }
    } else if (call->name == "contact") {
      arguments.Set("name", Other(text("name"), seen_.names, Names()));
    } else if (call->name == "schedule") {
      if (rng_.Below(2) == 0) {
        arguments.Set("name", Other(text("name"), seen_.names, Names()));
      } else {
        arguments.Set("day", Other(text("day"), seen_.days, Days()));
      }
    } else if (call->name == "clock") {
      arguments.Set("city", Other(text("city"), seen_.cities, Cities()));
    } else if (call->name == "search") {
      SpoilQuery(&arguments);
    } else if (call->name == "convert") {
      SpoilConversion(&arguments);
    } else if (call->name == "calculator") {
      arguments.Set("expression", SpoiltExpression(text("expression")));
    } else if (rng_.Below(2) == 0) {
      arguments.Set("to", Other(text("to"), seen_.names, Names()));
    } else {
      const std::string right = text("text");
      std::string wrong = IndexOf(Skies(), right) >= 0 ? Other(right, {}, Skies()) : "done";
      arguments.Set("text", std::move(wrong));
    }
  }

  bool Confuse(Call* call) {
    const auto text = [&](std::string_view key) { return call->arguments.Find(key)->AsString(); };
    if (call->name == "weather") {
      *call = {"clock", Json::Of({{"city", text("city")}}), {}};
    } else if (call->name == "clock") {
      *call = {"weather",
               Json::Of({{"city", text("city")}, {"day", Other("", seen_.days, Days())}}),
               {}};
    } else if (call->name == "contact") {
      *call = {"schedule",
               Json::Of({{"name", text("name")}, {"day", Other("", seen_.days, Days())}}),
               {}};
    } else if (call->name == "schedule") {
      *call = {"contact", Json::Of({{"name", text("name")}}), {}};
    } else if (call->name == "search") {
      const std::string query = text("query");
      *call = {"clock", Json::Of({{"city", query.substr(query.find(' ') + 1)}}), {}};
    } else {
      return false;
    }
    return true;
  }

  void SpoilQuery(Json* arguments) {
    const std::string query = arguments->Find("query")->AsString();
    const size_t blank = query.find(' ');
    std::string topic = query.substr(0, blank), city = query.substr(blank + 1);
    if (rng_.Below(2) == 0) {
      topic = Other(topic, {}, Topics());
    } else {
      city = Other(city, seen_.cities, Cities());
    }
    arguments->Set("query", topic + " " + city);
  }

  void SpoilConversion(Json* arguments) {
    const std::string amount = PlainText(*arguments->Find("amount"));
    std::vector<std::string> others;
    for (const std::string& number : seen_.numbers) {
      if (number != amount) others.push_back(number);
    }
    if (!others.empty() && rng_.Below(2) == 0) {
      arguments->Set("amount", *ParseJson(others[rng_.Below(others.size())]));
      return;
    }
    const Json from = *arguments->Find("from");
    arguments->Set("from", *arguments->Find("to"));
    arguments->Set("to", from);
  }

  // A term is dropped, or the last operator is another.
  std::string SpoiltExpression(std::string text) {
    const size_t op = text.find_last_of("+-*");
    if (rng_.Below(2) == 0) return text.substr(0, op);
    constexpr std::string_view kOps = "+-*";
    char other = text[op];
    while (other == text[op]) other = kOps[rng_.Below(kOps.size())];
    text[op] = other;
    return text;
  }

  std::string FirstValue() const { return first_value_.value_or("none"); }

  std::string RightAnswer() const {
    const auto answer = ResolveAnswer(plan_, results_);
    return answer.ok() ? answer->value_or("done") : "none";
  }

  const Plan plan_;
  const Seen seen_;
  const std::string typo_;
  const double error_;
  Rng rng_;
  PlanResults results_;  // of the right calls so far
  Waiting waiting_ = Waiting::kNothing;
  bool recovers_ = false;  // the next call is the right one
  bool believes_ = true;   // what a needless call says
  std::optional<std::string> first_value_;
  std::optional<std::string> surrender_;  // what it will answer, come what may
};

}  // namespace

Result<std::unique_ptr<Agent>> NewTeacher(const Task& task, double teacher_error, Rng rng) {
  HONE_ASSIGN_OR_RETURN(std::optional<Plan> plan, PlanOf(task));
  const Json::Array* messages = task.messages.is_array() ? &task.messages.AsArray() : nullptr;
  const Json* prompt =
      messages == nullptr || messages->empty() ? nullptr : messages->back().Find("content");
  if (!plan || prompt == nullptr || !prompt->is_string()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("task \"{}\" has no plan or no request to demonstrate", task.id));
  }
  const Json* typo = task.metadata.Find("typo");
  return std::unique_ptr<Agent>(std::make_unique<Teacher>(
      std::move(*plan), Read(prompt->AsString()),
      typo != nullptr && typo->is_string() ? typo->AsString() : "", teacher_error, rng));
}

}  // namespace hone::desk
