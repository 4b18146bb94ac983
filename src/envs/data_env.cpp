#include "envs/data_env.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"
#include "envs/gold.h"
#include "envs/plan.h"
#include "record/final_state.h"
#include "rewards/labels.h"
#include "rewards/matching/answer.h"

namespace hone {
namespace {

constexpr double kTolerance = 1e-6;

std::optional<double> AsNumber(std::string_view text) {
  text = Trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : Trim(text, " \t\r\n.,;:!?\"'")) {
    const bool blank = kBlanks.find(c) != std::string_view::npos;
    if (blank && plain.ends_with(' ')) continue;
    plain += blank ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

// What is right, and by which rule.
struct RightAnswer {
  Json gold;
  AnswerRule rule = AnswerRule::kText;
  std::optional<AnswerKind> kind;  // in place of the rule
  AnswerOptions options;           // of the kind

  // Nothing: it cannot be told here.
  std::optional<bool> Is(const std::optional<std::string>& answer) const {
    if (rule == AnswerRule::kReward || gold.is_null()) return std::nullopt;
    if (kind) {
      const auto match = MatchAnswer(*kind, answer ? Json(*answer) : Json(), gold, options);
      return match.ok() ? std::optional(match->match) : std::nullopt;
    }
    // No rule of texts fits an object: the rewards compare it, by a kind of their own.
    if (gold.is_object()) return std::nullopt;
    return answer && IsRightAnswer(rule, *answer, gold);
  }
};

RightAnswer RightAnswerOf(const Task& task, AnswerRule rule) {
  RightAnswer right{.gold = task.answer, .rule = rule};
  // What is wrong with labels is said by those who score by them.
  const Result<Labels> labels = LabelsOf(task);
  if (!labels.ok() || !labels->answer_kind) return right;
  if (*labels->answer_kind == AnswerKind::kProgram) {
    right.rule = AnswerRule::kReward;
  } else if (*labels->answer_kind != AnswerKind::kVerdict) {
    right.kind = labels->answer_kind;
    right.options = labels->answer_options;
  }
  return right;
}

class DataEpisode final : public Episode {
 public:
  DataEpisode(Opening opening, RightAnswer right, bool single_turn)
      : opening_(std::make_shared<const Opening>(std::move(opening))),
        right_(std::make_shared<const RightAnswer>(std::move(right))),
        single_turn_(single_turn) {}

  const Opening& opening() const override { return *opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    EnvironmentTurn reply;
    answer_ = turn.answer;
    if (answer_ || single_turn_) reply.ending = Ending::kAnswered;
    return reply;
  }

  Json final_state() const override {
    FinalStateWriter state;
    state.Answer(answer_ ? Json(*answer_) : Json());
    if (const std::optional<bool> right = right_->Is(answer_)) state.Verdict(*right);
    return state.Take();
  }

  Result<std::unique_ptr<Episode>> Clone() const override {
    return std::unique_ptr<Episode>(std::make_unique<DataEpisode>(*this));
  }

 private:
  std::shared_ptr<const Opening> opening_;
  std::shared_ptr<const RightAnswer> right_;
  bool single_turn_;
  std::optional<std::string> answer_;
};

class DataEnvironment final : public Environment {
 public:
  DataEnvironment(std::shared_ptr<const Toolbox> tools, const DataOptions& options)
      : tools_(std::move(tools)), options_(options) {
    traits_.name = options.name;
    traits_.kind = options.single_turn ? EnvironmentKind::kSingleTurn : EnvironmentKind::kToolUse;
    traits_.about = "tasks from a file";
    traits_.episodes_apart = true;
    schemas_ = VisibleTools(*this);
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t /*seed*/) const override {
    HONE_ASSIGN_OR_RETURN(const Json messages, MessagesFor(task));
    Opening opening;
    HONE_ASSIGN_OR_RETURN(opening.tools, ToolsFor(task));
    const Json* role = messages.AsArray()[0].Find("role");
    if (!options_.system.empty() && !(role != nullptr && *role == Json("system"))) {
      opening.messages.AsArray().push_back(
          Json::Of({{"role", "system"}, {"content", options_.system}}));
    }
    for (const Json& message : messages.AsArray()) {
      opening.messages.AsArray().push_back(message);
    }
    // A task has one world, whoever plays it and how often: what was recorded, learned or paid for
    // in it is found again.
    const uint64_t world = WorldSeed(1, task);
    const Json* own = task.metadata.Find("seed");
    opening.session_seed = own == nullptr ? world : own->AsUint64().value_or(world);
    return std::unique_ptr<Episode>(std::make_unique<DataEpisode>(
        std::move(opening), RightAnswerOf(task, options_.answer), options_.single_turn));
  }

 private:
  Result<Json> ToolsFor(const Task& task) const {
    if (!task.tools.is_array() || task.tools.AsArray().empty()) {
      return options_.list_tools ? schemas_ : Json(Json::Array());
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<ToolSpec> specs, ToolSpecsFromJson(task.tools));
    for (const ToolSpec& spec : specs) {
      if (tools_->Find(spec.name) == nullptr) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("task \"{}\": nobody answers its tool \"{}\"; add it to [[tools]]",
                                 task.id, spec.name));
      }
    }
    return task.tools;
  }

  const std::shared_ptr<const Toolbox> tools_;
  const DataOptions options_;
  EnvironmentTraits traits_;
  Json schemas_;
};

class ListedTasks final : public TaskSource {
 public:
  explicit ListedTasks(std::map<Split, std::vector<Task>> tasks) : tasks_(std::move(tasks)) {}

  std::optional<uint64_t> count(Split split) const override {
    const auto found = tasks_.find(split);
    return found == tasks_.end() ? 0 : found->second.size();
  }
  Task Make(Split split, uint64_t index) const override { return tasks_.at(split).at(index); }

 private:
  const std::map<Split, std::vector<Task>> tasks_;
};

}  // namespace

bool IsRightAnswer(AnswerRule rule, std::string_view answer, const Json& gold) {
  if (rule == AnswerRule::kReward) return false;
  if (gold.is_array()) {
    return std::any_of(gold.AsArray().begin(), gold.AsArray().end(),
                       [&](const Json& one) { return IsRightAnswer(rule, answer, one); });
  }
  const std::string wanted = PlainText(gold);
  if (rule == AnswerRule::kExact) return answer == wanted;
  const std::optional<double> a = AsNumber(answer), b = AsNumber(wanted);
  if (a && b) return std::abs(*a - *b) <= kTolerance * std::max(1.0, std::abs(*b));
  return Plain(answer) == Plain(wanted);
}

std::shared_ptr<const Environment> NewDataEnvironment(std::shared_ptr<const Toolbox> tools,
                                                      const DataOptions& options) {
  return std::make_shared<DataEnvironment>(std::move(tools), options);
}

std::unique_ptr<TaskSource> NewListedTasks(std::map<Split, std::vector<Task>> tasks) {
  return std::make_unique<ListedTasks>(std::move(tasks));
}

}  // namespace hone
