#include "envs/switchboard/switchboard.h"

#include <algorithm>

#include <fmt/format.h>

#include "envs/switchboard/switchboard_tools.h"
#include "record/final_state.h"

namespace hone::switchboard {
namespace {

// What the task says is right.
struct RightCourse {
  struct Step {
    std::string operation, form;
  };
  std::vector<Step> steps;
  std::string first;  // code
  std::string answer;
};

const std::string* TextIn(const Json& object, std::string_view key) {
  const Json* value = object.is_object() ? object.Find(key) : nullptr;
  return value != nullptr && value->is_string() ? &value->AsString() : nullptr;
}

Result<RightCourse> CourseOf(const Task& task) {
  const auto bad = [&](std::string_view what) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("task \"{}\": {}", task.id, what));
  };
  RightCourse course;
  if (!task.answer.is_string()) return bad("\"answer\" must be a text");
  course.answer = task.answer.AsString();
  const Json* calls = task.reward.Find("calls");
  if (calls == nullptr || !calls->is_array()) return bad("\"reward.calls\" must be a list");
  for (const Json& call : calls->AsArray()) {
    const Json* arguments = call.Find("arguments");
    const Json none;
    const Json& given = arguments == nullptr ? none : *arguments;
    const std::string *operation = TextIn(given, "n"), *form = TextIn(given, "f"),
                      *code = TextIn(given, "c");
    if (operation == nullptr || form == nullptr || code == nullptr) {
      return bad("each of \"reward.calls\" needs the arguments \"n\", \"f\" and \"c\"");
    }
    if (course.steps.empty()) course.first = *code;
    course.steps.push_back({*operation, *form});
  }
  return course;
}

// How calls are judged.
struct Judging {
  int64_t tries = 0;           // of one call; 0: nobody counts them
  bool skip_refused = false;   // then the next one is due; else that is the end
  bool by_acceptance = false;  // a call that is accepted has the right form
};

class SwitchboardEpisode final : public Episode {
 public:
  SwitchboardEpisode(Opening opening, RightCourse course, const Judging& judging)
      : opening_(std::make_shared<const Opening>(std::move(opening))),
        course_(std::make_shared<const RightCourse>(std::move(course))),
        judging_(judging),
        code_(course_->first),
        reached_(course_->first) {}

  const Opening& opening() const override { return *opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    EnvironmentTurn reply;
    for (size_t i = 0; i < turn.calls.size(); ++i) {
      Judge(turn.calls[i], turn.results[i]);
      if (judging_.tries > 0 && refused_ >= judging_.tries) reply.ending = Ending::kBudget;
    }
    answer_ = turn.answer;
    if (answer_) reply.ending = Ending::kAnswered;
    return reply;
  }

  Json final_state() const override {
    return FinalStateWriter()
        .Verdict(judging_.by_acceptance ? done_ == course_->steps.size() && answer_ == reached_
                                        : answer_ == course_->answer)
        .Answer(answer_ ? Json(*answer_) : Json())
        .Own("call_scores", Json::ArrayOf(scores_))
        .Take();
  }

  Result<std::unique_ptr<Episode>> Clone() const override {
    return std::unique_ptr<Episode>(std::make_unique<SwitchboardEpisode>(*this));
  }

 private:
  // Whether a call was right where it stood, and what comes after it.
  void Judge(const Call& call, const ToolResult& result) {
    const std::string *operation = TextIn(call.arguments, "n"), *form = TextIn(call.arguments, "f"),
                      *code = TextIn(call.arguments, "c");
    const bool done = result.status == CallStatus::kOk && operation != nullptr;
    refused_ = done ? 0 : refused_ + 1;
    if (!done) return Refused(operation, result);
    const std::vector<RightCourse::Step>& steps = course_->steps;
    const bool in_place = next_ < steps.size() && *operation == steps[next_].operation &&
                          code != nullptr && *code == code_;
    const bool right =
        in_place && (judging_.by_acceptance || (form != nullptr && *form == steps[next_].form));
    scores_.push_back(right ? 1 : 0);
    // A detour that was accepted leads to another code: what comes behind it is right where it
    // stands, but not on the way.
    const bool on_the_way = right && *code == reached_;
    done_ += on_the_way ? 1 : 0;
    GoBehind(*operation);
    TakeCode(result, "c");
    if (on_the_way) reached_ = code_;
  }

