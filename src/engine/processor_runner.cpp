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
  if (!optimizer_) {
    optimizer_.emplace(*model_);
    optimizer_->Share(share_);
  }
  if (!gradients_.empty()) return;
  if (!spare_.empty()) {
    gradients_ = std::move(spare_.back());
    spare_.pop_back();
  }
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
  if (share_ != nullptr) {
    gradients_.clear();  // some were never here
    share_->bring_weights(model_);
  }
  decoder_.Repack();
  return norm;
}

bool ProcessorRunner::ShareSteps(const StepShare* share) {
  share_ = share;
  if (optimizer_) optimizer_->Share(share);
  return true;
}

void ProcessorRunner::SetGradientsAside() {
  PrepareTraining();
  aside_.push_back(std::exchange(gradients_, {}));
}

void ProcessorRunner::AddGradientsAside() {
  PrepareTraining();
  Gradients aside = std::move(aside_.back());
  aside_.pop_back();
  for (size_t p = 0; p < aside.size(); ++p) AddNumbers(aside[p].data(), gradients_[p], pool_);
  spare_.push_back(std::move(aside));
}

void ProcessorRunner::PutGradients(Gradients gradients) {
  gradients_ = std::move(gradients);
  PrepareTraining();
}

void ProcessorRunner::ForgetGradients() {
  if (share_ != nullptr) return gradients_.clear();  // some were never here
  ClearGradients(&gradients_, pool_);
}

std::vector<float> ProcessorRunner::GradientOf(size_t parameter) const {
  if (gradients_.empty()) return {};
  return {gradients_[parameter].begin(), gradients_[parameter].end()};
}

void ProcessorRunner::BringMoments(Optimizer* optimizer) {
  *optimizer = *optimizer_;
  if (share_ != nullptr) share_->bring_moments(optimizer);
}

void ProcessorRunner::TakeMoments(Optimizer optimizer) {
  PrepareTraining();
  *optimizer_ = std::move(optimizer);
  optimizer_->Share(share_);
}

std::vector<std::pair<std::string, int64_t>> ProcessorRunner::Memory() const {
  int64_t gradients = 0;
  for (const Floats& gradient : gradients_) {
    gradients += static_cast<int64_t>(gradient.size() * sizeof(float));
  }
  int64_t moments = 0;
  if (optimizer_) {
    for (const Floats& moment : optimizer_->first_moments) {
      moments += 2 * static_cast<int64_t>(moment.size() * sizeof(float));
    }
  }
  return {{"packed weights", decoder_.packed_bytes()},
          {"gradients", gradients},
          {"moments", moments},
          {"buffers", decoder_.buffer_bytes()}};
}

std::string ProcessorRunner::Description() const {
  return std::string("cpu ") + decoder_.kernels().name;
}

}  // namespace hone
