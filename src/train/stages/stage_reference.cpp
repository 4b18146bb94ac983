#include "train/stages/stage_reference.h"

#include <set>

#include <fmt/format.h>

#include "base/json_fields.h"
#include "train/folder/run_folder.h"

namespace hone {
namespace {

constexpr char kSyncedKey[] = "synced", kStateKey[] = "reference";

// After how many steps a checkpoint's reference was mixed; absent: it needs none.
std::optional<int64_t> SyncedOf(const TrainingState& state) {
  const Json* reference =
      state.stage_state.is_object() ? state.stage_state.Find(kStateKey) : nullptr;
  const Json* synced =
      reference != nullptr && reference->is_object() ? reference->Find(kSyncedKey) : nullptr;
  if (synced == nullptr || !synced->is_integer()) return std::nullopt;
  return synced->AsInteger();
}

}  // namespace

Result<StageReference> StageReference::Open(Place place, bool begin, const Engine& policy,
                                            const Engine::Options& options) {
  const auto folder = place.run / (kReferencePrefix + std::to_string(place.stage));
  HONE_ASSIGN_OR_RETURN(Reference reference, Reference::Open(folder, begin, policy, options));
  return StageReference(std::move(place), options, std::move(reference));
}

std::filesystem::path StageReference::FolderAfter(int64_t steps) const {
  return place_.run / (steps == 0 ? fmt::format("{}{}", kReferencePrefix, place_.stage)
                                  : fmt::format("{}{}-{}", kReferencePrefix, place_.stage, steps));
}

Result<void> StageReference::AfterStep(int64_t step, const Engine& policy) {
  if (place_.kl.sync_every == 0 || (step + 1) % place_.kl.sync_every != 0) return {};
  HONE_RETURN_IF_ERROR(reference_.Mix(policy, place_.kl.sync_mix, FolderAfter(step + 1)));
  synced_ = step + 1;
  RemoveUnused();
  return {};
}

// A run goes on from any of its checkpoints, and from each with the reference that it had.
void StageReference::RemoveUnused() const {
  std::set<std::filesystem::path> needed = {FolderAfter(0), FolderAfter(synced_)};
  for (const int64_t step : CheckpointsIn(place_.run)) {
    const Result<TrainingState> state = ReadTrainingState(CheckpointIn(place_.run, step));
    if (!state.ok()) return;  // who knows what it needs
    if (const auto synced = SyncedOf(*state)) needed.insert(FolderAfter(*synced));
  }
  const std::string prefix = fmt::format("{}{}-", kReferencePrefix, place_.stage);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(place_.run, ignored)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    if (!needed.contains(entry.path())) std::filesystem::remove_all(entry.path(), ignored);
  }
}

Json StageReference::ToJson() const { return Json::Of({{kSyncedKey, synced_}}); }

Result<void> StageReference::Restore(const Json& state, const Engine& policy) {
  int64_t synced = 0;
  JsonErrors errors;
  {
    JsonFields fields(state, kStateKey, &errors);
    fields.Required(kSyncedKey, &synced);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (synced == synced_) return {};
  HONE_ASSIGN_OR_RETURN(reference_, Reference::Open(FolderAfter(synced), false, policy, options_));
  synced_ = synced;
  return {};
}

}  // namespace hone
