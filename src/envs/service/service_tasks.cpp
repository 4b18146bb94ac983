#include "envs/service/service_tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/nearest.h"
#include "envs/service/goals.h"
#include "envs/service/shop.h"

namespace hone::service {
namespace {

constexpr uint64_t kSessionSeeds = uint64_t{1} << 40;
constexpr uint64_t kMaxShops = 200'000;
constexpr int kDrawsPerShop = 16;

// Which combinations belong to which split: as on the desk, one tenth dev, two test. The test
// splits share theirs.
bool BelongsTo(std::string_view key, Split split) {
  const uint64_t tenth = Hash64(key) % 10;
  if (split == Split::kTrain) return tenth >= 3;
  return split == Split::kDev ? tenth == 0 : tenth == 1 || tenth == 2;
}

// A template of a goal's own calls, moved to where these stand in the plan.
Json Moved(const Json& form, size_t by) {
  if (form.is_array()) {
    Json::Array array;
    for (const Json& value : form.AsArray()) array.push_back(Moved(value, by));
    return array;
  }
  if (form.is_object()) {
    Json::Object object;
    for (const auto& [key, value] : form.AsObject()) object.emplace_back(key, Moved(value, by));
    return object;
  }
  if (!form.is_string() || !form.AsString().starts_with("${")) return form;
  const std::string& text = form.AsString();
  const size_t dot = text.find('.');
  const size_t call = std::stoul(text.substr(2, dot - 2));
  return fmt::format("${{{}{}", call + by, text.substr(dot));
}

class ServiceTasks final : public TaskSource {
 public:
  explicit ServiceTasks(const TaskOptions& options) : options_(options) {
    for (const GoalKind& kind : GoalKinds()) {
      const bool wanted =
          options.kinds.empty() ||
          std::find(options.kinds.begin(), options.kinds.end(), kind.name) != options.kinds.end();
      if (wanted) kinds_.push_back(&kind);
    }
  }

  std::optional<uint64_t> count(Split split) const override {
    return KindsIn(split).empty() ? std::optional<uint64_t>(0) : std::nullopt;
  }

  Task Make(Split split, uint64_t index) const override {
    const Rng rng = Rng(options_.seed).Split("service").Split(SplitName(split)).Split(index);
    Rng choice = rng.Split("kinds");
    const std::vector<const GoalKind*> all = KindsIn(split);
    CHECK(!all.empty(), "a split of the service desk without tasks");
    std::vector<const GoalKind*> kinds = {all[choice.Below(all.size())]};
    const bool two = options_.max_goals > 1 && choice.NextDouble() < options_.two_goals;
    // What is never in training is looked at alone.
    if (two && split != Split::kUnseenKinds && !kinds[0]->both_orders) {
      const GoalKind* second = all[choice.Below(all.size())];
      if (!second->both_orders) kinds.push_back(second);
    }
    for (uint64_t n = 0; n < kMaxShops; ++n) {
      Rng draw = rng.Split(n);
      const uint64_t seed = draw.Below(kSessionSeeds);
      const Shop shop = ShopOf(seed);
      for (int i = 0; i < kDrawsPerShop; ++i) {
        std::vector<GoalDraft> goals;
        const Customer& customer = shop.customers[draw.Below(shop.customers.size())];
        Shop changing = shop;
        if (Draw(kinds, customer, split, &draw, &changing, &goals)) {
          return Written(split, index, seed, shop, customer, goals);
        }
      }
    }
    CHECK(false, "a goal that no customer has");
    return {};
  }

 private:
  std::vector<const GoalKind*> KindsIn(Split split) const {
    std::vector<const GoalKind*> kinds;
    for (const GoalKind* kind : kinds_) {
      if (kind->unseen == (split == Split::kUnseenKinds)) kinds.push_back(kind);
    }
    return kinds;
  }

