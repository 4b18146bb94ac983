#include "train/stages/sft_stage.h"

#include <numeric>

#include <fmt/format.h>

#include "learn/batches.h"

namespace hone {
namespace {

class Imitation final : public StageOf<SftStage> {
 public:
  using StageOf::StageOf;

  StageSize size() const override {
    return {.steps = settings.steps,
            .expected_steps = settings.steps,
            .call_tokens = settings.loss.call_tokens};
  }
  double SecondsPerStep(const EpisodeFigures& figures) const override {
    return static_cast<double>(settings.batch) * figures.tokens / figures.train_tokens_per_second;
  }
  const DemonstratorOptions* demonstrator() const override { return &settings.demonstrator; }
  Result<std::unique_ptr<StageRun>> Open(int64_t /*number*/, bool /*begin*/,
                                         StageContext* context) const override {
    return std::unique_ptr<StageRun>(std::make_unique<SftTraining>(settings, context));
  }
};

}  // namespace

std::shared_ptr<Stage> ReadSftStage(RecipeTable table, const EnvironmentOptions& environment) {
  SftStage stage;
  stage.demonstrator = ReadDemonstrator(&table, environment);
  table.Read("steps", &stage.steps, "of the optimiser", AtLeast(1));
  table.Read("batch", &stage.batch, "demonstrations per step", AtLeast(1));
  table.Read("demonstrations", &stage.demonstrations, "different ones; 0: none comes twice",
             AtLeast(0));
  table.Read("other_weight", &stage.loss.other_weight, "of tokens that others wrote", AtLeast(0));
  table.Read("call_tokens", &stage.loss.call_tokens,
             "tokens that go through the engine at once, at most: bounds its memory", AtLeast(1));
  stage.rate = ReadLearningRate(
      &table,
      {.peak = 3e-3, .warmup = 40, .steps = stage.steps, .shape = LearningRate::Shape::kCosine});
  stage.rate.steps = stage.steps;
  stage.optimizer =
      ReadOptimizer(&table, {.beta1 = 0.9, .beta2 = 0.95, .weight_decay = 0.05, .max_norm = 1});
  return std::make_shared<Imitation>(std::move(stage));
}

SftTraining::SftTraining(const SftStage& stage, StageContext* context)
    : stage_(stage),
      context_(context),
      demonstrator_(stage.demonstrator, &context->environment, context->showing->executor(),
                    context->recipe->run.seed) {}

uint64_t SftTraining::NumberOf(uint64_t position) {
  const std::optional<uint64_t> tasks =
      context_->environment.tasks->count(Split::kTrain);  // those without end are never repeated
  const uint64_t different =
      stage_.demonstrations > 0 ? static_cast<uint64_t>(stage_.demonstrations) : tasks.value_or(0);
  if (different == 0) return position;
  const uint64_t epoch = position / different;
  if (epoch != epoch_) {
    order_ = Shuffled(different, Rng(context_->recipe->run.seed).Split("sft").Split(epoch));
    epoch_ = epoch;
  }
  return order_[position % different];
}

Result<void> CheckDemonstration(const Engine& engine, const Tree& tree) {
  const Result<void> fits = engine.CheckTree(tree);
  if (fits.ok()) return {};
  return Error(fits.error().code(),
               fmt::format("the demonstration of {} does not fit the model: {}; raise "
                           "model.fresh.positions, lower environment.rules.calls and .turns, or "
                           "choose a shorter model.dialect",
                           tree.task.id, fits.error().message()));
}

Result<Tree> SftTraining::DemonstrationAt(uint64_t position) {
  return demonstrator_.WantedTree(NumberOf(position), *context_->language.codec);
}

Result<StageStep> SftTraining::Step(int64_t step) {
  const auto batch = static_cast<size_t>(stage_.batch);
  std::vector<Tree> trees;
  std::vector<int64_t> tokens;
  const auto make = [&]() -> Result<void> {
    for (size_t i = 0; i < batch; ++i) {
      HONE_ASSIGN_OR_RETURN(Tree tree, DemonstrationAt(static_cast<uint64_t>(step) * batch + i));
      HONE_RETURN_IF_ERROR(CheckDemonstration(*context_->engine, tree));
      tokens.push_back(CountTokens(tree));
      trees.push_back(std::move(tree));
    }
    return {};
  };
  HONE_RETURN_IF_ERROR(context_->times->Run("demonstrations", make));
  std::vector<size_t> order(batch);
  std::iota(order.begin(), order.end(), size_t{0});
  const SftBatch calls = PackByTokens(order, tokens, stage_.loss.call_tokens);
  OptimizerOptions optimizer = stage_.optimizer;
  optimizer.learning_rate = stage_.rate.At(step);
  return context_->times->Run("training", [&]() -> Result<StageStep> {
    const SftMetrics metrics = AccumulateSft(stage_.loss, trees, calls, context_->engine.get());
    const double norm = context_->engine->Step(optimizer);
    return StageStep{
        .values = {{"sft/loss", metrics.policy_loss},
                   {"sft/other_loss", metrics.other_loss},
                   {"grad_norm", norm},
                   {"learning_rate", optimizer.learning_rate},
                   {"tokens", static_cast<double>(metrics.policy_tokens + metrics.other_tokens)}}};
  });
}

}  // namespace hone
