#include "envs/desk/desk.h"

#include <algorithm>

#include <fmt/format.h>

#include "envs/desk/desk_tools.h"
#include "record/final_state.h"

namespace hone::desk {
namespace {

// A call as text: equal calls are equal texts.
std::string CallText(std::string_view name, const Json& arguments) {
  return fmt::format("{} {}", name, DumpJson(arguments, JsonStyle::kCanonical));
}

// What is right, as the task has it.
struct Gold {
  std::string answer;
  std::vector<std::string> sends;  // sorted
  std::vector<std::string> first;  // the texts of right first calls; empty: it is the answer
};

Result<Gold> GoldOf(const Task& task) {
  const auto bad = [&](std::string_view what) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("task \"{}\": {}", task.id, what));
  };
  Gold gold;
  if (!task.answer.is_string()) return bad("\"answer\" must be a text");
  gold.answer = task.answer.AsString();
  const Json* calls = task.reward.Find("calls");
  if (calls == nullptr || !calls->is_array()) return bad("\"reward.calls\" must be a list");
  for (const Json& call : calls->AsArray()) {
    const Json* name = call.Find("name");
    const Json* arguments = call.Find("arguments");
    if (name == nullptr || !name->is_string() || arguments == nullptr || !arguments->is_object()) {
      return bad("each of \"reward.calls\" needs \"name\" and \"arguments\"");
    }
    const std::string text = CallText(name->AsString(), *arguments);
    if (name->AsString() == "send") gold.sends.push_back(text);
    if (&call != &calls->AsArray().front()) continue;
    gold.first.push_back(text);
    const Json* accepted = call.Find("accepted");
    const Json* others = accepted == nullptr ? nullptr : accepted->Find("expression");
    if (others == nullptr || !others->is_array()) continue;
    for (const Json& other : others->AsArray()) {
      gold.first.push_back(CallText(name->AsString(), Json::Of({{"expression", other}})));
    }
  }
  std::sort(gold.sends.begin(), gold.sends.end());
  return gold;
}

class DeskEpisode final : public Episode {
 public:
  DeskEpisode(Opening opening, Gold gold, bool quiz)
      : opening_(std::make_shared<const Opening>(std::move(opening))),
        gold_(std::make_shared<const Gold>(std::move(gold))),
        quiz_(quiz) {}

  const Opening& opening() const override { return *opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    for (size_t i = 0; i < turn.calls.size(); ++i) {
      if (turn.calls[i].name == "send" && turn.results[i].status == CallStatus::kOk) {
        outbox_.push_back(CallText("send", turn.calls[i].arguments));
      }
    }
    answer_ = turn.answer;
    EnvironmentTurn reply;
    if (quiz_) {
      right_ = IsRightFirst(turn);
      reply.ending = Ending::kAnswered;
    } else if (answer_) {
      right_ = *answer_ == gold_->answer && OutboxIsRight();
      reply.ending = Ending::kAnswered;
    }
    return reply;
  }

  Json final_state() const override {
    return FinalStateWriter()
        .Verdict(right_)
        .Answer(answer_ ? Json(*answer_) : Json())
        .Own("sent", Json::ArrayOf(outbox_))
        .Take();
  }

  Result<std::unique_ptr<Episode>> Clone() const override {
    return std::unique_ptr<Episode>(std::make_unique<DeskEpisode>(*this));
  }

 private:
  bool OutboxIsRight() const {
    std::vector<std::string> sent = outbox_;
    std::sort(sent.begin(), sent.end());
    return sent == gold_->sends;
  }

  bool IsRightFirst(const AgentTurn& turn) const {
    if (gold_->first.empty()) return turn.calls.empty() && turn.answer == gold_->answer;
    if (turn.calls.size() != 1) return false;
    const std::string text = CallText(turn.calls[0].name, turn.calls[0].arguments);
    return std::find(gold_->first.begin(), gold_->first.end(), text) != gold_->first.end();
  }

  std::shared_ptr<const Opening> opening_;
  std::shared_ptr<const Gold> gold_;
  bool quiz_;
  std::vector<std::string> outbox_;
  std::optional<std::string> answer_;
  bool right_ = false;
};

class Desk final : public Environment {
 public:
  Desk(std::shared_ptr<const Toolbox> tools, const DeskOptions& options)
      : tools_(std::move(tools)), options_(options) {
    traits_.name = options.quiz ? "quiz" : "desk";
    traits_.kind = options.quiz ? EnvironmentKind::kSingleTurn : EnvironmentKind::kToolUse;
    traits_.about = options.quiz ? "the desk's requests, of which only the first turn counts"
                                 : "requests at a desk: when to call, which tool, how, pipelines";
    traits_.episodes_apart = true;
    if (options.list_tools) schemas_ = VisibleTools(*this);
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(Gold gold, GoldOf(task));
    Opening opening;
    HONE_ASSIGN_OR_RETURN(opening.messages, MessagesFor(task));
    opening.tools = schemas_;
    // A generated task is about a world of its own.
    const Json* own = task.metadata.Find("seed");
    opening.session_seed = own == nullptr ? seed : own->AsUint64().value_or(seed);
    return std::unique_ptr<Episode>(
        std::make_unique<DeskEpisode>(std::move(opening), std::move(gold), options_.quiz));
  }

 private:
  const std::shared_ptr<const Toolbox> tools_;
  const DeskOptions options_;
  EnvironmentTraits traits_;
  Json schemas_ = Json::Array();
};

}  // namespace

Result<std::shared_ptr<const Environment>> NewDesk(const DeskOptions& options) {
  HONE_ASSIGN_OR_RETURN(Toolbox toolbox, Toolbox::Of({{NewDeskToolkit(), ToolLimits{}}}));
  return std::shared_ptr<const Environment>(
      std::make_shared<Desk>(std::make_shared<const Toolbox>(std::move(toolbox)), options));
}

Rules DeskRules() {
  Rules rules;
  rules.budgets.calls = 6;
  rules.budgets.turns = 8;
  return rules;
}

}  // namespace hone::desk
