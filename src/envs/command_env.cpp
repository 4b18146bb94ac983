#include "envs/command_env.h"

#include <fmt/format.h>

#include "base/json_fields.h"
#include "base/mutex.h"
#include "base/subprocess.h"
#include "record/record_json.h"
#include "tools/command/program_environment.h"

namespace hone {
namespace {

// The program, and whose turn it is to talk to it.
class Program {
 public:
  explicit Program(const CommandEnvOptions& options) : options_(options) {}

  // One request and its reply. `generation` says which start of the program an episode belongs to;
  // 0: this request may start it.
  Result<Json> Ask(const Json& request, uint64_t* generation) {
    MutexLock lock(mutex_);
    if (*generation != 0 && *generation != generation_) {
      return Error(ErrorCode::kUnavailable, "the environment's program was started afresh");
    }
    if (process_ == nullptr) {
      if (*generation != 0) {
        return Error(ErrorCode::kUnavailable, "the environment's program is gone");
      }
      HONE_ASSIGN_OR_RETURN(
          process_, Subprocess::Start(options_.command,
                                      {.environment = ProgramEnvironment(kEnvironmentRole)}));
      ++generation_;
    }
    *generation = generation_;
    Result<Json> reply = Exchange(request);
    // What it says next would be taken for the reply to another request.
    if (!reply.ok()) process_ = nullptr;
    return reply;
  }

 private:
  Result<Json> Exchange(const Json& request) HONE_REQUIRES(mutex_) {
    HONE_RETURN_IF_ERROR(process_->Write(DumpJson(request) + "\n", options_.deadline));
    HONE_ASSIGN_OR_RETURN(const std::string line, process_->ReadLine(options_.deadline));
    HONE_ASSIGN_OR_RETURN(Json reply, ParseJson(line));
    if (!reply.is_object()) {
      return Error(ErrorCode::kParse, fmt::format("wants an object, not {}", reply.KindName()));
    }
    return reply;
  }

  const CommandEnvOptions options_;
  Mutex mutex_;
  std::unique_ptr<Subprocess> process_ HONE_GUARDED_BY(mutex_);
  uint64_t generation_ HONE_GUARDED_BY(mutex_) = 0;
};

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

class CommandEpisode final : public Episode {
 public:
  CommandEpisode(std::shared_ptr<Program> program, uint64_t generation, Json id, Opening opening)
      : program_(std::move(program)),
        generation_(generation),
        id_(std::move(id)),
        opening_(std::move(opening)) {}

  ~CommandEpisode() override {
    // Nobody waits for the outcome; a program that is gone has forgotten the episode anyway.
    static_cast<void>(
        program_->Ask(Json::Of({{"method", "close"}, {"episode", id_}}), &generation_).ok());
  }

  const Opening& opening() const override { return opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    return Take(Json::Of({{"method", "step"}, {"episode", id_}, {"turn", TurnJson(turn)}}));
  }

  EnvironmentTurn Resume(const std::vector<ToolResult>& results) override {
    return Take(
        Json::Of({{"method", "resume"}, {"episode", id_}, {"results", ResultsJson(results)}}));
  }

  Json final_state() const override { return final_state_; }

  Result<std::unique_ptr<Episode>> Clone() const override {
    uint64_t generation = generation_;
    HONE_ASSIGN_OR_RETURN(
        const Json reply,
        Checked(program_->Ask(Json::Of({{"method", "clone"}, {"episode", id_}}), &generation)));
    const Json* id = reply.Find("episode");
    if (id == nullptr) {
      return Error(ErrorCode::kUnsupported, "the environment's program names no cloned episode");
    }
    auto copy = std::make_unique<CommandEpisode>(program_, generation, *id, opening_);
    copy->final_state_ = final_state_;
    return std::unique_ptr<Episode>(std::move(copy));
  }

 private:
  EnvironmentTurn Take(const Json& request) {
    Result<Json> reply = Checked(program_->Ask(request, &generation_));
    Result<EnvironmentTurn> turn =
        reply.ok() ? TurnFromJson(*reply, &final_state_) : Result<EnvironmentTurn>(reply.error());
    if (turn.ok()) return *turn;
    final_state_ = Json::Of({{"error", turn.error().message()}});
    EnvironmentTurn failed;
    failed.ending = Ending::kFailed;
    failed.blame = Blame::kEnvironment;
    return failed;
  }

  std::shared_ptr<Program> program_;
  uint64_t generation_;
  const Json id_;
  const Opening opening_;
  Json final_state_ = Json::Object();
};

class CommandEnvironment final : public Environment {
 public:
  CommandEnvironment(std::shared_ptr<const Toolbox> tools, const CommandEnvOptions& options)
      : tools_(std::move(tools)), program_(std::make_shared<Program>(options)) {
    traits_.name = options.name;
    traits_.kind = options.kind;
    traits_.about = "a program: " + (options.command.empty() ? "" : options.command[0]);
    traits_.hidden_tools = options.hidden_tools;
    schemas_ = VisibleTools(*this);
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    uint64_t generation = 0;
    const Result<Json> reply = Checked(program_->Ask(
        Json::Of({{"method", "reset"}, {"task", TaskToJson(task)}, {"seed", seed}}), &generation));
    if (!reply.ok()) return reply.error().In(fmt::format("task \"{}\": reset", task.id));
    Opening opening;
    opening.messages = task.messages;
    opening.tools = schemas_;
    opening.session_seed = seed;
    const Json* id = reply->Find("episode");
    if (id == nullptr) {
      return Error(ErrorCode::kInvalidArgument, "the reply to reset has no \"episode\"");
    }
    if (const Json* messages = reply->Find("messages")) opening.messages = *messages;
    if (const Json* tools = reply->Find("tools")) opening.tools = *tools;
    if (!opening.messages.is_array() || !opening.tools.is_array()) {
      return Error(ErrorCode::kInvalidArgument,
                   "the reply to reset: \"messages\" and \"tools\" must be lists");
    }
    return std::unique_ptr<Episode>(
        std::make_unique<CommandEpisode>(program_, generation, *id, std::move(opening)));
  }

 private:
  const std::shared_ptr<const Toolbox> tools_;
  const std::shared_ptr<Program> program_;
  EnvironmentTraits traits_;
  Json schemas_;
};

}  // namespace

std::shared_ptr<const Environment> NewCommandEnvironment(std::shared_ptr<const Toolbox> tools,
                                                         const CommandEnvOptions& options) {
  return std::make_shared<CommandEnvironment>(std::move(tools), options);
}

}  // namespace hone