  void Refused(const std::string* operation, const ToolResult& result) {
    scores_.push_back(0);
    if (!judging_.skip_refused) return;
    TakeCode(result, "error");  // who answers says which one still holds
    if (refused_ < judging_.tries) return;
    if (operation != nullptr) GoBehind(*operation);
    refused_ = 0;
  }

  void TakeCode(const ToolResult& result, std::string_view key) {
    const Result<Json> value = ParseJson(result.content);
    const std::string* returned = value.ok() ? TextIn(*value, key) : nullptr;
    if (returned != nullptr) code_ = *returned;
  }

  // What was passed over is missing; what comes behind it can still be right.
  void GoBehind(const std::string& operation) {
    const std::vector<RightCourse::Step>& steps = course_->steps;
    const auto made = std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(next_), steps.end(),
                                   [&](const auto& step) { return step.operation == operation; });
    if (made != steps.end()) next_ = static_cast<size_t>(made - steps.begin()) + 1;
  }

  std::shared_ptr<const Opening> opening_;
  std::shared_ptr<const RightCourse> course_;
  Judging judging_;
  std::string code_;     // the last one
  size_t next_ = 0;      // step that is to be done
  size_t done_ = 0;      // right calls on the way from the first code
  std::string reached_;  // the code that the last of them returned
  int64_t refused_ = 0;  // calls in a row
  std::vector<int64_t> scores_;
  std::optional<std::string> answer_;
};

class Switchboard final : public Environment {
 public:
  Switchboard(std::shared_ptr<const Toolbox> tools, const Judging& judging, bool list_tools)
      : tools_(std::move(tools)), judging_(judging) {
    traits_.name = "switchboard";
    traits_.kind = EnvironmentKind::kToolUse;
    traits_.about = "chains of operations with a form each, which nobody tells";
    traits_.episodes_apart = true;
    traits_.judged_by_answers = judging.by_acceptance;
    if (list_tools) schemas_ = VisibleTools(*this);
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(RightCourse course, CourseOf(task));
    Opening opening;
    HONE_ASSIGN_OR_RETURN(opening.messages, MessagesFor(task));
    opening.tools = schemas_;
    const Json* own = task.metadata.Find("seed");
    opening.session_seed = own == nullptr ? seed : own->AsUint64().value_or(seed);
    return std::unique_ptr<Episode>(
        std::make_unique<SwitchboardEpisode>(std::move(opening), std::move(course), judging_));
  }

 private:
  const std::shared_ptr<const Toolbox> tools_;
  const Judging judging_;
  EnvironmentTraits traits_;
  Json schemas_ = Json::Array();
};

}  // namespace

Result<std::shared_ptr<const Environment>> NewSwitchboard(std::shared_ptr<const Board> board,
                                                          const SwitchboardOptions& options,
                                                          bool list_tools) {
  const Refusals refusals = !options.loud          ? Refusals::kNone
                            : options.skip_refused ? Refusals::kWithCode
                                                   : Refusals::kPlain;
  HONE_ASSIGN_OR_RETURN(
      Toolbox toolbox,
      Toolbox::Of({{NewSwitchboardToolkit(std::move(board), refusals), ToolLimits{}}}));
  const Judging judging{.tries = options.loud ? options.tries : 0,
                        .skip_refused = options.skip_refused,
                        .by_acceptance = options.judge_by_acceptance};
  return std::shared_ptr<const Environment>(std::make_shared<Switchboard>(
      std::make_shared<const Toolbox>(std::move(toolbox)), judging, list_tools));
}

Rules SwitchboardRules(const SwitchboardOptions& options) {
  Rules rules;
  rules.budgets.calls = options.loud ? options.calls * options.tries : options.calls;
  if (!options.loud || options.skip_refused) *rules.budgets.calls += 2;
  rules.budgets.turns = *rules.budgets.calls + 2;
  return rules;
}

}  // namespace hone::switchboard
