#include "envs/openenv/openenv_env.h"

#include <algorithm>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/mutex.h"
#include "base/strings.h"
#include "envs/openenv/openenv_session.h"

namespace hone {
namespace {

constexpr std::string_view kWholeAction = "json";

// How an answer becomes an action.
struct ActionForm {
  std::string member;    // kWholeAction: the answer is the action
  bool is_text = true;   // else the member is some other value, written as JSON
  std::string expected;  // for the agent, where an answer is none
};

// The only member that the schema demands. Where it demands several, or none, an answer has to say
// all of it.
ActionForm FormOf(const Json& schema) {
  const Json *properties = schema.Find("properties"), *required = schema.Find("required");
  std::vector<std::string> names;
  if (required != nullptr && required->is_array()) {
    for (const Json& name : required->AsArray()) {
      if (name.is_string() && name.AsString() != "metadata") names.push_back(name.AsString());
    }
  }
  const Json* only = names.size() == 1 && properties != nullptr && properties->is_object()
                         ? properties->Find(names[0])
                         : nullptr;
  if (only == nullptr) {
    return {std::string(kWholeAction), false,
            "a JSON object that fits " + DumpJson(schema, JsonStyle::kSpaced)};
  }
  const Json* type = only->Find("type");
  const bool text = type != nullptr && *type == Json("string");
  return {names[0], text, "a value that fits " + DumpJson(*only, JsonStyle::kSpaced)};
}

// The action that an answer is; nothing when it is none.
std::optional<Json> ActionOf(const ActionForm& form, const std::string& answer) {
  if (form.is_text) return Json::Of({{form.member, answer}});
  Result<Json> value = ParseJson(Trim(answer));
  if (!value.ok()) return std::nullopt;
  if (form.member != kWholeAction) return Json::Of({{form.member, *std::move(value)}});
  if (!value->is_object()) return std::nullopt;
  return *std::move(value);
}

// What the agent reads of an observation.
std::string ShownObservation(const Json& observation, const std::string& member) {
  if (!member.empty()) {
    const Json* found = observation.Find(member);
    if (found == nullptr) return DumpJson(observation, JsonStyle::kSpaced);
    return found->is_string() ? found->AsString() : DumpJson(*found, JsonStyle::kSpaced);
  }
  const Json::Object& members = observation.AsObject();
  const auto is_text = [](const Json::Member& one) { return one.second.is_string(); };
  if (std::count_if(members.begin(), members.end(), is_text) == 1) {
    return std::find_if(members.begin(), members.end(), is_text)->second.AsString();
  }
  return DumpJson(observation, JsonStyle::kSpaced);
}

// What episodes of one environment share.
class OpenEnvServer {
 public:
  explicit OpenEnvServer(const OpenEnvOptions& how) : options(how) {}

  // Opens a session and resets it. A server frees the place of an episode that is over a little
  // later than we let it go, so a server without room is asked again until the deadline.
  Result<OpenEnvObservation> Open(const Json& parameters,
                                  std::unique_ptr<OpenEnvSession>* session) const {
    const auto until = std::chrono::steady_clock::now() + options.deadline;
    constexpr std::chrono::milliseconds kPause{20};
    while (true) {
      if (options.transport == "http") {
        *session = NewOpenEnvHttp(options.url, options.deadline);
      } else {
        HONE_ASSIGN_OR_RETURN(*session, NewOpenEnvWebSocket(options.url, options.deadline));
      }
      Result<OpenEnvObservation> opened = (*session)->Reset(parameters);
      if (opened.ok() || opened.error().code() != ErrorCode::kFull) return opened;
      if (std::chrono::steady_clock::now() >= until) {
        return Error(ErrorCode::kFull,
                     fmt::format("{}; the recipe's environment.episodes is {}: the server must "
                                 "allow as many sessions (max_concurrent_envs)",
                                 opened.error().message(), options.episodes));
      }
      std::this_thread::sleep_for(kPause);
    }
  }

