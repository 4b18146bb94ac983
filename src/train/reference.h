#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace hone {

// Where in the run's folder the policy lies that a stage's KL is measured against: this and the
// stage's number.
inline constexpr char kReferencePrefix[] = "reference-";

// An earlier policy, which the KL of a stage is measured against: as it was when the stage began,
// or mixed with later ones. Of a policy that trains adapters only these are kept: the weights below
// them are frozen, and the policy has them.
class Reference {
 public:
  // `begin`: the stage begins now, and what the policy is like is written into `folder`; else it is
  // read from there.
  static Result<Reference> Open(const std::filesystem::path& folder, bool begin,
                                const Engine& policy, const Engine::Options& options);

  // Becomes share * policy + (1 - share) * itself, number by number (of adapters: of their two
  // factors), and is written into `folder`.
  Result<void> Mix(const Engine& policy, double share, const std::filesystem::path& folder);

  // `policy` is the engine that is being trained; it is the same afterwards.
  std::vector<TreeLogprobs> LogProbs(std::span<const Tree> trees, Engine* policy) const;

 private:
  std::unique_ptr<Engine> whole_;  // null: the adapters are all that differs
  Adapters adapters_;
};

}  // namespace hone