  // Each goal is drawn in the shop as the goals before leave it: what one takes from the stock is
  // not there for the next. `shop` is changed on the way.
  static bool Draw(const std::vector<const GoalKind*>& kinds, const Customer& customer, Split split,
                   Rng* rng, Shop* shop, std::vector<GoalDraft>* goals) {
    GoalSetting setting{shop, &customer, {}, split == Split::kUnseenPhrases, rng};
    for (const Order& order : shop->orders) {
      if (order.customer == customer.email) setting.orders.push_back(&order);
    }
    for (const GoalKind* kind : kinds) {
      GoalDraft& draft = goals->emplace_back();
      draft.goal.kind = kind->name;
      if (!kind->draw(setting, &draft) || !BelongsTo(draft.key, split)) return false;
      std::erase_if(setting.orders,
                    [&](const Order* order) { return order->id == draft.goal.order; });
      for (const PlannedCall& call : draft.calls) {
        CHECK(Apply(call.name, call.arguments, shop).ok(), "a goal that its shop does not fulfil");
      }
    }
    return true;
  }

  static Task Written(Split split, uint64_t index, uint64_t seed, Shop shop,
                      const Customer& customer, const std::vector<GoalDraft>& goals) {
    Plan plan;
    plan.calls.push_back({"find_customer", Json::Of({{"email", customer.email}}), {}});
    Script script{customer.email, {}};
    std::vector<std::string> keys;
    std::string kind, phrase;
    for (const GoalDraft& draft : goals) {
      const size_t by = plan.calls.size();
      Goal goal = draft.goal;
      goal.calls = static_cast<int64_t>(draft.calls.size());
      for (const PlannedCall& call : draft.calls) {
        plan.calls.push_back({call.name, Moved(call.arguments, by), {}});
      }
      for (const std::string& output : draft.outputs) {
        goal.facts.push_back(static_cast<int64_t>(plan.outputs.size()));
        plan.outputs.push_back(Moved(output, by));
      }
      keys.push_back(draft.key);
      kind += fmt::format("{}{}", kind.empty() ? "" : "+", goal.kind);
      phrase += fmt::format("{}{}/{}", phrase.empty() ? "" : "+", goal.kind, draft.phrase);
      script.goals.push_back(std::move(goal));
    }
    Task task;
    task.id = fmt::format("service-{}-{}", SplitName(split), index);
    task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", script.goals[0].request}})};
    task.metadata = Json::Of({{"environment", "service"},
                              {"kind", kind},
                              {"phrase", phrase},
                              {"seed", seed},
                              {"keys", Json::ArrayOf(keys)},
                              {"plan", PlanToJson(plan)},
                              {"user", ScriptToJson(script)}});
    const Result<ResolvedPlan> gold =
        CarryOut(plan, [&](const Call& call) { return Apply(call.name, call.arguments, &shop); });
    CHECK(gold.ok(), "a plan of the service desk that its own shop does not carry out");
    SetGold(*gold, &task);
    return task;
  }

  const TaskOptions options_;
  std::vector<const GoalKind*> kinds_;
};

}  // namespace

Result<void> CheckTaskOptions(const TaskOptions& options) {
  std::vector<std::string> names;
  for (const GoalKind& kind : GoalKinds()) names.emplace_back(kind.name);
  for (const std::string& kind : options.kinds) {
    if (std::find(names.begin(), names.end(), kind) == names.end()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("kinds: no kind \"{}\"{}", kind, DidYouMean(kind, names)));
    }
  }
  if (options.max_goals < 1 || options.max_goals > 2) {
    return Error(ErrorCode::kInvalidArgument, "max_goals: must be 1 or 2");
  }
  return {};
}

TaskOptions ReadTaskOptions(RecipeTable table) {
  TaskOptions options;
  int64_t seed = static_cast<int64_t>(options.seed);
  table.Read("seed", &seed, "of the tasks", AtLeast(0));
  table.Read("max_goals", &options.max_goals, "wishes of one customer", Between(1, 2));
  table.Read("two_goals", &options.two_goals, "how often a customer has two", Between(0, 1));
  table.Read("kinds", &options.kinds, "only goals of these kinds; empty: all");
  options.seed = static_cast<uint64_t>(seed);
  if (const Result<void> checked = CheckTaskOptions(options); !checked.ok()) {
    const std::string& message = checked.error().message();
    table.Problem(message.substr(0, message.find(':')), message.substr(message.find(':') + 2));
  }
  return options;
}

std::unique_ptr<TaskSource> NewTaskSource(const TaskOptions& options) {
  CHECK(CheckTaskOptions(options).ok(), "options that were not checked");
  return std::make_unique<ServiceTasks>(options);
}

}  // namespace hone::service
