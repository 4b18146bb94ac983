#include "rollout/turn_drawer.h"

namespace hone {
namespace {

class EngineDrawer final : public TurnDrawer {
 public:
  explicit EngineDrawer(Engine* engine)
      : sampler_(engine->NewSampler()), beside_(engine->computes_beside()) {}

  Id Start(std::vector<TokenId> tokens) override { return sampler_->Start(std::move(tokens)); }
  Id Fork(Id from, int64_t length) override { return sampler_->Fork(from, length); }
  void Append(Id id, std::span<const TokenId> tokens) override { sampler_->Append(id, tokens); }
  Result<void> Generate(Id id, TurnRequest request) override {
    return sampler_->Generate(id, std::move(request));
  }
  SampleResult Take(Id id) override { return sampler_->Take(id); }
  void Release(Id id) override { sampler_->Release(id); }
  const std::vector<TokenId>& Tokens(Id id) const override { return sampler_->Tokens(id); }

  void Begin() override {
    if (beside_) sampler_->Begin();
  }
  Result<std::vector<Id>> Draw(std::chrono::milliseconds) override {
    return sampler_->under_way() ? sampler_->End() : sampler_->Step();
  }
  Counters counters() const override {
    return {sampler_->counters().steps, sampler_->counters().preemptions};
  }

 private:
  const std::unique_ptr<Sampler> sampler_;
  const bool beside_;
};

}  // namespace

std::unique_ptr<TurnDrawer> NewEngineDrawer(Engine* engine) {
  return std::make_unique<EngineDrawer>(engine);
}

}  // namespace hone
