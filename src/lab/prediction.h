#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "lab/decision_process.h"

// What the laboratory expects of `hone prove`, before anything is measured.
//
// An agent that makes the next call of a chain rightly with probability q has to get from the q it
// begins with to the q at which 80 % of the chains succeed. At each q the noise of a method is
// exact: the variance of its gradient over the square of what its mean gains along the gradient of
// success. A step whose length is limited by that noise gains in inverse proportion to it, so the
// trajectories that a method takes are proportional to its noise, summed over the way (in the
// log-odds of q). That constant is not known; the ratio of two methods does not need it.

namespace hone::lab {

// A chain in which every call is right with probability `skill` and an answer at the end with
// `answer`. Of what is left `wrong_share` are wrong calls, the rest answers that come too early (at
// the end: calls too many). A wrong call runs and is of no use, as those of the desk's teacher do
// and are: it earns what waste earns, and ends the chain.
DecisionProcess ChainAt(int length, double skill, double answer, double wrong_share);

// A length, and who is imitated first: teachers of longer chains make fewer mistakes, so that all
// lengths begin with about the same success (docs/environments/desk.md has the teacher).
struct ChainStart {
  int length = 1;
  double teacher_error = 0.5;
};
// Those of comparisons/prove.toml.
std::vector<ChainStart> ProvenChains();

struct PredictionOptions {
  double goal = 0.8;     // success that is to be reached
  double answer = 0.95;  // right answers, where every call was right
  int group = 4;         // trajectories; larger ones cannot be listed
  int points = 9;        // on the way
};

// The share of calls after which an imitator of the teacher is still on its way, and of those after
// which it is not the share that are wrong calls (the others are answers that came too early).
double SkillOf(double teacher_error);
double WrongShareOf(double teacher_error);

struct PredictedMethod {
  std::string method;
  std::vector<double> noise;  // at each point; infinite: it goes down there
  double sum = 0;             // over the way: proportional to the trajectories
};
struct ChainPrediction {
  int length = 0;
  double goal = 0.8;
  double teacher_error = 0;
  std::vector<double> skills;  // the points on the way
  double start = 0;            // success at the first of them
  std::vector<PredictedMethod> methods;

  // How many times as many trajectories method `a` takes as `b`. Their places in `methods`.
  double Ratio(size_t a, size_t b) const { return methods[a].sum / methods[b].sum; }
  // The same for an optimiser that divides by the noise itself: where noise is larger than signal
  // Adam's gain per step goes with signal over deviation, and trajectories with the root.
  double RootSum(size_t method) const;
  double RootRatio(size_t a, size_t b) const { return RootSum(a) / RootSum(b); }
};

Result<std::vector<ChainPrediction>> PredictChains(const std::vector<ChainStart>& chains,
                                                   const std::vector<std::string>& methods,
                                                   const PredictionOptions& options = {});

Json ToJson(const std::vector<ChainPrediction>& predictions, const PredictionOptions& options);
// What ToJson wrote. The error names the place.
Result<std::vector<ChainPrediction>> PredictionsFromJson(const Json& json);

}  // namespace hone::lab
