#include "engine/processor_runner.h"

#include <algorithm>

namespace hone {

ProcessorRunner::ProcessorRunner(Model* model, DecoderOptions options, ThreadPool* pool)
    : model_(model), pool_(pool), decoder_(model, std::move(options), pool) {}

std::unique_ptr<PagePool> ProcessorRunner::NewPages(int64_t bytes) {
  const Precision precision = decoder_.options().precision;
  const int64_t page_bytes = KvPages(config(), precision).page_bytes();
  return std::make_unique<KvPages>(config(), precision, std::max<int64_t>(1, bytes / page_bytes));
}

// Only rows that draw go through the output layer, whose matrix is the largest of all.
void ProcessorRunner::BeginAdvance(std::span<const Chunk> chunks, PagePool* pages,
                                   std::span<const DrawOrder> orders) {
  const int64_t width = config().width, vocab = config().vocab;
  decoder_.Forward(chunks, static_cast<KvPages*>(pages), &hidden_);
  std::vector<size_t> drawing;
  Room(&last_, static_cast<int64_t>(chunks.size()) * width);
  int64_t row = -1;
  for (size_t i = 0; i < chunks.size(); ++i) {
    row += static_cast<int64_t>(chunks[i].tokens.size());
    if (orders[i].request == nullptr) continue;
    std::copy_n(hidden_.data() + row * width, width,
                last_.data() + static_cast<int64_t>(drawing.size()) * width);
    drawing.push_back(i);
  }
  drawn_.assign(chunks.size(), {});
  if (drawing.empty()) return;
  decoder_.Logits(last_.data(), static_cast<int64_t>(drawing.size()), &logits_);
  pool_->ParallelFor(drawing.size(), 4, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const DrawOrder& order = orders[drawing[i]];
      float* logits = logits_.data() + static_cast<int64_t>(i) * vocab;
      decoder_.MaskForbidden(order.request->sampling, logits);
      drawn_[drawing[i]] =
          DrawFrom({logits, static_cast<size_t>(vocab)}, order, decoder_.kernels());
    }
  });
}

// Gradients and moments take memory only when something is trained.
void ProcessorRunner::PrepareTraining() {
  if (!optimizer_) optimizer_.emplace(*model_);
  if (!gradients_.empty()) return;
  gradients_.resize(model_->parameters.size());
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const Parameter& parameter = model_->parameters[i];
    gradients_[i].assign(parameter.trained ? parameter.value.size() : 0, 0.0f);
  }
}

void ProcessorRunner::Accumulate(std::span<const Tree> trees, const Loss& loss,
                                 SharedTokens shared) {
  PrepareTraining();
  decoder_.Accumulate(trees, loss, shared, &gradients_);
}

double ProcessorRunner::Step(const OptimizerOptions& options) {
  PrepareTraining();
  const double norm = optimizer_->Step(options, &gradients_, model_, decoder_.kernels(), pool_);
  decoder_.Repack();
  return norm;
}

void ProcessorRunner::PutGradients(Gradients gradients) {
  gradients_ = std::move(gradients);
  PrepareTraining();
}

void ProcessorRunner::ForgetGradients() { ClearGradients(&gradients_, pool_); }

std::vector<float> ProcessorRunner::GradientOf(size_t parameter) const {
  if (gradients_.empty()) return {};
  return {gradients_[parameter].begin(), gradients_[parameter].end()};
}

void ProcessorRunner::TakeMoments(Optimizer optimizer) {
  PrepareTraining();
  *optimizer_ = std::move(optimizer);
}

std::vector<std::pair<std::string, int64_t>> ProcessorRunner::Memory() const {
  int64_t gradients = 0;
  for (const Floats& gradient : gradients_) {
    gradients += static_cast<int64_t>(gradient.size() * sizeof(float));
  }
  return {{"packed weights", decoder_.packed_bytes()},
          {"gradients", gradients},
          {"moments", optimizer_ ? 2 * gradients : 0},
          {"buffers", decoder_.buffer_bytes()}};
}

std::string ProcessorRunner::Description() const {
  return std::string("cpu ") + decoder_.kernels().name;
}

}  // namespace hone