  // By the recipe, or by the server's schema, which is asked once.
  Result<ActionForm> Form() const {
    if (options.action == kWholeAction) return ActionForm{options.action, false, "a JSON object"};
    if (!options.action.empty()) return ActionForm{options.action, true, ""};
    const MutexLock lock(mutex_);
    if (!form_) {
      const Result<Json> schema = OpenEnvActionSchema(options.url, options.deadline);
      if (!schema.ok() && schema.error().code() == ErrorCode::kNotFound) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("{}/schema: {}; say with environment.action which member of an "
                                 "action the agent's answer is",
                                 options.url, schema.error().message()));
      }
      if (!schema.ok()) return schema.error();
      form_ = FormOf(*schema);
    }
    return *form_;
  }

  const OpenEnvOptions options;

 private:
  mutable Mutex mutex_;
  mutable std::optional<ActionForm> form_ HONE_GUARDED_BY(mutex_);
};

class OpenEnvEpisode final : public Episode {
 public:
  OpenEnvEpisode(std::shared_ptr<const OpenEnvServer> server, ActionForm form, Json parameters)
      : server_(std::move(server)), form_(std::move(form)), parameters_(std::move(parameters)) {}

  Result<void> Begin(Opening opening) {
    HONE_ASSIGN_OR_RETURN(const OpenEnvObservation first, server_->Open(parameters_, &session_));
    opening_ = std::move(opening);
    const std::string text = ShownObservation(first.observation, server_->options.observation);
    Json::Array& messages = opening_.messages.AsArray();
    // What the task says and what the server shows are one message of the user's.
    const Json* role = messages.empty() ? nullptr : messages.back().Find("role");
    const Json* content = role != nullptr ? messages.back().Find("content") : nullptr;
    if (content != nullptr && *role == Json("user") && content->is_string()) {
      const std::string said = content->AsString();
      messages.back().Set("content", said.empty() ? text : said + "\n\n" + text);
    } else {
      messages.push_back(Json::Of({{"role", "user"}, {"content", text}}));
    }
    return {};
  }

  const Opening& opening() const override { return opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    EnvironmentTurn reply;
    if (!turn.answer) return reply;  // only calls: Hone carried them out
    answer_ = *turn.answer;
    const std::optional<Json> action = ActionOf(form_, answer_);
    if (!action) {
      reply.notices.push_back("Your answer is no action. Answer with " + form_.expected + ".");
      return reply;
    }
    const Result<OpenEnvObservation> next = session_->Step(*action);
    if (!next.ok() && next.error().code() == ErrorCode::kInvalidArgument) {
      reply.notices.push_back("The environment refuses this action: " + next.error().message());
      return reply;
    }
    if (!next.ok()) return Failed(next.error());
    actions_.push_back(*action);
    Count(next->reward);
    observation_ = next->observation;
    if (!next->done) {
      reply.user = ShownObservation(next->observation, server_->options.observation);
      return reply;
    }
    reply.ending = Ending::kAnswered;
    if (Result<Json> state = session_->State(); state.ok()) state_ = *std::move(state);
    return reply;
  }

  Json final_state() const override {
    Json state = Json::Of({{"answer", answer_.empty() ? Json() : Json(answer_)},
                           {"steps", static_cast<int64_t>(actions_.size())}});
    if (!error_.empty()) state.Set("error", error_);
    if (!observation_.is_null()) state.Set("observation", observation_);
    if (!state_.is_null()) state.Set("state", state_);
    if (!reward_) return state;
    state.Set("reward", *reward_);
    const OpenEnvOptions& options = server_->options;
    const double share = std::clamp(
        (*reward_ - options.reward_low) / (options.reward_high - options.reward_low), 0.0, 1.0);
    // All or nothing is a verdict that counts as success or failure.
    state.Set("verdict", share == 0 || share == 1 ? Json(share == 1) : Json(share));
    return state;
  }

