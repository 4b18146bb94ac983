#include "engine/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/exact_math.h"
#include "engine/kernels/panel.h"

namespace hone {
namespace {

// base^steps without libm.
double Power(double base, int64_t steps) {
  return base <= 0 ? 0 : Exponential(static_cast<double>(steps) * NaturalLog(base));
}

double SquareSum(const std::vector<float>& values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  return sum;
}

}  // namespace

AdamW::AdamW(const Model& model) {
  for (const Parameter& parameter : model.parameters) {
    first_moments.emplace_back(parameter.value.size(), 0.0f);
    second_moments.emplace_back(parameter.value.size(), 0.0f);
  }
}

double AdamW::Step(const AdamWOptions& options, const std::vector<std::vector<float>>& gradients,
                   Model* model, ThreadPool* pool) {
  const size_t count = model->parameters.size();
  CHECK(gradients.size() == count && first_moments.size() == count);
  std::vector<double> squares(count);
  pool->ParallelFor(count, 1, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) {
      squares[p] = SquareSum(gradients[p], model->parameters[p].value.size());
    }
  });
  double total = 0;
  for (const double square : squares) total += square;
  const double norm = std::sqrt(total);
  const bool clip = options.max_norm > 0 && norm > options.max_norm;
  const auto scale = static_cast<float>(clip ? options.max_norm / (norm + 1e-6) : 1.0);

  ++steps;
  const auto step_size =
      static_cast<float>(options.learning_rate / (1 - Power(options.beta1, steps)));
  const auto second_scale = static_cast<float>(1 / std::sqrt(1 - Power(options.beta2, steps)));
  const auto decay = static_cast<float>(1 - options.learning_rate * options.weight_decay);
  const auto beta1 = static_cast<float>(options.beta1), beta2 = static_cast<float>(options.beta2);
  const auto rest1 = static_cast<float>(1 - options.beta1),
             rest2 = static_cast<float>(1 - options.beta2);
  const auto eps = static_cast<float>(options.eps);
  pool->ParallelFor(count, 1, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t p = begin; p < end; ++p) {
      std::vector<float>& value = model->parameters[p].value;
      for (size_t i = 0; i < value.size(); ++i) {
        const float gradient = gradients[p][i] * scale;
        float &m = first_moments[p][i], &v = second_moments[p][i];
        m = beta1 * m + rest1 * gradient;
        v = beta2 * v + rest2 * (gradient * gradient);
        value[i] = value[i] * decay - step_size * (m / (std::sqrt(v) * second_scale + eps));
      }
    }
  });
  return norm;
}

}  // namespace hone
