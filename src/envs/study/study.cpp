#include "envs/study/study.h"

#include <fmt/format.h>

#include "envs/data_env.h"
#include "envs/study/needs.h"
#include "envs/study/study_tools.h"
#include "record/final_state.h"

namespace hone::study {
namespace {

// Of a result. Two passages have half as many bytes; what code prints beyond would only fill the
// context.
constexpr int64_t kMaxResultBytes = 600;

// What is right, as the task has it.
struct Gold {
  Json answer;
  std::optional<std::vector<Need>> needs;  // absent: nobody says
};

Result<Gold> GoldOf(const Task& task) {
  const auto bad = [&](std::string_view what) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("task \"{}\": {}", task.id, what));
  };
  Gold gold{.answer = task.answer};
  if (!task.answer.is_string() && !task.answer.is_number()) {
    return bad("\"answer\" must be a text or a number");
  }
  const Json* needs = task.metadata.Find("needs");
  if (needs == nullptr) return gold;
  if (!needs->is_array()) return bad("\"metadata.needs\" must be a list");
  gold.needs.emplace();
  for (const Json& one : needs->AsArray()) {
    const Result<Need> need = NeedFromJson(one);
    if (!need.ok()) return bad("\"metadata.needs\": " + need.error().message());
    gold.needs->push_back(*need);
  }
  return gold;
}

class StudyEpisode final : public Episode {
 public:
  StudyEpisode(Opening opening, Gold gold)
      : opening_(std::make_shared<const Opening>(std::move(opening))),
        gold_(std::make_shared<const Gold>(std::move(gold))),
        met_(gold_->needs ? gold_->needs->size() : 0, false) {}

  const Opening& opening() const override { return *opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    if (gold_->needs) {
      for (size_t i = 0; i < turn.calls.size(); ++i) Judge(turn.calls[i], turn.results[i]);
    }
    answer_ = turn.answer;
    EnvironmentTurn reply;
    if (answer_) reply.ending = Ending::kAnswered;
    return reply;
  }

  Json final_state() const override {
    FinalStateWriter state;
    state.Verdict(answer_ && IsRightAnswer(AnswerRule::kText, *answer_, gold_->answer))
        .Answer(answer_ ? Json(*answer_) : Json());
    if (gold_->needs) state.Own("call_scores", Json::ArrayOf(scores_));
    return state.Take();
  }

  Result<std::unique_ptr<Episode>> Clone() const override {
    return std::unique_ptr<Episode>(std::make_unique<StudyEpisode>(*this));
  }

 private:
  void Judge(const Call& call, const ToolResult& result) {
    int64_t score = 0;
    for (size_t n = 0; n < met_.size(); ++n) {
      if (met_[n] || !Brings((*gold_->needs)[n], call, result)) continue;
      met_[n] = true;
      score = 1;
    }
    scores_.push_back(score);
  }

  std::shared_ptr<const Opening> opening_;
  std::shared_ptr<const Gold> gold_;
  std::vector<bool> met_;  // of the needs
  std::vector<int64_t> scores_;
  std::optional<std::string> answer_;
};

class Study final : public Environment {
 public:
  Study(std::shared_ptr<const Toolbox> tools, bool list_tools) : tools_(std::move(tools)) {
    traits_.name = "study";
    traits_.kind = EnvironmentKind::kToolUse;
    traits_.about = "questions for a library, for code, for both, or for neither";
    traits_.episodes_apart = true;
    if (list_tools) schemas_ = VisibleTools(*this);
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(Gold gold, GoldOf(task));
    Opening opening;
    HONE_ASSIGN_OR_RETURN(opening.messages, MessagesFor(task));
    opening.tools = schemas_;
    opening.session_seed = seed;
    return std::unique_ptr<Episode>(
        std::make_unique<StudyEpisode>(std::move(opening), std::move(gold)));
  }

 private:
  const std::shared_ptr<const Toolbox> tools_;
  EnvironmentTraits traits_;
  Json schemas_ = Json::Array();
};

}  // namespace

Result<std::shared_ptr<const Environment>> NewStudy(std::shared_ptr<const Library> library,
                                                    const StudyToolNames& tools, bool list_tools) {
  const ToolLimits limits{.max_result_bytes = kMaxResultBytes};
  std::vector<Toolbox::Kit> kits;
  if (tools.search) {
    HONE_ASSIGN_OR_RETURN(auto search, NewLibrarySearch(std::move(library)));
    kits.push_back({std::move(search), limits});
  }
  if (tools.python) {
    HONE_ASSIGN_OR_RETURN(auto python, NewStudyPython(tools.python_name));
    kits.push_back({std::move(python), limits});
  }
  HONE_ASSIGN_OR_RETURN(Toolbox toolbox, Toolbox::Of(std::move(kits)));
  return std::shared_ptr<const Environment>(
      std::make_shared<Study>(std::make_shared<const Toolbox>(std::move(toolbox)), list_tools));
}

Rules StudyRules() {
  Rules rules;
  rules.budgets.calls = 6;
  rules.budgets.turns = 8;
  return rules;
}

}  // namespace hone::study
