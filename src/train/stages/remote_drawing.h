#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engine/engine.h"
#include "learn/step.h"
#include "rollout/remote_engine.h"
#include "train/stage.h"
#include "train/stage_context.h"

// What a step of practice does beside the usual where another engine draws its turns
// (rollout/remote_engine.h): that engine gets the weights first, and what it says of the tokens is
// compared with what the policy says.

namespace hone {

// How what the engine that drew says of tokens differs from what the policy says of them. `kl` and
// `max_ratio` clamp log r to +- kMostLogRatio (learn/losses/policy_loss.h), as the loss does: they
// stay finite however far apart both are.
struct EngineMismatch {
  int64_t tokens = 0;
  int64_t exact = 0;     // of which both log-probs have the same bits
  double off = 0;        // sum of |policy - drawn|, in nats
  double kl = 0;         // sum of r - 1 - log r, r = policy / drawn: estimates KL(drawn || policy)
  double max_ratio = 1;  // largest of policy / drawn and drawn / policy

  void Add(float drawn, float policy);
  void Add(const EngineMismatch& other);
  // Nothing where there are no tokens.
  void AddTo(StepValues* values) const;
};

// Asks the policy about trees whose turns were drawn elsewhere. Their entropies become the
// policy's: whoever drew does not tell any. Greedy turns are not compared.
EngineMismatch CompareWithPolicy(Engine* policy, int64_t call_tokens, std::vector<Tree>* trees);

// The weights as a folder that the server loads: those of the engine to the bit, with the adapters
// beside them, or for SGLang merged in. A folder that we did not write is an error and stays as it
// is (rollout/remote_folder.h).
Result<void> WriteForServer(const Engine& engine, RemoteApi api,
                            const std::filesystem::path& folder);

// Where a server keeps its weights and says which: tells whoever watches if the policy has others.
void NoteOtherWeights(const StageContext& context);

// Where the weights of a run are put for its server.
std::filesystem::path PushFolder(const StageContext& context);

}  // namespace hone
