#include "engine/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/exact_math.h"
#include "base/recipe.h"
#include "engine/orthogonal.h"

namespace hone {
namespace {

// base^steps without libm.
double Power(double base, int64_t steps) {
  return base <= 0 ? 0 : Exponential(static_cast<double>(steps) * NaturalLog(base));
}

// Parameters in pieces whose cuts do not depend on the number of threads.
struct Piece {
  size_t parameter, begin, count;
};

// Those of the parameters that take the step.
std::vector<Piece> PiecesOf(const Model& model, bool head_only) {
  constexpr size_t kPiece = size_t{1} << 16;
  std::vector<Piece> pieces;
  for (size_t p = 0; p < model.parameters.size(); ++p) {
    if (!model.parameters[p].trained) continue;
    if (head_only && static_cast<int>(p) != model.scalar_head) continue;
    const size_t size = model.parameters[p].value.size();
    for (size_t at = 0; at < size; at += kPiece) {
      pieces.push_back({p, at, std::min(kPiece, size - at)});
    }
  }
  return pieces;
}

// Which parameters take orthogonal steps, by index.
std::vector<bool> LayerMatrices(const Model& model) {
  std::vector<bool> chosen(model.parameters.size(), false);
  for (const LayerParameters& layer : model.layers) {
    for (const int p :
         {layer.q, layer.k, layer.v, layer.output, layer.gate, layer.up, layer.down}) {
      if (p >= 0 && model.parameters[static_cast<size_t>(p)].trained) {
        chosen[static_cast<size_t>(p)] = true;
      }
    }
  }
  return chosen;
}

double NormOf(const std::vector<Piece>& pieces, const std::vector<Floats>& gradients,
              ThreadPool* pool) {
  std::vector<double> squares(pieces.size(), 0.0);
  pool->ParallelFor(pieces.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const float* gradient = gradients[pieces[i].parameter].data() + pieces[i].begin;
      for (size_t j = 0; j < pieces[i].count; ++j) {
        squares[i] += static_cast<double>(gradient[j]) * gradient[j];
      }
    }
  });
  double total = 0;
  for (const double square : squares) total += square;
  return std::sqrt(total);
}

// What AdamW does at its step number `steps`.
AdamWUpdate UpdateAt(const OptimizerOptions& options, double learning_rate, int64_t steps,
                     double scale) {
  return {.scale = static_cast<float>(scale),
          .beta1 = static_cast<float>(options.beta1),
          .rest1 = static_cast<float>(1 - options.beta1),
          .beta2 = static_cast<float>(options.beta2),
          .rest2 = static_cast<float>(1 - options.beta2),
          .step_size = static_cast<float>(learning_rate / (1 - Power(options.beta1, steps))),
          .second_scale = static_cast<float>(1 / std::sqrt(1 - Power(options.beta2, steps))),
          .eps = static_cast<float>(options.eps),
          .decay = static_cast<float>(1 - learning_rate * options.weight_decay)};
}

// Muon: momentum, looked ahead by one step, made orthogonal. Scaled so that the mean square of a
// step's entries is that of AdamW's usual steps, 0.2: one learning rate then serves both (Liu et
// al., arXiv 2502.16982).
void TakeOrthogonalStep(const OptimizerOptions& options, float scale, float decay,
                        const Floats& gradient, Parameter* parameter, Floats* moment,
                        const Kernels& kernels, ThreadPool* pool) {
  const FloatMode mode;
  const auto momentum = static_cast<float>(options.momentum);
  Floats step(gradient.size());
  for (size_t i = 0; i < step.size(); ++i) {
    const float slope = gradient[i] * scale;
    (*moment)[i] = momentum * (*moment)[i] + slope;
    step[i] = slope + momentum * (*moment)[i];
  }
  const int64_t rows = parameter->shape[0], columns = parameter->shape[1];
  Orthogonalize(rows, columns, step.data(), kernels, pool);
  const auto size = static_cast<float>(options.learning_rate * 0.2 *
                                       std::sqrt(static_cast<double>(std::max(rows, columns))));
  for (size_t i = 0; i < step.size(); ++i) {
    parameter->value[i] = decay * parameter->value[i] - size * step[i];
  }
}

}  // namespace

OptimizerOptions ReadOptimizer(RecipeTable* table, OptimizerOptions options) {
  std::string kind = "adamw";
  table->ReadChoice("optimizer", &kind, {"adamw", "muon"},
                    "muon: orthogonal steps for the matrices of layers");
  if (kind == "muon") {
    options.kind = OptimizerOptions::Kind::kMuon;
    table->Read("momentum", &options.momentum, "of orthogonal steps", Between(0, 1));
  }
  table->Read("beta1", &options.beta1, "of AdamW", Between(0, 1));
  table->Read("beta2", &options.beta2, "of AdamW", Between(0, 1));
  table->Read("weight_decay", &options.weight_decay, "", AtLeast(0));
  table->Read("max_norm", &options.max_norm, "longer gradients are shortened to it; 0: never",
              AtLeast(0));
  return options;
}

Optimizer::Optimizer(const Model& model) {
  for (const Parameter& parameter : model.parameters) {
    const size_t size = parameter.trained ? parameter.value.size() : 0;
    first_moments.emplace_back(size, 0.0f);
    second_moments.emplace_back(size, 0.0f);
  }
}

double Optimizer::Step(const OptimizerOptions& options, const std::vector<Floats>& gradients,
                       Model* model, const Kernels& kernels, ThreadPool* pool) {
  const size_t count = model->parameters.size();
  CHECK(gradients.size() == count && first_moments.size() == count);
  const std::vector<Piece> pieces = PiecesOf(*model, options.head_only);
  const double norm = NormOf(pieces, gradients, pool);
  if (!std::isfinite(norm)) return norm;
  const bool clip = options.max_norm > 0 && norm > options.max_norm;
  const double scale = clip ? options.max_norm / (norm + 1e-6) : 1.0;

  // A head that learned alone before is further on than the rest: its moments are of more steps.
  ++head_steps;
  if (!options.head_only) ++steps;
  const double head_rate =
      options.head_learning_rate > 0 ? options.head_learning_rate : options.learning_rate;
  const AdamWUpdate update =
      UpdateAt(options, options.learning_rate, std::max<int64_t>(steps, 1), scale);
  const AdamWUpdate head_update = UpdateAt(options, head_rate, head_steps, scale);
  const std::vector<bool> orthogonal =
      options.kind == OptimizerOptions::Kind::kMuon && !options.head_only
          ? LayerMatrices(*model)
          : std::vector<bool>(count, false);
  for (size_t p = 0; p < count; ++p) {
    if (!orthogonal[p]) continue;
    TakeOrthogonalStep(options, update.scale, update.decay, gradients[p], &model->parameters[p],
                       &first_moments[p], kernels, pool);
  }
  pool->ParallelFor(pieces.size(), 1, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t i = begin; i < end; ++i) {
      const auto& [p, at, size] = pieces[i];
      if (orthogonal[p]) continue;
      const bool head = static_cast<int>(p) == model->scalar_head;
      kernels.adamw(head ? head_update : update, gradients[p].data() + at,
                    static_cast<int64_t>(size), model->parameters[p].value.data() + at,
                    first_moments[p].data() + at, second_moments[p].data() + at);
    }
  });
  return norm;
}

}  // namespace hone
