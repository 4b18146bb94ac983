// The feed-forward half of layers whose tokens choose among experts, forward and backward.
//
// Which experts a token takes follows from its row alone, and what they give is added in the order
// of the experts. So the row's bits do not depend on who else takes them, and what sampling chose
// is what scoring and training choose: with the same weights, ratios are exactly 1 without a record
// of the choice.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/exact_math.h"
#include "engine/decoder_parts.h"

namespace hone {

// The rows that take an expert, and its place among the choices of each.
struct ExpertTakers {
  std::vector<int64_t> row, place;

  int64_t count() const { return static_cast<int64_t>(row.size()); }
  void Find(const KeptChoice& choice, int64_t begin, int64_t end, int64_t expert) {
    row.clear();
    place.clear();
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t i = 0; i < choice.per_row; ++i) {
        if (choice.chosen[static_cast<size_t>(r * choice.per_row + i)] != expert) continue;
        row.push_back(r);
        place.push_back(i);
      }
    }
  }
  // Where its choice stands among those of all rows.
  int64_t At(const KeptChoice& choice, int64_t i) const {
    return row[static_cast<size_t>(i)] * choice.per_row + place[static_cast<size_t>(i)];
  }
};

// The rows of a pass that take an expert, and what goes through it, side by side.
struct Decoder::ExpertRows {
  const float* normed;  // of all rows
  const float* dy;      // gradient of what the half adds, of all rows
  float* dnormed;       // of all rows; added to
  Floats dweight;       // [rows][chosen_experts]; set
  ExpertTakers takers;
  Floats x, gate_up, activated, out;  // as forward had them
  Floats dout, dactivated, dgate_up, dx;
};

namespace {

// The likeliest, the lower number of several; ascending.
void Choose(const float* score, int64_t experts, int64_t chosen, int32_t* to) {
  static thread_local std::vector<int32_t> order;
  order.resize(static_cast<size_t>(experts));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + chosen, order.end(), [&](int32_t a, int32_t b) {
    return score[a] != score[b] ? score[a] > score[b] : a < b;
  });
  std::sort(order.begin(), order.begin() + chosen);
  std::copy_n(order.begin(), chosen, to);
}

}  // namespace

void Decoder::ChooseExperts(int64_t index, const Routed& rows, ThreadPool* pool,
                            LayerState* state) const {
  static thread_local Floats logits;
  const ModelConfig& c = config();
  const int bias = model_->layers[static_cast<size_t>(index)].router_bias;
  const int64_t count = rows.end - rows.begin;
  layers_[static_cast<size_t>(index)].router->Forward(rows.normed, count, use_adapters_,
                                                      Room(&logits, count * c.experts), pool);
  for (int64_t r = 0; r < count; ++r) {
    float* row = logits.data() + r * c.experts;
    float* probability = state->choice.probability.data() + (rows.begin + r) * c.experts;
    int32_t* chosen = state->choice.chosen.data() + (rows.begin + r) * c.chosen_experts;
    float* weight = state->choice.weight.data() + (rows.begin + r) * c.chosen_experts;
    if (bias >= 0) kernels_.add(Weights(bias), c.experts, row);
    const float top = kernels_.largest(row, c.experts, 1);
    const float sum = kernels_.exp_sum(row, c.experts, 1, top);
    kernels_.probabilities(row, c.experts, 1, top + static_cast<float>(NaturalLog(sum)),
                           probability);
    // By the logits: probabilities may be equal where logits are not.
    Choose(row, c.experts, c.chosen_experts, chosen);
    float of_chosen = 0;
    for (int64_t i = 0; i < c.chosen_experts; ++i) of_chosen += probability[chosen[i]];
    for (int64_t i = 0; i < c.chosen_experts; ++i) {
      weight[i] = probability[chosen[i]] / (c.normalised_experts ? of_chosen : 1.0f);
    }
  }
}

