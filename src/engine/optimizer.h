#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/buffer.h"
#include "engine/kernels/kernels.h"
#include "engine/model.h"

namespace hone {

class RecipeTable;

struct OptimizerOptions {
  // kMuon: the matrices of layers take orthogonal steps; the rest (embeddings, norms, biases,
  // adapters) takes AdamW's, with the same learning rate.
  enum class Kind { kAdamW, kMuon };
  Kind kind = Kind::kAdamW;
  double learning_rate = 1e-5;
  double beta1 = 0.9, beta2 = 0.95;
  double eps = 1e-8;
  double momentum = 0.95;         // of orthogonal steps
  double weight_decay = 0;        // decoupled, on every parameter
  double max_norm = 1;            // of the whole gradient; larger ones are scaled down; 0: never
  double head_learning_rate = 0;  // of the scalar head; 0: learning_rate
  // Only the scalar head takes the step, and the norm is of its gradient; everything else stays as
  // it is, moments and their count included.
  bool head_only = false;
};

// optimizer, momentum, beta1, beta2, weight_decay and max_norm of a table; what it does not say
// stays as in `defaults`.
OptimizerOptions ReadOptimizer(RecipeTable* table, OptimizerOptions defaults);

// Which parameters take part in a step, and how; by index.
struct StepRoles {
  std::vector<bool> taking_part;  // whose gradients make the norm
  std::vector<bool> orthogonal;   // matrices of layers, with Muon
  std::vector<bool> adamw, head;  // the others; the scalar head by itself
};
StepRoles RolesInStep(const OptimizerOptions& options, const Model& model);
// What AdamW does at its step number `steps`, to the scalar head or to the rest.
AdamWUpdate UpdateAt(const OptimizerOptions& options, bool head, int64_t steps, double scale);
// What an orthogonal matrix is multiplied by.
float OrthogonalStepSize(const OptimizerOptions& options, int64_t rows, int64_t columns);

class Optimizer;
void ClearGradients(Gradients* gradients, ThreadPool* pool);
void AddNumbers(const float* from, std::span<float> to, ThreadPool* pool);

// A step that several processes take together: each changes some of the parameters, has moments of
// these alone, and gets the weights of the others afterwards.
struct StepShare {
  std::vector<bool> mine;  // by parameter
  // Squares of the gradient, piece by piece: those of this process, and 0; becomes those of all.
  std::function<void(std::vector<double>* squares)> bring_squares;
  std::function<void(Model* model)> bring_weights;
  // Moments that are not of this process, for a checkpoint. Asked where one is written.
  std::function<void(Optimizer* optimizer)> bring_moments;
};

// Changes float32 master weights. The same gradients give the same bits on any number of threads.
class Optimizer {
 public:
  explicit Optimizer(const Model& model);

  // Changes the weights by the gradients (one buffer per trained parameter), which are cleared.
  // Returns the norm of the gradient before clipping. When that is not finite the weights stay: one
  // bad gradient must not end them. Of a share, only what is this process's has gradients and
  // changes.
  double Step(const OptimizerOptions& options, Gradients* gradients, Model* model,
              const Kernels& kernels, ThreadPool* pool);

  // From now on; moments of others are dropped. It must outlive this.
  void Share(const StepShare* share);

  // The state: per trained parameter the two moments (an orthogonal step has only the first), and
  // how many steps were taken; of the scalar head, which may have taken more.
  std::vector<Floats> first_moments, second_moments;
  int64_t steps = 0, head_steps = 0;

 private:
  const StepShare* share_ = nullptr;  // null: all is this process's
};

}  // namespace hone
