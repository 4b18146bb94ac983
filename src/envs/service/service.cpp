#include "envs/service/service.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_fields.h"
#include "envs/service/played_user.h"
#include "envs/service/service_tools.h"
#include "envs/service/shop.h"
#include "envs/service/user.h"
#include "record/final_state.h"

namespace hone::service {
namespace {

constexpr std::string_view kUserTool = "user";

constexpr std::string_view kPolicy =
    "You serve the customers of a shop. The rules:\n"
    "1. Ask for the customer's email and find the customer before anything else. Only speak of "
    "this customer's orders.\n"
    "2. Only pending orders can be cancelled, sent to another city or have an item exchanged. "
    "Only items of delivered orders can be returned.\n"
    "3. An order is cancelled only because it was a mistake or is not needed. Ask for the reason.\n"
    "4. An exchange is for the same product in another colour that is in stock. Look first.\n"
    "5. Items that cost less than 10 are not taken back.\n"
    "6. Before each change say what you will do and ask: Shall I? Do it when the customer says "
    "yes.\n"
    "7. When something cannot be done, say so, and say why.\n"
    "8. When a wish is fulfilled ask whether there is anything else.";

bool IsUser(std::string_view tool) { return tool == kUserTool; }

std::string CallText(std::string_view name, const Json& arguments) {
  return fmt::format("{} {}", name, DumpJson(arguments, JsonStyle::kCanonical));
}

// What never changes during an episode.
struct Setting {
  hone::Opening opening;
  Script script;
  std::vector<std::string> outputs;
  Shop shop;                        // as it is at first
  Shop gold;                        // after the plan
  std::vector<std::string> writes;  // of the plan; sorted
  bool played = false;              // the customer is a tool
};

Result<std::vector<std::string>> OutputsOf(const Task& task) {
  std::vector<std::string> outputs;
  const Json* json = task.reward.Find("outputs");
  if (json == nullptr) return outputs;
  JsonErrors errors;
  ReadJson(*json, "reward.outputs", &errors, &outputs);
  HONE_RETURN_IF_ERROR(errors.Check());
  return outputs;
}

// The gold calls as the task has them; a simulated world has its own.
Result<std::vector<Call>> GoldCallsOf(const Task& task) {
  std::vector<Call> calls;
  const Json* json = task.reward.Find("calls");
  if (json == nullptr || !json->is_array()) {
    return Error(ErrorCode::kInvalidArgument, "\"reward.calls\" must be a list");
  }
  for (const Json& entry : json->AsArray()) {
    const Json* name = entry.Find("name");
    const Json* arguments = entry.Find("arguments");
    if (name == nullptr || !name->is_string() || arguments == nullptr || !arguments->is_object()) {
      return Error(ErrorCode::kInvalidArgument,
                   "each of \"reward.calls\" needs \"name\" and \"arguments\"");
    }
    calls.push_back({name->AsString(), *arguments, {}});
  }
  return calls;
}

class ServiceEpisode final : public Episode {
 public:
  explicit ServiceEpisode(std::shared_ptr<const Setting> setting)
      : setting_(std::move(setting)),
        shop_(setting_->shop),
        user_(setting_->script, setting_->outputs),
        told_(setting_->outputs.size(), false) {
    conversation_.push_back(
        Json::Of({{"role", "user"}, {"content", setting_->script.goals[0].request}}));
  }

  const hone::Opening& opening() const override { return setting_->opening; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    for (size_t i = 0; i < turn.calls.size(); ++i) Mirror(turn.calls[i], turn.results[i]);
    EnvironmentTurn reply;
    if (!turn.answer) return reply;
    Hear(*turn.answer);
    if (!setting_->played) {
      const ScriptedUser::Line line = user_.Reply(*turn.answer);
      confirmed_ = user_.confirmed();
      return UserSays(line.text, line.stop);
    }
    reply.calls = {{std::string(kUserTool),
                    Json::Of({{"script", PlayedScript(setting_->script, setting_->shop, IsRight())},
                              {"conversation", conversation_}}),
                    {}}};
    return reply;
  }

  EnvironmentTurn Resume(const std::vector<ToolResult>& results) override {
    CHECK(results.size() == 1, "the customer was asked one thing");
    const Result<Json> said = ParseJson(results[0].content);
    const Json* text = said.ok() ? said->Find("text") : nullptr;
    if (results[0].status != CallStatus::kOk || text == nullptr || !text->is_string()) {
      EnvironmentTurn failed;
      failed.ending = Ending::kFailed;
      failed.blame = Blame::kUserSimulator;
      return failed;
    }
    const Json* stop = said->Find("stop");
    return UserSays(text->AsString(), stop != nullptr && *stop == Json(true));
  }

  Json final_state() const override {
    return FinalStateWriter()
        .Verdict(IsRight())
        .Answer(answer_)
        .Own("shop_is_right", foreign_ ? Json() : Json(shop_ == setting_->gold))
        .Own("told", Json::ArrayOf(told_))
        .Own("unconfirmed_writes", setting_->played ? Json() : Json(unconfirmed_writes_))
        .Take();
  }

  Result<std::unique_ptr<Episode>> Clone() const override {
    return std::unique_ptr<Episode>(std::make_unique<ServiceEpisode>(*this));
  }

 private:
  // Does to the episode's own shop what was done to the agent's.
  void Mirror(const Call& call, const ToolResult& result) {
    if (result.status != CallStatus::kOk || IsUser(call.name)) return;
    const Result<Json> own = Apply(call.name, call.arguments, &shop_);
    const Result<Json> seen = ParseJson(result.content);
    if (!own.ok() || !seen.ok() || !(*own == *seen)) foreign_ = true;
    if (!IsWrite(call.name)) return;
    writes_.push_back(CallText(call.name, call.arguments));
    if (!confirmed_) ++unconfirmed_writes_;
  }

