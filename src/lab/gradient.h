#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "credit/methods.h"
#include "lab/decision_process.h"

// What an estimator's gradient is on average, and how much it varies, computed exactly: every group
// of trajectories that can be drawn is listed with its probability. Nothing is sampled.

namespace hone::lab {

struct Estimate {
  std::vector<double> mean;  // of (1/G) sum over trajectories and tokens of A grad log pi
  double variance = 0;       // trace of its covariance
};

// Groups of `size` independent trajectories. The critic is exact for what the method reads, plus
// `critic_error` of a made-up sort that depends on the state alone.
Result<Estimate> ExactEstimate(const Method& method, const DecisionProcess& process, int size,
                               double critic_error = 0);

double Dot(const std::vector<double>& a, const std::vector<double>& b);

struct GradientRow {
  std::string method;         // with its settings
  bool unbiased = false;      // what it promises
  double bias = 0;            // |mean - gradient| / |gradient| of what it reads, chain of 2
  double angle = 0;           // between them, in degrees
  double angle_success = 0;   // between the mean and the gradient of success
  std::vector<double> noise;  // variance / (mean along the gradient of success)^2, per length
  std::vector<bool> uphill;   // whether the mean points up the gradient of success, per length
};

// Chain lengths of the table and the curves.
const std::vector<int>& ChainLengths();

// All methods that can be tried (ReMax needs a greedy trajectory beside the group).
Result<std::vector<GradientRow>> GradientTable();

// docs/algorithms/gradient.md and variance.svg
std::string GradientPage(const std::vector<GradientRow>& rows);
std::string VarianceCurves(const std::vector<GradientRow>& rows);

}  // namespace hone::lab
