#include "learn/reference.h"

namespace hone {

Result<Reference> Reference::Open(const std::filesystem::path& folder, bool begin,
                                  const Engine& policy, const Engine::Options& options) {
  Reference reference;
  if (policy.model().lora.empty()) {
    if (begin) HONE_RETURN_IF_ERROR(policy.Save(folder, SaveType::kF32));
    HONE_ASSIGN_OR_RETURN(reference.whole_, Engine::Load(folder, options));
    return reference;
  }
  if (begin) {
    HONE_RETURN_IF_ERROR(SaveLora(policy.model(), folder.string(), folder / kAdapterFolder));
  }
  HONE_ASSIGN_OR_RETURN(reference.adapters_, ReadAdapters(folder / kAdapterFolder, policy.model()));
  return reference;
}

std::vector<TreeScores> Reference::LogProbs(std::span<const Tree> trees, Engine* policy) const {
  return whole_ != nullptr ? whole_->LogProbs(trees) : policy->LogProbsWith(adapters_, trees);
}

}  // namespace hone