  void Hear(const std::string& text) {
    answer_ = text;
    for (size_t i = 0; i < told_.size(); ++i) {
      if (Mentions(text, setting_->outputs[i])) told_[i] = true;
    }
    conversation_.push_back(Json::Of({{"role", "assistant"}, {"content", text}}));
  }

  EnvironmentTurn UserSays(std::string text, bool stop) {
    conversation_.push_back(Json::Of({{"role", "user"}, {"content", text}}));
    EnvironmentTurn reply;
    reply.user = std::move(text);
    if (stop) reply.ending = Ending::kUserStop;
    return reply;
  }

  // The shop is as it should be, and everything was told.
  bool IsRight() const {
    return (foreign_ ? WritesAreRight() : shop_ == setting_->gold) &&
           std::find(told_.begin(), told_.end(), false) == told_.end();
  }

  bool WritesAreRight() const {
    std::vector<std::string> writes = writes_;
    std::sort(writes.begin(), writes.end());
    return writes == setting_->writes;
  }

  std::shared_ptr<const Setting> setting_;
  Shop shop_;
  ScriptedUser user_;
  std::vector<bool> told_;  // by output
  Json::Array conversation_;
  std::vector<std::string> writes_;  // that succeeded
  bool foreign_ = false;             // somebody answered otherwise than the episode's own shop
  bool confirmed_ = false;           // the customer has said yes to what comes next
  int64_t unconfirmed_writes_ = 0;
  Json answer_;  // what the agent said last
};

class Service final : public Environment {
 public:
  Service(std::shared_ptr<const Toolbox> tools, const ServiceOptions& options)
      : tools_(std::move(tools)),
        played_(options.user != nullptr),
        show_policy_(options.show_policy) {
    traits_.name = "service";
    traits_.kind = EnvironmentKind::kMultiTurn;
    traits_.about = "customer service: a policy, a shop that calls change, a customer with wishes";
    traits_.episodes_apart = true;
    if (played_) traits_.hidden_tools = {std::string(kUserTool)};
    if (options.list_tools) schemas_ = VisibleTools(*this);
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    auto setting = Begin(task, seed);
    if (!setting.ok()) return setting.error().In(fmt::format("task \"{}\"", task.id));
    return std::unique_ptr<Episode>(std::make_unique<ServiceEpisode>(*std::move(setting)));
  }

 private:
  Result<std::shared_ptr<const Setting>> Begin(const Task& task, uint64_t seed) const {
    auto setting = std::make_shared<Setting>();
    setting->played = played_;
    const Json* script = task.metadata.Find("user");
    if (script == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   "\"metadata.user\", the customer's script, is missing");
    }
    HONE_ASSIGN_OR_RETURN(const Json messages, MessagesFor(task));
    HONE_ASSIGN_OR_RETURN(setting->script, ScriptFromJson(*script));
    HONE_ASSIGN_OR_RETURN(setting->outputs, OutputsOf(task));
    HONE_ASSIGN_OR_RETURN(const std::vector<Call> calls, GoldCallsOf(task));
    const Json* own = task.metadata.Find("seed");
    setting->opening.session_seed = own == nullptr ? seed : own->AsUint64().value_or(seed);
    setting->shop = ShopOf(setting->opening.session_seed);
    setting->gold = setting->shop;
    for (const Call& call : calls) {
      const Toolbox::Tool* tool = tools_->Find(call.name);
      if (tool == nullptr || IsUser(call.name)) {
        return Error(ErrorCode::kInvalidArgument, tools_->UnknownTool(call.name));
      }
      if (const auto problem = tool->checker.Problem(call.arguments)) {
        return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", call.name, *problem));
      }
      if (!IsWrite(call.name)) continue;
      setting->writes.push_back(CallText(call.name, call.arguments));
      // In a simulated world a write may be right that this shop refuses.
      static_cast<void>(Apply(call.name, call.arguments, &setting->gold).ok());
    }
    std::sort(setting->writes.begin(), setting->writes.end());
    setting->opening.messages = Json::Array();
    if (show_policy_) {
      setting->opening.messages.AsArray().push_back(
          Json::Of({{"role", "system"}, {"content", kPolicy}}));
    }
    for (const Json& message : messages.AsArray()) {
      setting->opening.messages.AsArray().push_back(message);
    }
    setting->opening.tools = schemas_;
    return std::shared_ptr<const Setting>(std::move(setting));
  }

  const std::shared_ptr<const Toolbox> tools_;
  const bool played_, show_policy_;
  EnvironmentTraits traits_;
  Json schemas_ = Json::Array();
};

}  // namespace

std::string_view Policy() { return kPolicy; }

Result<std::shared_ptr<const Environment>> NewService(const ServiceOptions& options) {
  std::vector<Toolbox::Kit> kits = {{NewShopToolkit(), ToolLimits{}}};
  if (options.user != nullptr) {
    const std::vector<ToolSpec>& tools = options.user->tools();
    if (tools.size() != 1 || tools[0].name != kUserTool) {
      return Error(ErrorCode::kInvalidArgument,
                   "who plays the customer must be one tool with the name \"user\"");
    }
    kits.push_back({options.user, options.user_limits});
  }
  HONE_ASSIGN_OR_RETURN(Toolbox toolbox, Toolbox::Of(std::move(kits)));
  return std::shared_ptr<const Environment>(
      std::make_shared<Service>(std::make_shared<const Toolbox>(std::move(toolbox)), options));
}

Rules ServiceRules() {
  Rules rules;
  rules.budgets.turns = 30;
  rules.budgets.calls = 30;
  return rules;
}

}  // namespace hone::service
