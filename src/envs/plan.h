#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/call.h"
#include "record/task.h"

namespace hone {

// A way to do a task: calls whose arguments may refer to what earlier ones returned, and the
// answer.
//
//   {"calls": [{"name": "contact", "arguments": {"name": "Ana"}},
//              {"name": "weather", "arguments": {"city": "${0.city}", "day": "Mon"}}],
//    "answer": "${1.sky}"}
//
// ${0.city} is the member "city" of what call 0 returned; a number in the path is a place in an
// array. A string that is one reference and nothing else becomes the value itself; inside a longer
// text, and as ${0.city|text}, the value is written out. Carried out through whatever answers the
// calls, a plan gives the right answer of that world: a simulated one has its own
// (docs/environments.md).

// Holds when the resolved sides compare so. Sides are templates.
struct PlanCondition {
  enum class Test { kEqual, kDifferent, kAbove };  // kAbove: both are numbers, left > right
  Json left;
  Test test = Test::kEqual;
  Json right;

  bool operator==(const PlanCondition&) const = default;
};

struct PlannedCall {
  std::string name;
  Json arguments = Json::Object();  // a template, an object
  std::optional<PlanCondition> only_if;
  Json accepted;  // templates of other right values, {"parameter": [...]}; null: none

  bool operator==(const PlannedCall&) const = default;
};

struct PlannedAnswer {
  Json value;  // a template
  std::optional<PlanCondition> only_if;

  bool operator==(const PlannedAnswer&) const = default;
};

struct Plan {
  std::vector<PlannedCall> calls;
  std::vector<PlannedAnswer> answers;  // the first whose condition holds; none: no answer
  std::vector<Json> outputs;           // templates: what the agent must have said on the way

  bool operator==(const Plan&) const = default;
};

// As above; a call may have "accepted"; conditions stand as "if": {"left": "${0.sky}", "test":
// "equal", "right": "sun"}, and "answers" is a list of {"value", "if"}; "outputs" a list of
// templates. Errors name the key; a reference to a call that is not earlier is one, and all such
// are in one message.
Json PlanToJson(const Plan& plan);
Result<Plan> PlanFromJson(const Json& json);

// A reference of a plan, and where it stands: "calls[1].arguments.city", "answer".
struct PlanReference {
  std::string where;
  std::string text;  // "${0.city}"
  size_t call = 0;
  std::vector<std::string> path;
  bool whole = false;  // it stands for the value itself
};
std::vector<PlanReference> ReferencesIn(const Plan& plan);

// What the calls of a plan returned, by their place in it; nothing for those not made.
using PlanResults = std::vector<std::optional<Json>>;

// The n-th call with its references put in, or nothing when its condition does not hold.
// results.size() >= n. An error when a reference leads nowhere.
Result<std::optional<Call>> ResolveCall(const Plan& plan, size_t n, const PlanResults& results);
// The answer as text; nothing when the plan has none.
Result<std::optional<std::string>> ResolveAnswer(const Plan& plan, const PlanResults& results);
// Strings as they are, everything else as JSON.
std::string PlainText(const Json& value);

// A plan that was carried out.
struct ResolvedPlan {
  struct Made {
    Call call;
    Json result;
    std::vector<int32_t> after;  // places in `calls` of those it refers to
    Json accepted = {};          // other right values, by parameter; null: none
  };
  std::vector<Made> calls;
  std::optional<std::string> answer;
  std::vector<std::string> outputs;
};

// Carries a plan out, one call after the other, for those who wait for answers. The plan must
// outlive it.
class PlanRun {
 public:
  explicit PlanRun(const Plan* plan) : plan_(plan), place_(plan->calls.size(), -1) {}

  // The call to make now, or nothing when all were made. An error when a reference leads nowhere.
  Result<std::optional<Call>> Next();
  // What that call returned.
  Result<void> Give(Json result);
  // When there is no next call.
  Result<ResolvedPlan> Finish();

 private:
  const Plan* plan_;
  PlanResults results_;
  std::vector<int32_t> place_;  // in resolved_.calls, by place in the plan
  ResolvedPlan resolved_;
};

// The same in one go. `perform` answers one call, or says why it could not; then that is the error.
using PerformCall = std::function<Result<Json>(const Call& call)>;
Result<ResolvedPlan> CarryOut(const Plan& plan, const PerformCall& perform);

// Writes what was found right into the task: "answer", and "reward.calls" and "reward.outputs" as
// rewards read them. Other keys of "reward" stay.
void SetGold(const ResolvedPlan& gold, Task* task);

// The plan under metadata.plan; nothing when there is none.
Result<std::optional<Plan>> PlanOf(const Task& task);

}  // namespace hone
