#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "credit/lab/prediction.h"
#include "evaluate/comparison.h"
#include "evaluate/reached_ratio.h"

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
  std::vector<Quantity> before, success, calls;
  std::vector<Quantity> on_the_way;         // success on dev over the run
  std::vector<ProofEffect> effects;         // of arms that are both there
  std::vector<double> noise;                // the laboratory's, of PredictedMethods; empty: none
  std::optional<double> predicted;          // trajectories, smeared / attributed
  std::optional<double> predicted_placebo;  // placebo / attributed
};

struct Proof {
  std::vector<ProofRow> rows;  // by length
};

// The methods that a prediction is made for, in its order: smeared, attributed, placebo.
const std::vector<std::string>& PredictedMethods();

// Sections whose arms are not named ROLE-LENGTH, all of one length, are an error.
Result<Proof> MakeProof(const std::vector<ComparedSection>& sections,
                        const std::vector<lab::ChainPrediction>& predictions,
                        const BootstrapOptions& options = {});

Json ToJson(const Proof& proof);

}  // namespace hone
