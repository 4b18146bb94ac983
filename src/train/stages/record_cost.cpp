#include "train/stages/record_cost.h"

#include <algorithm>

#include "base/file.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr char kNote[] = "recorded.json";

// Of one call that nobody else stands in the way of.
double HoursOf(const ServingConditions& conditions) {
  const double gap = conditions.per_second > 0 ? 1 / conditions.per_second : 0;
  return std::max(static_cast<double>(conditions.latency_ms) / 1000, gap) / 3600;
}

}  // namespace

Result<void> NoteRecordedCalls(const std::filesystem::path& folder,
                               const std::map<std::string, int64_t>& by_tool) {
  Json calls = Json::Object();
  for (const auto& [tool, count] : by_tool) calls.Set(tool, count);
  return WriteFileAtomic(folder / kNote, DumpJson(Json::Of({{"calls", std::move(calls)}})) + "\n");
}

void AddCostOfRecord(const std::filesystem::path& folder,
                     const std::vector<ServingConditions>& conditions, TrainingState* state) {
  if (conditions.empty()) return;
  const Result<std::string> text = ReadFile(folder / kNote);
  const Result<Json> note = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  const Json* calls = note.ok() ? note->Find("calls") : nullptr;
  if (calls == nullptr || !calls->is_object()) return;
  double dollars = 0, hours = 0;
  for (const auto& [tool, count] : calls->AsObject()) {
    for (const ServingConditions& one : conditions) {
      if (!FitsPattern(one.tool, tool)) continue;
      dollars += count.AsDouble() * one.price;
      hours += count.AsDouble() * HoursOf(one);
      break;
    }
  }
  state->AddTotal("spent/dollars", dollars);
  state->AddTotal("spent/hours", hours);
}

}  // namespace hone