// `out` [end - begin][width] is set.
void Decoder::ExpertsForward(int64_t index, const Routed& rows, ThreadPool* pool, LayerState* state,
                             float* out) const {
  static thread_local Floats x, gate_up, activated, given;
  static thread_local ExpertTakers takers;
  const ModelConfig& c = config();
  const LayerParameters& p = model_->layers[static_cast<size_t>(index)];
  const Layer& layer = layers_[static_cast<size_t>(index)];
  const int64_t width = c.width, ffn = c.expert_ffn;
  ChooseExperts(index, rows, pool, state);
  std::fill_n(out, (rows.end - rows.begin) * width, 0.0f);
  for (int64_t e = 0; e < c.experts; ++e) {
    takers.Find(state->choice, rows.begin, rows.end, e);
    const int64_t count = takers.count();
    if (count == 0) continue;
    const ExpertParameters& expert = p.experts[static_cast<size_t>(e)];
    const Layer::FeedForward& half = layer.experts[static_cast<size_t>(e)];
    Room(&x, count * width);
    Room(&activated, count * ffn);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t r = takers.row[static_cast<size_t>(i)];
      std::copy_n(rows.normed + (r - rows.begin) * width, width, x.data() + i * width);
    }
    half.gate_up.Forward(x.data(), count, use_adapters_, Room(&gate_up, count * 2 * ffn), pool);
    for (int64_t i = 0; i < count; ++i) {
      float* of_row = gate_up.data() + i * 2 * ffn;
      if (expert.gate_bias >= 0) {
        kernels_.add(Weights(expert.gate_bias), ffn, of_row);
        kernels_.add(Weights(expert.up_bias), ffn, of_row + ffn);
      }
      Gate(of_row, ffn, activated.data() + i * ffn);
      const int64_t at = takers.At(state->choice, i);
      std::copy_n(of_row, 2 * ffn, state->gate_up.data() + at * 2 * ffn);
    }
    Round(activated.data(), count * ffn);
    half.down.Forward(activated.data(), count, use_adapters_, Room(&given, count * width), pool);
    for (int64_t i = 0; i < count; ++i) {
      float* of_row = given.data() + i * width;
      if (expert.down_bias >= 0) kernels_.add(Weights(expert.down_bias), width, of_row);
      const float weight = state->choice.weight[static_cast<size_t>(takers.At(state->choice, i))];
      kernels_.add_scaled(of_row, weight, width,
                          out + (takers.row[static_cast<size_t>(i)] - rows.begin) * width);
    }
  }
}

// As FeedForwardBackward. One expert after the other: what they add to the gradient of a row, they
// add in their order.
void Decoder::ExpertsBackward(int64_t index, int64_t rows, const LayerState& s,
                              Gradients* gradients) {
  const ModelConfig& c = config();
  const LayerParameters& p = model_->layers[static_cast<size_t>(index)];
  const HalfGradient half{s.forward_output, p.forward_norm};
  const KeptNorm norm{s.middle, s.middle_scale, p.post_norm};
  const int64_t width = c.width;
  Room(&work_->rounded, rows * width);
  Room(&work_->normed, rows * width);
  BeginHalfNorm(half, rows);
  ForBlocks(rows, [&](int64_t begin, int64_t end, ThreadPool*) {
    HalfGradientBlock(half, begin, end);
    NormAgain(norm, begin, end, work_->normed.data() + begin * width);
  });
  AddHalfNorm(half, rows, gradients);
  ExpertRows of;
  of.normed = work_->normed.data();
  of.dy = half.norm < 0 ? work_->dx.data() : work_->rounded.data();
  of.dnormed = ZeroRoom(&work_->dhidden, rows * width);
  Room(&of.dweight, rows * c.chosen_experts);
  for (int64_t e = 0; e < c.experts; ++e) {
    of.takers.Find(s.choice, 0, rows, e);
    if (of.takers.count() > 0) OneExpertBackward(index, e, s, &of, gradients);
  }
  RouterBackward(index, rows, s, &of, gradients);
  NormBackward({.x = s.middle.data(),
                .x_row = width,
                .scale = s.middle_scale.data(),
                .scale_row = 1,
                .dy = of.dnormed,
                .dy_row = width,
                .dx = work_->dx.data(),
                .dx_row = width,
                .rows = rows,
                .heads = 1,
                .size = width},
               p.post_norm, gradients);
}

