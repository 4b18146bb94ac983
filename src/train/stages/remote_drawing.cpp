#include "train/stages/remote_drawing.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "base/file.h"
#include "engine/lora.h"
#include "learn/batches.h"
#include "learn/losses/policy_loss.h"
#include "rollout/remote_folder.h"

namespace hone {

void EngineMismatch::Add(float drawn, float policy) {
  const double log_ratio = static_cast<double>(policy) - drawn;
  const double clamped = std::clamp(log_ratio, -kMostLogRatio, kMostLogRatio);
  ++tokens;
  exact += std::bit_cast<uint32_t>(drawn) == std::bit_cast<uint32_t>(policy);
  off += std::abs(log_ratio);
  kl += std::expm1(clamped) - clamped;
  max_ratio = std::max(max_ratio, std::exp(std::abs(clamped)));
}

void EngineMismatch::Add(const EngineMismatch& other) {
  tokens += other.tokens;
  exact += other.exact;
  off += other.off;
  kl += other.kl;
  max_ratio = std::max(max_ratio, other.max_ratio);
}

void EngineMismatch::AddTo(StepValues* values) const {
  if (tokens == 0) return;
  const auto count = static_cast<double>(tokens);
  (*values)["mismatch/tokens"] = count;
  (*values)["mismatch/exact_share"] = static_cast<double>(exact) / count;
  (*values)["mismatch/mean_abs"] = off / count;
  (*values)["mismatch/kl"] = kl / count;
  (*values)["mismatch/max_ratio"] = max_ratio;
}

EngineMismatch CompareWithPolicy(Engine* policy, int64_t call_tokens, std::vector<Tree>* trees) {
  EngineMismatch mismatch;
  std::vector<size_t> order;
  std::vector<int64_t> tokens;
  for (const Tree& tree : *trees) {
    order.push_back(order.size());
    tokens.push_back(CountTokens(tree));
  }
  for (const std::vector<size_t>& call : PackByTokens(order, tokens, call_tokens)) {
    std::vector<Tree> asked;
    for (const size_t i : call) asked.push_back((*trees)[i]);
    const std::vector<TreeLogprobs> said = policy->LogProbs(asked);
    for (size_t c = 0; c < call.size(); ++c) {
      Tree& tree = (*trees)[call[c]];
      for (size_t n = 0; n < tree.nodes.size(); ++n) {
        Node& node = tree.nodes[n];
        if (node.author != Author::kPolicy) continue;
        node.entropies = said[c][n].entropies;
        if (node.sampling.temperature == 0) continue;
        for (size_t t = 0; t < node.tokens.size(); ++t) {
          mismatch.Add(node.logprobs[t], said[c][n].logprobs[t]);
        }
      }
    }
  }
  return mismatch;
}

Result<void> WriteForServer(const Engine& engine, RemoteApi api,
                            const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(const std::filesystem::path aside, NewPushFolder(folder));
  const Model& model = engine.model();
  if (model.lora.empty()) {
    HONE_RETURN_IF_ERROR(SaveModel(model, SaveType::kF32, aside));
  } else if (api == RemoteApi::kSglang) {
    Model merged = model;
    MergeLora(&merged);
    HONE_RETURN_IF_ERROR(SaveModel(merged, SaveType::kF32, aside));
  } else {
    HONE_RETURN_IF_ERROR(SaveModel(model, SaveType::kF32, aside));
    HONE_RETURN_IF_ERROR(SaveLora(model, folder.string(), aside / kAdapterFolder));
  }
  return ReplaceDirectory(aside, WithoutTrailingSlash(folder));
}

void NoteOtherWeights(const StageContext& context) {
  const RemoteEngine& remote = *context.remote;
  if (remote.options().push || remote.weights().empty() || !context.note) return;
  if (remote.weights() == context.engine->WeightsHash()) return;
  context.note(
      fmt::format("{} has other weights than the policy has now, and keeps them: the run "
                  "is off-policy from here on (policy.push)",
                  remote.options().url));
}

std::filesystem::path PushFolder(const StageContext& context) {
  const std::string& named = context.recipe->policy.push_folder;
  return named.empty() ? context.folder / "pushed" : std::filesystem::path(named);
}

}  // namespace hone
