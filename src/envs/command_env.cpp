#include "envs/command_env.h"

#include <fmt/format.h>

#include "base/json_fields.h"
#include "envs/command_workers.h"
#include "record/record_json.h"

namespace hone {
namespace {

// An error that the program reports is its say; the program goes on.
Result<Json> Checked(Result<Json> reply) {
  if (!reply.ok()) return reply;
  const Json* error = reply->Find("error");
  if (error == nullptr) return reply;
  return Error(ErrorCode::kInvalidArgument, error->is_string() ? error->AsString() : "error");
}

constexpr Ending kEndings[] = {
    Ending::kAnswered, Ending::kEos,  Ending::kTurnLimit, Ending::kTokenLimit,  Ending::kBudget,
    Ending::kUserStop, Ending::kVoid, Ending::kInvalid,   Ending::kInterrupted, Ending::kFailed};
constexpr Blame kBlames[] = {Blame::kNone,        Blame::kAgent,         Blame::kTool,
                             Blame::kSimulator,   Blame::kUserSimulator, Blame::kJudge,
                             Blame::kEnvironment, Blame::kInfrastructure};

template <typename T, size_t kCount, typename Name>
bool FromName(const T (&values)[kCount], Name name_of, std::string_view name, T* value) {
  for (const T one : values) {
    if (name_of(one) != name) continue;
    *value = one;
    return true;
  }
  return false;
}

Json CallsJson(const std::vector<Call>& calls) {
  Json::Array array;
  for (const Call& call : calls) {
    array.push_back(Json::Of({{"name", call.name}, {"arguments", call.arguments}}));
  }
  return array;
}

Json ResultsJson(const std::vector<ToolResult>& results) {
  Json::Array array;
  for (const ToolResult& result : results) array.push_back(ToolResultToJson(result));
  return array;
}

Json TurnJson(const AgentTurn& turn) {
  return Json::Of({{"calls", CallsJson(turn.calls)},
                   {"results", ResultsJson(turn.results)},
                   {"answer", turn.answer ? Json(*turn.answer) : Json()},
                   {"tokens", turn.tokens}});
}

Result<EnvironmentTurn> TurnFromJson(const Json& json, Json* final_state) {
  EnvironmentTurn turn;
  std::optional<std::string> ending, blame;
  std::vector<Json> calls;
  JsonErrors errors;
  {
    JsonFields fields(json, "reply", &errors);
    fields.Optional("user", &turn.user);
    fields.Optional("notices", &turn.notices);
    fields.Optional("ending", &ending);
    fields.Optional("blame", &blame);
    fields.Optional("calls", &calls);
    fields.Optional("final_state", final_state);
    for (size_t i = 0; i < calls.size(); ++i) {
      JsonFields call(calls[i], fmt::format("reply.calls[{}]", i), &errors);
      Call& read = turn.calls.emplace_back();
      call.Required("name", &read.name);
      call.Required("arguments", &read.arguments);
    }
    if (ending && !FromName(kEndings, EndingName, *ending, &turn.ending.emplace())) {
      errors.Add("reply.ending", fmt::format("there is no ending \"{}\"", *ending));
    }
    if (blame && !FromName(kBlames, BlameName, *blame, &turn.blame)) {
      errors.Add("reply.blame", fmt::format("there is no blame \"{}\"", *blame));
    }
    if (!final_state->is_object()) errors.Add("reply.final_state", "wants an object");
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  return turn;
}

// What a lost episode is built again from, and its clones likewise.
struct EpisodeHistory {
  Json reset;
  std::vector<Json> requests;  // those that were answered, without "episode"
};

class CommandEpisode final : public Episode {
 public:
  CommandEpisode(std::shared_ptr<CommandWorkers> workers, CommandWorkers::Place place,
                 EpisodeHistory history, Opening opening)
      : workers_(std::move(workers)),
        place_(std::move(place)),
        history_(std::move(history)),
        opening_(std::move(opening)) {}

  ~CommandEpisode() override { workers_->Close(place_); }

  const Opening& opening() const override { return opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    return Take(Json::Of({{"method", "step"}, {"turn", TurnJson(turn)}}));
  }

  EnvironmentTurn Resume(const std::vector<ToolResult>& results) override {
    return Take(Json::Of({{"method", "resume"}, {"results", ResultsJson(results)}}));
  }

  Json final_state() const override { return final_state_; }

  Result<std::unique_ptr<Episode>> Clone() const override {
    HONE_ASSIGN_OR_RETURN(CommandWorkers::Place place, CloneInProgram());
    auto copy = std::make_unique<CommandEpisode>(workers_, std::move(place), history_, opening_);
    copy->final_state_ = final_state_;
    return std::unique_ptr<Episode>(std::move(copy));
  }

 private:
  Result<CommandWorkers::Place> CloneInProgram() const {
    CommandWorkers::Place place = place_;
    if (workers_->IsLost(place)) return CommandWorkers::Place{};  // built when it is needed
    HONE_ASSIGN_OR_RETURN(
        const Json reply,
        Checked(workers_->Ask(place, Json::Of({{"method", "clone"}, {"episode", place.episode}}))));
    const Json* id = reply.Find("episode");
    if (id == nullptr) {
      return Error(ErrorCode::kUnsupported, "the environment's program names no cloned episode");
    }
    place.episode = *id;
    return place;
  }

  // Its program was replaced because of another episode: what was said is said again to a fresh
  // one. An episode is a function of its task, its seed and the turns it was given.
  Result<void> BuildAgain() {
    HONE_ASSIGN_OR_RETURN(const Json opened, workers_->Open(history_.reset, &place_));
    HONE_RETURN_IF_ERROR(Checked(opened));
    for (const Json& request : history_.requests) {
      HONE_RETURN_IF_ERROR(Checked(workers_->Ask(place_, WithEpisode(request))));
    }
    return {};
  }

  Json WithEpisode(Json request) const {
    request.Set("episode", place_.episode);
    return request;
  }

  Result<Json> Exchange(const Json& request) {
    if (failed_) return Error(ErrorCode::kUnavailable, "the episode has failed before");
    if (workers_->IsLost(place_)) HONE_RETURN_IF_ERROR(BuildAgain());
    Result<Json> reply = workers_->Ask(place_, WithEpisode(request));
    // Lost while it waited for its turn: nothing of this request was heard.
    if (!reply.ok() && reply.error().code() == ErrorCode::kNotFound) {
      HONE_RETURN_IF_ERROR(BuildAgain());
      reply = workers_->Ask(place_, WithEpisode(request));
    }
    return Checked(std::move(reply));
  }

  EnvironmentTurn Take(const Json& request) {
    const Result<Json> reply = Exchange(request);
    Result<EnvironmentTurn> turn =
        reply.ok() ? TurnFromJson(*reply, &final_state_) : Result<EnvironmentTurn>(reply.error());
    if (turn.ok()) {
      history_.requests.push_back(request);
      return *turn;
    }
    failed_ = true;
    final_state_ = Json::Of({{"error", turn.error().message()}});
    EnvironmentTurn failed;
    failed.ending = Ending::kFailed;
    failed.blame = Blame::kEnvironment;
    return failed;
  }

  const std::shared_ptr<CommandWorkers> workers_;
  CommandWorkers::Place place_;
  EpisodeHistory history_;
  const Opening opening_;
  Json final_state_ = Json::Object();
  bool failed_ = false;
};

class CommandEnvironment final : public Environment {
 public:
  CommandEnvironment(std::shared_ptr<const Toolbox> tools, const CommandEnvOptions& options)
      : tools_(std::move(tools)), workers_(std::make_shared<CommandWorkers>(options)) {
    traits_.name = options.name;
    traits_.kind = options.kind;
    traits_.about = "a program: " + (options.command.empty() ? "" : options.command[0]);
    traits_.hidden_tools = options.hidden_tools;
    traits_.steps_wait = true;
    schemas_ = VisibleTools(*this);
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    EpisodeHistory history{
        .reset = Json::Of({{"method", "reset"}, {"task", TaskToJson(task)}, {"seed", seed}})};
    CommandWorkers::Place place;
    const Result<Json> reply = Checked(workers_->Open(history.reset, &place));
    if (!reply.ok()) return reply.error().In(fmt::format("task \"{}\": reset", task.id));
    Opening opening;
    opening.messages = task.messages;
    opening.tools = schemas_;
    opening.session_seed = seed;
    if (const Json* messages = reply->Find("messages")) opening.messages = *messages;
    if (const Json* tools = reply->Find("tools")) opening.tools = *tools;
    if (!opening.messages.is_array() || !opening.tools.is_array()) {
      return Error(ErrorCode::kInvalidArgument,
                   "the reply to reset: \"messages\" and \"tools\" must be lists");
    }
    return std::unique_ptr<Episode>(std::make_unique<CommandEpisode>(
        workers_, std::move(place), std::move(history), std::move(opening)));
  }

 private:
  const std::shared_ptr<const Toolbox> tools_;
  const std::shared_ptr<CommandWorkers> workers_;
  EnvironmentTraits traits_;
  Json schemas_;
};

}  // namespace

std::shared_ptr<const Environment> NewCommandEnvironment(std::shared_ptr<const Toolbox> tools,
                                                         const CommandEnvOptions& options) {
  return std::make_shared<CommandEnvironment>(std::move(tools), options);
}

}  // namespace hone
