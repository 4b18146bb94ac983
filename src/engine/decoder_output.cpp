// From hidden states to log-probabilities and back: the output projection in slices, so that the
// logits of a long batch never lie in memory together.

#include <algorithm>

#include "base/check.h"
#include "engine/decoder_parts.h"
#include "engine/distribution.h"

namespace hone {

// The hidden states of some predictions, side by side in work_->states.
float* Decoder::GatherStates(const TreeBatch& batch, std::span<const size_t> predictions,
                             const Floats& hidden) {
  const int64_t width = config().width;
  float* states = Room(&work_->states, static_cast<int64_t>(predictions.size()) * width);
  for (size_t i = 0; i < predictions.size(); ++i) {
    const int64_t row = batch.predictions[predictions[i]].row;
    std::copy_n(hidden.data() + row * width, width, states + static_cast<int64_t>(i) * width);
  }
  return states;
}

// The logits of some predictions, [count][vocab], with forbidden tokens masked.
void Decoder::LogitsOf(const TreeBatch& batch, std::span<const size_t> predictions,
                       const Floats& hidden, float* logits) {
  const FloatMode mode;
  const int64_t vocab = config().vocab;
  const auto count = static_cast<int64_t>(predictions.size());
  const float* states = GatherStates(batch, predictions, hidden);
  head_.Forward(states, count, use_adapters_, logits, pool_);
  CapLogits(count, logits);
  for (int64_t i = 0; i < count; ++i) {
    const auto& p = batch.predictions[predictions[static_cast<size_t>(i)]];
    MaskForbidden(batch.NodeOf(p).sampling, logits + i * vocab);
  }
}

// With `keep`, what backward needs of the distributions stays, and the logits where they are few.
void Decoder::ScoreRows(TreeBatch* batch, const Floats& hidden, bool keep) {
  const int64_t vocab = config().vocab, width = config().width;
  const auto total = static_cast<int64_t>(batch->predictions.size());
  const bool keep_logits = keep && KeepsLogits(total, vocab);
  if (keep) work_->distributions.resize(batch->predictions.size());
  if (keep_logits) Room(&work_->kept_logits, total * vocab);
  const int64_t rows_at_once = LogitRowsOf(total, vocab);
  for (int64_t first = 0; first < total; first += rows_at_once) {
    const int64_t count = std::min(rows_at_once, total - first);
    std::vector<size_t> some(static_cast<size_t>(count));
    for (size_t i = 0; i < some.size(); ++i) some[i] = static_cast<size_t>(first) + i;
    float* logits = keep_logits ? work_->kept_logits.data() + first * vocab
                                : Room(&work_->logits, count * vocab);
    LogitsOf(*batch, some, hidden, logits);
    ForRows(count, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const auto& p = batch->predictions[static_cast<size_t>(first + r)];
        const Node& node = batch->NodeOf(p);
        const std::span<const float> row(logits + r * vocab, static_cast<size_t>(vocab));
        const Distribution d =
            DistributionOf(row, TemperatureOf(node), KeptOf(node, p.token, vocab), kernels_);
        NodeLogprobs& of_node = batch->logprobs[p.tree][static_cast<size_t>(p.node)];
        of_node.logprobs[p.token] = d.LogProb(row[static_cast<size_t>(node.tokens[p.token])]);
        of_node.entropies[p.token] = d.entropy;
        if (keep) work_->distributions[static_cast<size_t>(first + r)] = d;
      }
    });
  }
  if (model_->scalar_head < 0) return;
  for (size_t t = 0; t < batch->trees.size(); ++t) {
    for (size_t n = 0; n < batch->trees[t].nodes.size(); ++n) {
      const int64_t row = batch->first_row[batch->first_chunk[t] + n];
      std::vector<float>& values = batch->logprobs[t][n].values;
      values.resize(batch->trees[t].nodes[n].tokens.size());
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = kernels_.dot(hidden.data() + (row + static_cast<int64_t>(i)) * width,
                                 Weights(model_->scalar_head), width);
      }
    }
  }
}

// The gradient of the hidden states, in work_->dhidden, and of the head.
void Decoder::OutputBackward(TreeBatch* batch, const Floats& hidden, Gradients* gradients) {
  const int64_t width = config().width, vocab = config().vocab;
  const auto cap = static_cast<float>(config().logit_cap);
  float* dhidden = ZeroRoom(&work_->dhidden, batch->total_rows * width);
  std::vector<size_t> active;  // what the loss is interested in
  for (size_t i = 0; i < batch->predictions.size(); ++i) {
    const auto& p = batch->predictions[i];
    if (p.dlogprob != 0 || p.dentropy != 0) active.push_back(i);
  }
  const bool kept_logits = KeepsLogits(static_cast<int64_t>(batch->predictions.size()), vocab);
  const auto rows_at_once =
      static_cast<size_t>(LogitRowsOf(static_cast<int64_t>(active.size()), vocab));
  for (size_t first = 0; first < active.size(); first += rows_at_once) {
    const auto some =
        std::span(active).subspan(first, std::min(rows_at_once, active.size() - first));
    const auto count = static_cast<int64_t>(some.size());
    float* dlogits = Room(kept_logits ? &work_->dlogits : &work_->logits, count * vocab);
    if (kept_logits) {
      GatherStates(*batch, some, hidden);
    } else {
      LogitsOf(*batch, some, hidden, dlogits);  // whose gradient goes where they lie
    }
    ForRows(count, [&](int64_t begin, int64_t end) {
      static thread_local Floats capped;  // the logits, where their gradient takes their place
      for (int64_t r = begin; r < end; ++r) {
        const size_t index = some[static_cast<size_t>(r)];
        const auto& p = batch->predictions[index];
        const Node& node = batch->NodeOf(p);
        const float* logits = kept_logits
                                  ? work_->kept_logits.data() + static_cast<int64_t>(index) * vocab
                                  : dlogits + r * vocab;
        float* dlogit = dlogits + r * vocab;
        if (cap > 0) std::copy_n(logits, vocab, Room(&capped, vocab));
        DistributionBackward({logits, static_cast<size_t>(vocab)}, work_->distributions[index],
                             KeptOf(node, p.token, vocab), node.tokens[p.token], p.dlogprob,
                             p.dentropy, kernels_, {dlogit, static_cast<size_t>(vocab)});
        if (cap > 0) kernels_.soft_cap_backward(capped.data(), cap, vocab, dlogit);
        Round(dlogit, vocab);
      }
    });
    float* dstates = ZeroRoom(&work_->dstates, count * width);
    head_.BackwardInput(dlogits, count, use_adapters_, dstates, pool_);
    head_.AddGradients({work_->states.data(), dlogits, count, LogitSliceRows(vocab)}, use_adapters_,
                       gradients, pool_);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = batch->predictions[some[static_cast<size_t>(i)]].row;
      kernels_.add(dstates + i * width, width, dhidden + row * width);
    }
  }
  if (model_->scalar_head < 0) return;
  Floats& dweight = (*gradients)[static_cast<size_t>(model_->scalar_head)];
  for (int64_t r = 0; r < batch->total_rows; ++r) {
    const float d = batch->dvalues[static_cast<size_t>(r)];
    if (d == 0) continue;
    kernels_.add_scaled(Weights(model_->scalar_head), d, width, dhidden + r * width);
    if (!dweight.empty()) kernels_.add_scaled(hidden.data() + r * width, d, width, dweight.data());
  }
}

}  // namespace hone