  // A second session that was told the same: by its seed the server makes the same world.
  Result<std::unique_ptr<Episode>> Clone() const override {
    if (server_->options.transport == "http") {
      return Error(ErrorCode::kUnsupported, "the server has one episode, which has no copy");
    }
    auto copy = std::make_unique<OpenEnvEpisode>(server_, form_, parameters_);
    HONE_RETURN_IF_ERROR(server_->Open(parameters_, &copy->session_));
    for (const Json& action : actions_) {
      HONE_RETURN_IF_ERROR(copy->session_->Step(action));
    }
    copy->opening_ = opening_;
    copy->actions_ = actions_;
    copy->answer_ = answer_;
    copy->error_ = error_;
    copy->observation_ = observation_;
    copy->state_ = state_;
    copy->reward_ = reward_;
    return std::unique_ptr<Episode>(std::move(copy));
  }

 private:
  EnvironmentTurn Failed(const Error& error) {
    error_ = error.message();
    EnvironmentTurn failed;
    failed.ending = Ending::kFailed;
    failed.blame = Blame::kEnvironment;
    return failed;
  }

  void Count(const Json& reward) {
    if (!reward.is_number()) return;
    const bool add = server_->options.reward == "sum";
    reward_ = (add ? reward_.value_or(0) : 0) + reward.AsDouble();
  }

  const std::shared_ptr<const OpenEnvServer> server_;
  const ActionForm form_;
  const Json parameters_;  // of the reset
  std::unique_ptr<OpenEnvSession> session_;
  Opening opening_;
  std::vector<Json> actions_;  // that the server took
  std::string answer_, error_;
  Json observation_, state_;
  std::optional<double> reward_;
};

class OpenEnvEnvironment final : public Environment {
 public:
  OpenEnvEnvironment(std::shared_ptr<const Toolbox> tools, const OpenEnvOptions& options)
      : tools_(std::move(tools)), server_(std::make_shared<const OpenEnvServer>(options)) {
    traits_.name = options.name;
    traits_.kind = EnvironmentKind::kMultiTurn;
    traits_.about = "an OpenEnv server: " + options.url;
    traits_.hidden_tools = options.hidden_tools;
    traits_.steps_wait = true;
    traits_.episodes_at_once = options.transport == "http" ? 1 : options.episodes;
    schemas_ = VisibleTools(*this);
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(ActionForm form, server_->Form());
    // Their seeds are numbers that any generator takes.
    constexpr uint64_t kSeeds = 1ULL << 31;
    Json parameters = Json::Of({{"seed", static_cast<int64_t>(seed % kSeeds)}});
    if (const Json* given = task.metadata.Find("reset"); given != nullptr && given->is_object()) {
      for (const auto& [name, value] : given->AsObject()) parameters.Set(name, value);
    }
    auto episode =
        std::make_unique<OpenEnvEpisode>(server_, std::move(form), std::move(parameters));
    Opening opening;
    if (task.messages.is_array()) opening.messages = task.messages;
    opening.tools = schemas_;
    opening.session_seed = seed;
    if (Result<void> begun = episode->Begin(std::move(opening)); !begun.ok()) {
      return begun.error().In(fmt::format("task \"{}\": {}", task.id, server_->options.url));
    }
    return std::unique_ptr<Episode>(std::move(episode));
  }

 private:
  const std::shared_ptr<const Toolbox> tools_;
  const std::shared_ptr<const OpenEnvServer> server_;
  EnvironmentTraits traits_;
  Json schemas_;
};

}  // namespace

std::shared_ptr<const Environment> NewOpenEnvEnvironment(std::shared_ptr<const Toolbox> tools,
                                                         const OpenEnvOptions& options) {
  return std::make_shared<OpenEnvEnvironment>(std::move(tools), options);
}

}  // namespace hone
