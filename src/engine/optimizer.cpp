#include "engine/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/exact_math.h"
#include "base/recipe.h"
#include "engine/update/orthogonal.h"

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

std::vector<Piece> PiecesOf(const Model& model, const std::vector<bool>& chosen) {
  constexpr size_t kPiece = size_t{1} << 16;
  std::vector<Piece> pieces;
  for (size_t p = 0; p < model.parameters.size(); ++p) {
    if (!chosen[p]) continue;
    const size_t size = model.parameters[p].value.size();
    for (size_t at = 0; at < size; at += kPiece) {
      pieces.push_back({p, at, std::min(kPiece, size - at)});
    }
  }
  return pieces;
}

// Squares are summed piece by piece, each in its order. Several pieces at a time: the additions of
// one wait for each other, those of others need not.
std::vector<double> SquaresOf(const std::vector<Piece>& pieces, const Gradients& gradients,
                              ThreadPool* pool) {
  constexpr size_t kAtOnce = 8;
  std::vector<double> squares(pieces.size(), 0.0);
  pool->ParallelFor(pieces.size(), kAtOnce, [&](size_t begin, size_t end) {
    const float* gradient[kAtOnce];
    size_t common = pieces[begin].count;
    for (size_t i = begin; i < end; ++i) {
      gradient[i - begin] = gradients[pieces[i].parameter].data() + pieces[i].begin;
      common = std::min(common, pieces[i].count);
    }
    if (end - begin < kAtOnce) common = 0;
    double sums[kAtOnce] = {};
    for (size_t j = 0; j < common; ++j) {
      for (size_t i = 0; i < kAtOnce; ++i) {
        sums[i] += static_cast<double>(gradient[i][j]) * gradient[i][j];
      }
    }
    for (size_t i = begin; i < end; ++i) {
      double sum = sums[i - begin];
      for (size_t j = common; j < pieces[i].count; ++j) {
        sum += static_cast<double>(gradient[i - begin][j]) * gradient[i - begin][j];
      }
      squares[i] = sum;
    }
  });
  return squares;
}

// The norm of the whole gradient, of which this process has some tensors (`share`), or all (null).
double NormOf(const std::vector<Piece>& pieces, const Gradients& gradients, const StepShare* share,
              ThreadPool* pool) {
  std::vector<double> squares;
  if (share == nullptr) {
    squares = SquaresOf(pieces, gradients, pool);
  } else {
    std::vector<Piece> mine;
    std::vector<size_t> place;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!share->mine[pieces[i].parameter]) continue;
      mine.push_back(pieces[i]);
      place.push_back(i);
    }
    const std::vector<double> some = SquaresOf(mine, gradients, pool);
    squares.assign(pieces.size(), 0.0);
    for (size_t i = 0; i < some.size(); ++i) squares[place[i]] = some[i];
    share->bring_squares(&squares);
  }
  double total = 0;
  for (const double square : squares) total += square;
  return std::sqrt(total);
}

// Muon: momentum, looked ahead by one step, made orthogonal.
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
  const float size = OrthogonalStepSize(options, rows, columns);
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

StepRoles RolesInStep(const OptimizerOptions& options, const Model& model) {
  const size_t count = model.parameters.size();
  StepRoles roles;
  for (std::vector<bool>* part :
       {&roles.taking_part, &roles.orthogonal, &roles.adamw, &roles.head}) {
    part->assign(count, false);
  }
  const auto head = static_cast<size_t>(model.scalar_head);  // -1: no parameter has this index
  for (size_t p = 0; p < count; ++p) {
    roles.taking_part[p] = model.parameters[p].trained && (!options.head_only || p == head);
    roles.head[p] = roles.taking_part[p] && p == head;
  }
  if (options.kind == OptimizerOptions::Kind::kMuon && !options.head_only) {
    auto choose = [&](std::initializer_list<int> matrices) {
      for (const int p : matrices) {
        if (p < 0) continue;
        roles.orthogonal[static_cast<size_t>(p)] = roles.taking_part[static_cast<size_t>(p)];
      }
    };
    for (const LayerParameters& layer : model.layers) {
      choose({layer.q, layer.k, layer.v, layer.output, layer.gate, layer.up, layer.down});
      for (const ExpertParameters& expert : layer.experts) {
        choose({expert.gate, expert.up, expert.down});
      }
    }
  }
  for (size_t p = 0; p < count; ++p) {
    roles.adamw[p] = roles.taking_part[p] && !roles.head[p] && !roles.orthogonal[p];
  }
  return roles;
}

