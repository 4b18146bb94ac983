#include "envs/planned_gold.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "envs/plan.h"

namespace hone {
namespace {

// The parameters of each call of a plan that refer to results, and the calls that they refer to.
struct OpenParameters {
  std::set<std::string> names;
  std::set<int32_t> after;
};

// "calls[1].arguments.city": call 1, parameter "city". Accepted values stand beside the arguments.
std::map<size_t, OpenParameters> OpenIn(const Plan& plan) {
  std::map<size_t, OpenParameters> open;
  for (size_t i = 0; i < plan.calls.size(); ++i) {
    const std::string call = "calls[" + std::to_string(i) + "].";
    for (const PlanReference& reference : ReferencesIn(plan)) {
      for (const std::string part : {"arguments.", "accepted."}) {
        if (!reference.where.starts_with(call + part)) continue;
        const std::string rest = reference.where.substr(call.size() + part.size());
        open[i].names.insert(rest.substr(0, rest.find_first_of(".[")));
        open[i].after.insert(static_cast<int32_t>(reference.call));
      }
    }
  }
  return open;
}

}  // namespace

void TakeGoldFromPlan(Task* task) {
  if (task->reward.is_object() && task->reward.Find("calls") != nullptr) return;
  const Result<std::optional<Plan>> plan = PlanOf(*task);
  if (!plan.ok() || !*plan) return;
  const std::vector<PlannedCall>& calls = (*plan)->calls;
  if (std::any_of(calls.begin(), calls.end(),
                  [](const PlannedCall& call) { return call.only_if.has_value(); })) {
    return;
  }
  const std::map<size_t, OpenParameters> open = OpenIn(**plan);
  Json::Array gold;
  for (size_t i = 0; i < calls.size(); ++i) {
    Json call = Json::Of({{"name", calls[i].name}, {"arguments", calls[i].arguments}});
    if (!calls[i].accepted.is_null()) call.Set("accepted", calls[i].accepted);
    if (const auto found = open.find(i); found != open.end()) {
      call.Set("any", Json::ArrayOf(std::vector<std::string>(found->second.names.begin(),
                                                             found->second.names.end())));
      call.Set("after", Json::ArrayOf(std::vector<int32_t>(found->second.after.begin(),
                                                           found->second.after.end())));
    }
    gold.push_back(std::move(call));
  }
  // "reward": "number" is short for {"answer": "number"}.
  if (task->reward.is_string()) task->reward = Json::Of({{"answer", task->reward}});
  if (!task->reward.is_object()) task->reward = Json::Object();
  task->reward.Set("calls", std::move(gold));
}

}  // namespace hone
