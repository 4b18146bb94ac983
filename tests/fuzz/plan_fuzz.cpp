// Any JSON as a plan: refused, or written and read back the same, and carried out without a crash
// whatever its calls return.

#include <cstdint>

#include "base/check.h"
#include "envs/desk/desk.h"
#include "envs/environment.h"
#include "envs/plan_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto desk = hone::desk::NewDesk({}).value();
  const auto json = hone::ParseJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json.ok()) return 0;
  const auto plan = hone::PlanFromJson(*json);
  if (!plan.ok()) {
    CHECK(!plan.error().message().empty());
    return 0;
  }
  const auto again = hone::PlanFromJson(hone::PlanToJson(*plan));
  CHECK(again.ok(), again.ok() ? "" : again.error().message());
  CHECK(*again == *plan);
  for (const hone::PlanReference& reference : hone::ReferencesIn(*plan)) {
    CHECK(reference.call < plan->calls.size());
  }
  (void)hone::PlanProblems(*plan, [](const std::string& name) -> const hone::ToolSpec* {
    const hone::Toolbox::Tool* tool = desk->tools()->Find(name);
    return tool == nullptr ? nullptr : &tool->spec;
  });
  // The calls return the plan itself: something with members, lists, numbers and texts in it.
  const auto carried =
      hone::CarryOut(*plan, [&](const hone::Call& call) -> hone::Result<hone::Json> {
        CHECK(call.arguments.is_object());
        return *json;
      });
  if (!carried.ok()) return 0;
  hone::Task task;
  hone::SetGold(*carried, &task);
  return 0;
}
