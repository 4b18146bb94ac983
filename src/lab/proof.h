#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "evaluate/compare/comparison.h"
#include "lab/prediction.h"
#include "lab/reached_ratio.h"

// The founding question as numbers: can simulated APIs and token-level credit train better
// tool-using agents? What was measured on chains of calls, beside what the laboratory predicted.

namespace hone {

// Who is compared, by the names that their arms have: ROLE-LENGTH, such as "smeared-real-4".
enum class ProofRole {
  kSmearedReal,
  kAttributedReal,
  kSmearedSimulated,
  kAttributedSimulated,
  kPlacebo,
  kFlipped,
};
inline constexpr int kProofRoles = 6;
std::string_view RoleName(ProofRole role);   // "smeared-real"
std::string_view RoleLabel(ProofRole role);  // "smeared, real tools"

// What one change does, everything else equal: `with` against `without`.
struct ProofEffect {
  std::string name;  // "credit on the calls, real tools"
  ProofRole without = ProofRole::kSmearedReal, with = ProofRole::kSmearedReal;
  std::optional<ReachedRatio> ratio;  // trajectories to the goal: without / with
  std::optional<PairedRace> race;     // a is `with`
  Difference success, calls;          // on test, sampled: with - without
  Difference on_the_way;              // success on dev over the run: with - without
};

// All chains of one length.
struct ProofRow {
  int length = 0;
  double goal = 0.8;
  int64_t seeds = 0;
  // By role; absent where there is no such arm, or it has no finished run.
  std::vector<std::optional<MedianReached>> reached;
  std::vector<Quantity> before, success, calls;  // of test, sampled
  std::vector<Quantity> before_greedy, greedy;   // success on test
  std::vector<Quantity> on_the_way;              // success on dev over the run
  std::vector<ProofEffect> effects;              // of arms that are both there
  // The laboratory's, of PredictedMethods; empty: none. Trajectories are proportional to the one or
  // to the other, as the optimiser is (lab::ChainPrediction).
  std::vector<double> noise, root_noise;

  // What it expects an effect's ratio to be, by its noise or by its root: absent where it does not
  // say.
  std::optional<double> Predicted(ProofRole without, ProofRole with, bool root) const;
};

// A change over all lengths: of every seed the mean of its differences at each length, so that a
// seed counts once.
struct PooledEffect {
  std::string name;
  ProofRole without = ProofRole::kSmearedReal, with = ProofRole::kSmearedReal;
  Difference on_the_way, success;
};

struct Proof {
  std::vector<ProofRow> rows;        // by length
  std::vector<PooledEffect> pooled;  // of the seeds that all lengths have; empty: one length
  // What credit on the calls does with simulated tools minus what it does with real ones: success
  // on dev over the run, pooled.
  Difference interaction;
};

// The methods that a prediction is made for, in its order: smeared, attributed, placebo.
const std::vector<std::string>& PredictedMethods();

// Sections whose arms are not named ROLE-LENGTH, all of one length, are an error.
Result<Proof> MakeProof(const std::vector<ComparedSection>& sections,
                        const std::vector<lab::ChainPrediction>& predictions,
                        const BootstrapOptions& options = {});

Json ToJson(const Proof& proof);

}  // namespace hone
