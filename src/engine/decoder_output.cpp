// From hidden states to log-probabilities and back: the output projection in slices, so that the
// logits of a long batch never lie in memory together.

#include <algorithm>

#include "base/check.h"
#include "engine/decoder_parts.h"
#include "engine/distribution.h"

namespace hone {

// The logits of some predictions, [count][vocab], with forbidden tokens masked.
void Decoder::LogitsOf(const TreeBatch& batch, std::span<const size_t> predictions,
                       const Floats& hidden, Floats* logits) {
  const int64_t width = config().width, vocab = config().vocab;
  const auto count = static_cast<int64_t>(predictions.size());
  float* states = Room(&work_->states, count * width);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = batch.predictions[predictions[static_cast<size_t>(i)]].row;
    std::copy_n(hidden.data() + row * width, width, states + i * width);
  }
  Logits(states, count, logits);
  for (int64_t i = 0; i < count; ++i) {
    const auto& p = batch.predictions[predictions[static_cast<size_t>(i)]];
    MaskForbidden(batch.NodeOf(p).sampling, logits->data() + i * vocab);
  }
}

void Decoder::ScoreRows(TreeBatch* batch, const Floats& hidden, bool keep) {
  const int64_t vocab = config().vocab, width = config().width;
  const auto total = static_cast<int64_t>(batch->predictions.size());
  keep = keep && KeepsLogits(static_cast<int64_t>(batch->predictions.size()), config().vocab);
  if (keep) Room(&work_->kept_logits, total * vocab);
  const int64_t slice_rows = LogitRowsAtOnce(vocab);
  for (int64_t first = 0; first < total; first += slice_rows) {
    const int64_t count = std::min(slice_rows, total - first);
    std::vector<size_t> slice(static_cast<size_t>(count));
    for (size_t i = 0; i < slice.size(); ++i) slice[i] = static_cast<size_t>(first) + i;
    LogitsOf(*batch, slice, hidden, &work_->logits);
    ForRows(count, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const auto& p = batch->predictions[static_cast<size_t>(first + r)];
        const Node& node = batch->NodeOf(p);
        const std::span<const float> row(work_->logits.data() + r * vocab,
                                         static_cast<size_t>(vocab));
        const Distribution d =
            DistributionOf(row, TemperatureOf(node), KeptOf(node, p.token, vocab), kernels_);
        NodeLogprobs& of_node = batch->logprobs[p.tree][static_cast<size_t>(p.node)];
        of_node.logprobs[p.token] = d.LogProb(row[static_cast<size_t>(node.tokens[p.token])]);
        of_node.entropies[p.token] = d.entropy;
        if (keep) {
          std::copy(row.begin(), row.end(), work_->kept_logits.data() + (first + r) * vocab);
        }
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
  float* dhidden = ZeroRoom(&work_->dhidden, batch->total_rows * width);
  std::vector<size_t> active;  // what the loss is interested in
  for (size_t i = 0; i < batch->predictions.size(); ++i) {
    const auto& p = batch->predictions[i];
    if (p.dlogprob != 0 || p.dentropy != 0) active.push_back(i);
  }
  const bool kept_logits =
      KeepsLogits(static_cast<int64_t>(batch->predictions.size()), config().vocab);
  const auto slice_rows = static_cast<size_t>(LogitRowsAtOnce(config().vocab));
  for (size_t first = 0; first < active.size(); first += slice_rows) {
    const auto slice =
        std::span(active).subspan(first, std::min(slice_rows, active.size() - first));
    const auto count = static_cast<int64_t>(slice.size());
    float* states = Room(&work_->states, count * width);
    if (!kept_logits) {
      LogitsOf(*batch, slice, hidden, &work_->logits);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = batch->predictions[slice[static_cast<size_t>(i)]].row;
        std::copy_n(hidden.data() + row * width, width, states + i * width);
      }
    }
    float* dlogits = Room(&work_->dlogits, count * vocab);
    ForRows(count, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const size_t index = slice[static_cast<size_t>(r)];
        const auto& p = batch->predictions[index];
        const Node& node = batch->NodeOf(p);
        const float* logits = kept_logits
                                  ? work_->kept_logits.data() + static_cast<int64_t>(index) * vocab
                                  : work_->logits.data() + r * vocab;
        const std::span<const float> row(logits, static_cast<size_t>(vocab));
        const auto kept = KeptOf(node, p.token, vocab);
        const Distribution d = DistributionOf(row, TemperatureOf(node), kept, kernels_);
        DistributionBackward(row, d, kept, node.tokens[p.token], p.dlogprob, p.dentropy, kernels_,
                             {dlogits + r * vocab, static_cast<size_t>(vocab)});
        Round(dlogits + r * vocab, vocab);
      }
    });
    float* dstates = ZeroRoom(&work_->dstates, count * width);
    head_.BackwardInput(dlogits, count, use_adapters_, dstates, pool_);
    head_.AddGradients({states, dlogits, count}, use_adapters_, gradients, pool_);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = batch->predictions[slice[static_cast<size_t>(i)]].row;
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
