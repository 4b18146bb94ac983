// Any valid tree, with any labels, through every preset: scores that fit the tree, or an error.

#include <cstdint>

#include "base/check.h"
#include "record/record_json.h"
#include "record/validate.h"
#include "rewards/presets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = hone::ParseJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json.ok()) return 0;
  hone::Task task;
  task.reward = *json;
  (void)hone::LabelsOf(task).ok();
  const auto record = hone::RecordFromJson(*json);
  if (!record.ok() || !hone::Validate(*record).empty()) return 0;
  for (const hone::Preset& preset : hone::BuiltInPresets()) {
    const auto scores = hone::NewPreset(preset.name).value()->ScoreTree(record->tree, {});
    if (!scores.ok()) continue;
    CHECK(scores->size() == record->tree.leaves.size());
    CHECK(hone::Validate({record->tree, *scores, {}}).empty());
  }
  return 0;
}
