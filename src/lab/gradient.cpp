#include "lab/gradient.h"

#include <cmath>
#include <functional>

#include "credit/specimens.h"
#include "record/reward_terms.h"

namespace hone::lab {
namespace {

constexpr int kGroupSize = 4;

// Every multiset of `size` paths with the probability that a group is one of its orders: credit
// does not depend on the order.
void ForEachGroup(const DecisionProcess& process, int size,
                  const std::function<void(const std::vector<int>&, double)>& visit) {
  std::vector<int> group;
  const std::function<void(int, double)> extend = [&](int from, double probability) {
    if (static_cast<int>(group.size()) == size) {
      visit(group, probability);
      return;
    }
    for (int p = from; p < static_cast<int>(process.paths.size()); ++p) {
      // n! / prod(k!) orders, built up one member at a time: n over how often p is in it now.
      int same = 1;
      for (size_t i = group.size(); i-- > 0 && group[i] == p;) ++same;
      const double orders = static_cast<double>(group.size() + 1) / same;
      group.push_back(p);
      extend(p, probability * orders * process.paths[p].probability);
      group.pop_back();
    }
  };
  extend(0, 1);
}

double Norm(const std::vector<double>& a) { return std::sqrt(Dot(a, a)); }

double Degrees(const std::vector<double>& a, const std::vector<double>& b) {
  const double lengths = Norm(a) * Norm(b);
  if (lengths < 1e-12) return 90;
  return std::acos(std::clamp(Dot(a, b) / lengths, -1.0, 1.0)) * 180 / 3.14159265358979323846;
}

}  // namespace

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Result<Estimate> ExactEstimate(const Method& method, const DecisionProcess& process, int size,
                               double critic_error) {
  std::vector<double> critic = StateValues(process, method.reads);
  for (size_t s = 0; s < critic.size(); ++s) {
    critic[s] += critic_error * std::cos(static_cast<double>(s));
  }
  Estimate estimate;
  estimate.mean.assign(process.parameters(), 0);
  double second_moment = 0;
  std::optional<Error> problem;
  std::vector<double> gradient;
  ForEachGroup(process, size, [&](const std::vector<int>& group, double probability) {
    if (problem) return;
    const Sampled sampled = RecordOf(process, group, critic);
    const CreditInput input{&sampled.record, &sampled.values};
    const Result<std::vector<Credit>> credits = AssignCredit(method, {&input, 1});
    if (!credits.ok()) {
      problem = credits.error();
      return;
    }
    gradient.assign(process.parameters(), 0);
    for (size_t i = 0; i < group.size(); ++i) {
      const std::vector<float>& values = (*credits)[0].advantages[i].values;
      const std::vector<Decision>& decisions = process.paths[group[i]].decisions;
      for (size_t t = 0; t < decisions.size(); ++t) {
        AddScoreFunction(process, decisions[t], static_cast<double>(values[t]) / size, &gradient);
      }
    }
    for (size_t i = 0; i < gradient.size(); ++i) estimate.mean[i] += probability * gradient[i];
    second_moment += probability * Dot(gradient, gradient);
  });
  if (problem) return *problem;
  estimate.variance = std::max(second_moment - Dot(estimate.mean, estimate.mean), 0.0);
  return estimate;
}

const std::vector<int>& ChainLengths() {
  static const std::vector<int> lengths = {1, 2, 4, 8};
  return lengths;
}

Result<std::vector<GradientRow>> GradientTable() {
  const Selection success{{kOutcomeTerm}, {}};
  std::vector<GradientRow> rows;
  for (const std::string& name : MethodNames()) {
    if (name == "remax" || name.starts_with("cm2")) continue;
    HONE_ASSIGN_OR_RETURN(const Method method, NewMethod(SpecOf(name)));
    GradientRow row;
    row.method = SpecOf(name);
    row.unbiased = method.promises.unbiased;
    for (const int length : ChainLengths()) {
      const DecisionProcess process = Chain(length);
      HONE_ASSIGN_OR_RETURN(const Estimate estimate, ExactEstimate(method, process, kGroupSize));
      const std::vector<double> uphill = TrueGradient(process, success);
      const double along = Dot(estimate.mean, uphill) / Norm(uphill);
      row.noise.push_back(std::abs(along) < 1e-12 ? INFINITY : estimate.variance / (along * along));
      row.uphill.push_back(along > 0);
      if (length != 2) continue;
      const std::vector<double> truth = TrueGradient(process, method.reads);
      std::vector<double> error = estimate.mean;
      for (size_t i = 0; i < error.size(); ++i) error[i] -= truth[i];
      row.bias = Norm(error) / Norm(truth);
      row.angle = Degrees(estimate.mean, truth);
      row.angle_success = Degrees(estimate.mean, uphill);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hone::lab
