#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/recipe.h"

namespace hone {

// What groups are told apart by, beside the names of reward terms.
inline constexpr char kTotalMetric[] = "total", kSuccessMetric[] = "success";

struct DynamicSamplingOptions {
  bool on = false;
  // verl's filter_groups.metric: "total", "success", or the name of a reward term.
  std::string metric = kTotalMetric;
  // Groups whose values deviate (sample standard deviation) by at most this say nothing: 0 is DAPO,
  // 1e-3 SimpleTIR, 0.1 ToolOrchestra.
  double least_deviation = 0;
  int64_t rounds = 10;  // of drawing in one step, at most
  // Where groups are still missing after the last round: the step has fewer; groups that say
  // nothing fill it up; those that say something are repeated.
  enum class Pad { kShrink, kUnfiltered, kDuplicate };
  Pad pad = Pad::kShrink;
};
// [dynamic_sampling] of a recipe.
DynamicSamplingOptions ReadDynamicSampling(RecipeTable table);

// Which groups a step is trained on, and how many more are to be drawn. Goes by the numbers in
// which groups were asked for, never by what came first. Not synchronised.
//
//   DynamicSampler sampler(options, wanted);
//   while (const size_t more = sampler.Missing()) sampler.Add(values of `more` new groups);
//   sampler.Chosen();
class DynamicSampler {
 public:
  DynamicSampler(const DynamicSamplingOptions& options, size_t wanted);

  // How many groups the next round is to draw; 0: no more rounds. From the second round on, as many
  // as it takes at the rate at which groups were kept so far, at most four for each that is
  // missing.
  size_t Missing() const;
  // One entry per group of the round, in the order of their numbers: the values (rewards, or
  // whether it was right) of its scored leaves. Groups with fewer than two are never kept.
  void Add(std::span<const std::vector<double>> round);

  // The groups of the step, by their number among all that were added; ascending, except for those
  // that pad. At most `wanted`; a number occurs twice only with kDuplicate.
  std::vector<size_t> Chosen() const;

  size_t drawn() const { return kept_.size(); }
  size_t kept() const;  // that say something, wanted or not
  int64_t rounds() const { return rounds_; }

 private:
  DynamicSamplingOptions options_;
  size_t wanted_;
  int64_t rounds_ = 0;
  std::vector<bool> kept_;    // per group
  std::vector<bool> scored_;  // per group: two leaves or more
};

}  // namespace hone
