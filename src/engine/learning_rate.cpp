#include "engine/learning_rate.h"

#include <algorithm>
#include <numbers>

#include "base/exact_math.h"

namespace hone {

double LearningRate::At(int64_t step, double clock) const {
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (shape == Shape::kConstant) return peak;
  const auto behind = static_cast<double>(warmup);
  const double way = std::clamp(
      (clock - behind) / static_cast<double>(std::max<int64_t>(steps - warmup, 1)), 0.0, 1.0);
  double left = 1 - way;
  if (shape == Shape::kCosine) {
    double sine = 0, cosine = 0;
    SineCosine(std::numbers::pi * way, &sine, &cosine);
    left = 0.5 + 0.5 * cosine;
  }
  return peak * (final_share + (1 - final_share) * left);
}

LearningRate ReadLearningRate(RecipeTable* table, const LearningRate& defaults) {
  using Shape = LearningRate::Shape;
  LearningRate rate = defaults;
  std::string shape = rate.shape == Shape::kConstant ? "constant"
                      : rate.shape == Shape::kLinear ? "linear"
                                                     : "cosine";
  table->Read("learning_rate", &rate.peak, "of AdamW, at its highest", Above(0));
  table->Read("warmup", &rate.warmup, "steps over which it rises", AtLeast(0));
  table->ReadChoice("schedule", &shape, {"constant", "linear", "cosine"}, "how it falls");
  table->Read("final_share", &rate.final_share, "of learning_rate that is left at the end",
              Between(0, 1));
  rate.shape = shape == "constant" ? Shape::kConstant
               : shape == "linear" ? Shape::kLinear
                                   : Shape::kCosine;
  return rate;
}

}  // namespace hone
