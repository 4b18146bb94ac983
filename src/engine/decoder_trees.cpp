// Trees through the decoder: every node once, in the order of the tree.

#include <algorithm>

#include "base/check.h"
#include "engine/decoder_parts.h"

namespace hone {

std::vector<TreeLogprobs> Decoder::LogProbs(std::span<const Tree> trees) {
  // Some trees at a time, and some rows of theirs: what is held besides keys, values and hidden
  // states does not grow with the trees.
  constexpr int64_t kTokensAtOnce = 8192;
  constexpr size_t kRowsAtOnce = 1024;
  const FloatMode mode;
  std::vector<TreeLogprobs> all;
  for (size_t begin = 0; begin < trees.size();) {
    size_t end = begin;
    for (int64_t tokens = 0; end < trees.size() && (end == begin || tokens < kTokensAtOnce);
         ++end) {
      tokens += CountTokens(trees[end]);
    }
    TreeBatch batch(trees.subspan(begin, end - begin), &pages_);
    const int64_t width = config().width;
    Room(&work_->all_hidden, batch.total_rows * width);
    int64_t done = 0;
    std::vector<Chunk> some;
    size_t rows = 0;
    auto flush = [&] {
      if (rows == 0) return;
      Run(Rows(some), &pages_, false, &work_->hidden);
      std::copy_n(work_->hidden.data(), static_cast<int64_t>(rows) * width,
                  work_->all_hidden.data() + done * width);
      done += static_cast<int64_t>(rows);
      some.clear();
      rows = 0;
    };
    for (Chunk chunk : batch.chunks) {
      do {
        const size_t count = std::min(chunk.tokens.size(), kRowsAtOnce - rows);
        Chunk piece = chunk;
        piece.tokens = chunk.tokens.subspan(0, count);
        some.push_back(piece);
        rows += count;
        chunk.tokens = chunk.tokens.subspan(count);
        chunk.position += static_cast<int64_t>(count);
        chunk.copy = {};
        if (rows == kRowsAtOnce) flush();
      } while (!chunk.tokens.empty());
    }
    flush();
    ScoreRows(&batch, work_->all_hidden, false);
    for (TreeLogprobs& logprobs : batch.logprobs) all.push_back(std::move(logprobs));
    begin = end;
  }
  return all;
}

void Decoder::Accumulate(std::span<const Tree> trees, const Loss& loss, SharedTokens shared,
                         Gradients* gradients) {
  const FloatMode mode;
  CHECK(gradients->size() == model_->parameters.size());
  PackForBackward();
  TreeBatch batch(trees, &pages_);
  if (batch.total_rows == 0) return;
  Run(Rows(batch.chunks), &pages_, true, &work_->hidden);
  ScoreRows(&batch, work_->hidden, true);
  batch.AskLoss(loss, shared);
  OutputBackward(&batch, work_->hidden, gradients);
  LayersBackward(&batch, gradients);
}

}  // namespace hone