void Decoder::OneExpertBackward(int64_t index, int64_t expert, const LayerState& s,
                                ExpertRows* rows, Gradients* gradients) {
  const ModelConfig& c = config();
  const auto at_expert = static_cast<size_t>(expert);
  const ExpertParameters& p = model_->layers[static_cast<size_t>(index)].experts[at_expert];
  const Layer::FeedForward& half = layers_[static_cast<size_t>(index)].experts[at_expert];
  const int64_t width = c.width, ffn = c.expert_ffn, count = rows->takers.count();
  auto& [normed, dy, dnormed, dweight, takers, x, gate_up, activated, out, dout, dactivated,
         dgate_up, dx] = *rows;
  auto add_bias = [&](const Floats& from, int64_t at, int64_t stride, int64_t size, int bias) {
    if (bias < 0) return;
    AddBiasGradient(from.data() + at, stride, count, size,
                    &(*gradients)[static_cast<size_t>(bias)]);
  };
  Room(&x, count * width);
  Room(&gate_up, count * 2 * ffn);
  Room(&activated, count * ffn);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t r = takers.row[static_cast<size_t>(i)], at = takers.At(s.choice, i);
    std::copy_n(normed + r * width, width, x.data() + i * width);
    std::copy_n(s.gate_up.data() + at * 2 * ffn, 2 * ffn, gate_up.data() + i * 2 * ffn);
    Gate(gate_up.data() + i * 2 * ffn, ffn, activated.data() + i * ffn);
  }
  Round(activated.data(), count * ffn);
  // What the expert gave is computed again: the gradient of its weight wants it.
  half.down.Forward(activated.data(), count, use_adapters_, Room(&out, count * width), pool_);
  ZeroRoom(&dout, count * width);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t r = takers.row[static_cast<size_t>(i)];
    const auto at = static_cast<size_t>(takers.At(s.choice, i));
    float* given = out.data() + i * width;
    if (p.down_bias >= 0) kernels_.add(Weights(p.down_bias), width, given);
    dweight[at] = kernels_.dot(dy + r * width, given, width);
    kernels_.add_scaled(dy + r * width, s.choice.weight[at], width, dout.data() + i * width);
  }
  add_bias(dout, 0, width, width, p.down_bias);
  Round(dout.data(), count * width);
  half.down.BackwardInput(dout.data(), count, use_adapters_, ZeroRoom(&dactivated, count * ffn),
                          pool_);
  Room(&dgate_up, count * 2 * ffn);
  for (int64_t i = 0; i < count; ++i) {
    GateBackward(gate_up.data() + i * 2 * ffn, dactivated.data() + i * ffn, ffn,
                 dgate_up.data() + i * 2 * ffn);
  }
  add_bias(dgate_up, 0, 2 * ffn, ffn, p.gate_bias);
  add_bias(dgate_up, ffn, 2 * ffn, ffn, p.up_bias);
  Round(dgate_up.data(), count * 2 * ffn);
  half.gate_up.BackwardInput(dgate_up.data(), count, use_adapters_, ZeroRoom(&dx, count * width),
                             pool_);
  for (int64_t i = 0; i < count; ++i) {
    kernels_.add(dx.data() + i * width, width,
                 dnormed + takers.row[static_cast<size_t>(i)] * width);
  }
  half.down.AddGradients({activated.data(), dout.data(), count}, use_adapters_, gradients, pool_);
  half.gate_up.AddGradients({x.data(), dgate_up.data(), count}, use_adapters_, gradients, pool_);
}

// From the gradients of the weights of the chosen experts to the router. With weights that sum to
// one only the chosen ones' logits matter; else all do, through the sum of all.
void Decoder::RouterBackward(int64_t index, int64_t rows, const LayerState& s,
                             ExpertRows* of_experts, Gradients* gradients) {
  const ModelConfig& c = config();
  const LayerParameters& p = model_->layers[static_cast<size_t>(index)];
  const Projection& router = *layers_[static_cast<size_t>(index)].router;
  Floats dlogits;
  ZeroRoom(&dlogits, rows * c.experts);
  for (int64_t r = 0; r < rows; ++r) {
    const int32_t* chosen = s.choice.chosen.data() + r * c.chosen_experts;
    const float* weight = s.choice.weight.data() + r * c.chosen_experts;
    const float* dweight = of_experts->dweight.data() + r * c.chosen_experts;
    const float* probability = s.choice.probability.data() + r * c.experts;
    float* d = dlogits.data() + r * c.experts;
    float mean = 0;
    for (int64_t i = 0; i < c.chosen_experts; ++i) mean += weight[i] * dweight[i];
    for (int64_t e = 0; e < c.experts && !c.normalised_experts; ++e) d[e] = -probability[e] * mean;
    for (int64_t i = 0; i < c.chosen_experts; ++i) {
      d[chosen[i]] += weight[i] * (c.normalised_experts ? dweight[i] - mean : dweight[i]);
    }
  }
  if (p.router_bias >= 0) {
    AddBiasGradient(dlogits.data(), c.experts, rows, c.experts,
                    &(*gradients)[static_cast<size_t>(p.router_bias)]);
  }
  Round(dlogits.data(), rows * c.experts);
  router.BackwardInput(dlogits.data(), rows, use_adapters_, of_experts->dnormed, pool_);
  router.AddGradients({of_experts->normed, dlogits.data(), rows}, use_adapters_, gradients, pool_);
}

}  // namespace hone