AdamWUpdate UpdateAt(const OptimizerOptions& options, bool head, int64_t steps, double scale) {
  const double learning_rate =
      head && options.head_learning_rate > 0 ? options.head_learning_rate : options.learning_rate;
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

// The mean square of a step's entries becomes that of AdamW's usual steps, 0.2: one learning rate
// then serves both (Liu et al., arXiv 2502.16982).
float OrthogonalStepSize(const OptimizerOptions& options, int64_t rows, int64_t columns) {
  return static_cast<float>(options.learning_rate * 0.2 *
                            std::sqrt(static_cast<double>(std::max(rows, columns))));
}

Optimizer::Optimizer(const Model& model) {
  for (const Parameter& parameter : model.parameters) {
    const size_t size = parameter.trained ? parameter.value.size() : 0;
    first_moments.emplace_back(size, 0.0f);
    second_moments.emplace_back(size, 0.0f);
  }
}

void Optimizer::Share(const StepShare* share) {
  share_ = share;
  if (share == nullptr) return;
  for (size_t p = 0; p < first_moments.size(); ++p) {
    if (share->mine[p]) continue;
    first_moments[p] = Floats();
    second_moments[p] = Floats();
  }
}

void ClearGradients(Gradients* gradients, ThreadPool* pool) {
  constexpr size_t kPiece = size_t{1} << 18;
  for (Floats& gradient : *gradients) {
    pool->ParallelFor(gradient.size(), kPiece, [&](size_t begin, size_t end) {
      std::fill(gradient.data() + begin, gradient.data() + end, 0.0f);
    });
  }
}

void AddNumbers(const float* from, std::span<float> to, ThreadPool* pool) {
  constexpr size_t kPiece = size_t{1} << 16;
  pool->ParallelFor(to.size(), kPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] += from[i];
  });
}

double Optimizer::Step(const OptimizerOptions& options, Gradients* all_gradients, Model* model,
                       const Kernels& kernels, ThreadPool* pool) {
  Gradients& gradients = *all_gradients;
  const size_t count = model->parameters.size();
  CHECK(gradients.size() == count && first_moments.size() == count);
  StepRoles roles = RolesInStep(options, *model);
  std::vector<Piece> pieces = PiecesOf(*model, roles.taking_part);
  const double norm = NormOf(pieces, gradients, share_, pool);
  if (!std::isfinite(norm)) {
    ClearGradients(all_gradients, pool);
    return norm;
  }
  if (share_ != nullptr) {
    std::erase_if(pieces, [&](const Piece& piece) { return !share_->mine[piece.parameter]; });
    for (size_t p = 0; p < count; ++p) {
      if (!share_->mine[p]) roles.orthogonal[p] = false;
    }
  }
  const bool clip = options.max_norm > 0 && norm > options.max_norm;
  const double scale = clip ? options.max_norm / (norm + 1e-6) : 1.0;

  // A head that learned alone before is further on than the rest: its moments are of more steps.
  ++head_steps;
  if (!options.head_only) ++steps;
  const AdamWUpdate update = UpdateAt(options, false, std::max<int64_t>(steps, 1), scale);
  const AdamWUpdate head_update = UpdateAt(options, true, head_steps, scale);
  for (size_t p = 0; p < count; ++p) {
    if (!roles.orthogonal[p]) continue;
    TakeOrthogonalStep(options, update.scale, update.decay, gradients[p], &model->parameters[p],
                       &first_moments[p], kernels, pool);
  }
  pool->ParallelFor(pieces.size(), 1, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t i = begin; i < end; ++i) {
      const auto& [p, at, size] = pieces[i];
      float* gradient = gradients[p].data() + at;
      if (!roles.orthogonal[p]) {
        kernels.adamw(roles.head[p] ? head_update : update, gradient, static_cast<int64_t>(size),
                      model->parameters[p].value.data() + at, first_moments[p].data() + at,
                      second_moments[p].data() + at);
      }
      std::fill_n(gradient, size, 0.0f);  // while it is in the cache
    }
  });
  for (size_t p = 0; p < count; ++p) {
    if (!roles.taking_part[p]) std::fill(gradients[p].begin(), gradients[p].end(), 0.0f);
  }
  return norm;
}

}  // namespace hone
