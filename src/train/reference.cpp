#include "train/reference.h"

#include "train/checksums.h"

namespace hone {

Result<Reference> Reference::Open(const std::filesystem::path& folder, bool begin,
                                  const Engine& policy, const Engine::Options& options) {
  const bool adapters = !policy.model().lora.empty();
  if (begin) {
    HONE_RETURN_IF_ERROR(adapters
                             ? SaveLora(policy.model(), folder.string(), folder / kAdapterFolder)
                             : policy.Save(folder, SaveType::kF32));
    HONE_RETURN_IF_ERROR(WriteChecksums(folder));
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

std::vector<TreeLogprobs> Reference::LogProbs(std::span<const Tree> trees, Engine* policy) const {
  return whole_ != nullptr ? whole_->LogProbs(trees) : policy->LogProbsWith(adapters_, trees);
}

}  // namespace hone
