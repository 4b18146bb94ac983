#include "train/reference.h"

#include "train/folder/checksums.h"

namespace hone {

namespace {

Result<void> WriteAdapters(const Model& model, const std::filesystem::path& folder) {
  HONE_RETURN_IF_ERROR(SaveLora(model, folder.string(), folder / kAdapterFolder));
  return WriteChecksums(folder);
}

Result<void> WriteWhole(const Engine& engine, const std::filesystem::path& folder) {
  HONE_RETURN_IF_ERROR(engine.Save(folder, SaveType::kF32));
  return WriteChecksums(folder);
}

}  // namespace

Result<Reference> Reference::Open(const std::filesystem::path& folder, bool begin,
                                  const Engine& policy, const Engine::Options& options) {
  const bool adapters = !policy.model().lora.empty();
  if (begin) {
    HONE_RETURN_IF_ERROR(adapters ? WriteAdapters(policy.model(), folder)
                                  : WriteWhole(policy, folder));
  }
  HONE_RETURN_IF_ERROR(VerifyChecksums(folder));
  Reference reference;
  if (adapters) {
    HONE_ASSIGN_OR_RETURN(reference.adapters_,
                          ReadAdapters(folder / kAdapterFolder, policy.model()));
  } else {
    HONE_ASSIGN_OR_RETURN(reference.whole_, Engine::Load(folder, options));
  }
  return reference;
}

Result<void> Reference::Mix(const Engine& policy, double share,
                            const std::filesystem::path& folder) {
  if (whole_ != nullptr) {
    whole_->MixIn(policy.model(), share);
    return WriteWhole(*whole_, folder);
  }
  const Adapters now = AdaptersOf(policy.model());
  for (size_t i = 0; i < now.size(); ++i) MixNumbers(now[i], share, &adapters_[i]);
  Model mixed = policy.model();
  Adapters taken = adapters_;
  SwapAdapters(&taken, &mixed);
  return WriteAdapters(mixed, folder);
}

std::vector<TreeLogprobs> Reference::LogProbs(std::span<const Tree> trees, Engine* policy) const {
  return whole_ != nullptr ? whole_->LogProbs(trees) : policy->LogProbsWith(adapters_, trees);
}

}  // namespace hone
