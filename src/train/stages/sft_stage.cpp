#include "train/stages/sft_stage.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "cluster/wire.h"
#include "learn/batches.h"

namespace hone {
namespace {

class Imitation final : public StageOf<SftStage> {
 public:
  using StageOf::StageOf;

  StageSize size() const override {
    return {.steps = settings.steps,
            .expected_steps = settings.steps,
            .slices = settings.slices,
            .call_tokens = settings.loss.call_tokens};
  }
  double SecondsPerStep(const EpisodeFigures& figures) const override {
    return static_cast<double>(settings.batch) * figures.tokens / figures.train_tokens_per_second;
  }
  const DemonstratorOptions* demonstrator() const override {
    return settings.data.rows == nullptr ? &settings.demonstrator : nullptr;
  }
  const ConversationMixture* conversations() const override { return settings.data.rows.get(); }
  std::vector<std::string> files() const override {
    std::vector<std::string> all = settings.data.mixture.files;
    const std::vector<std::string>& held_out = settings.data.mixture.held_out_files;
    all.insert(all.end(), held_out.begin(), held_out.end());
    return all;
  }
  void Check(const TrainingRecipe& recipe, RecipeTable* table) const override {
    if (settings.data.mixture.files.empty() && recipe.environment.kind == kNoEnvironment) {
      table->Problem("data",
                     "there is nothing to imitate: name conversations (data = [\"chats.jsonl\"]), "
                     "or an [environment] whose tasks have plans");
    }
  }
  Result<std::unique_ptr<StageRun>> Open(int64_t number, bool /*begin*/,
                                         StageContext* context) const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<SftTraining> run,
                          SftTraining::Open(settings, number, context));
    return std::unique_ptr<StageRun>(std::move(run));
  }
};

// As many steps as the epochs take.
int64_t StepsOf(double epochs, size_t epoch, int64_t batch) {
  return std::max<int64_t>(
      1, std::llround(std::ceil(epochs * static_cast<double>(epoch) / static_cast<double>(batch))));
}

}  // namespace

std::shared_ptr<Stage> ReadSftStage(RecipeTable table, const EnvironmentOptions& environment) {
  SftStage stage;
  stage.data = ReadSftData(&table);
  const bool data = !stage.data.mixture.files.empty();
  if (!data) stage.demonstrator = ReadDemonstrator(&table, environment);
  if (!data) stage.mix = ReadMix(&table, environment);
  table.Read("batch", &stage.batch, "conversations per step", AtLeast(1));
  if (data) {
    double epochs = 3;
    table.Read("epochs", &epochs, "how often every conversation comes", Above(0));
    if (stage.data.rows != nullptr) {
      stage.steps = StepsOf(epochs, stage.data.rows->epoch(), stage.batch);
    }
    stage.loss.other_weight = 0;
  }
  table.Read("steps", &stage.steps, "of the optimiser", AtLeast(1));
  if (!data) {
    table.Read("demonstrations", &stage.demonstrations, "different ones; 0: none comes twice",
               AtLeast(0));
  }
  table.Read("slices", &stage.slices,
             "of a step, whose gradients are added up: so many processes may share it", AtLeast(1));
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

SftTraining::SftTraining(const SftStage& stage, int64_t number, StageContext* context)
    : stage_(stage),
      context_(context),
      environment_(context->EnvironmentOf(stage.mix, number)),
      demonstrator_(stage.demonstrator, &environment_, context->showing->executor(),
                    context->recipe->run.seed) {}

Result<std::unique_ptr<SftTraining>> SftTraining::Open(const SftStage& stage, int64_t number,
                                                       StageContext* context) {
  std::unique_ptr<SftTraining> run(new SftTraining(stage, number, context));
  if (stage.data.rows != nullptr) {
    HONE_ASSIGN_OR_RETURN(run->data_, SftData::Open(stage.data, *context));
  }
  return run;
}

uint64_t SftTraining::NumberOf(uint64_t position) {
  const std::optional<uint64_t> tasks =
      environment_.tasks->count(Split::kTrain);  // those without end are never repeated
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
  const uint64_t number = NumberOf(position);
  constexpr uint64_t kKept = 4096;  // of those that come again
  if (const auto kept = shown_.find(number); kept != shown_.end()) return kept->second;
  HONE_ASSIGN_OR_RETURN(Tree tree, demonstrator_.WantedTree(number, *context_->language.codec));
  if (!order_.empty() && shown_.size() < kKept) shown_.emplace(number, tree);
  return tree;
}

Result<std::vector<Tree>> SftTraining::BatchOf(int64_t step, int64_t begin, int64_t end) {
  std::vector<Tree> trees;
  for (int64_t i = step * stage_.batch + begin; i < step * stage_.batch + end; ++i) {
    const auto position = static_cast<uint64_t>(i);
    if (data_) {
      if (const Tree* tree = data_->At(position)) trees.push_back(*tree);
      continue;
    }
    HONE_ASSIGN_OR_RETURN(Tree tree, DemonstrationAt(position));
    HONE_RETURN_IF_ERROR(CheckDemonstration(*context_->engine, tree));
    trees.push_back(std::move(tree));
  }
  return trees;
}

// A token weighs the same in every slice: all are told what all weigh.
Result<SftTraining::SlicedBatch> SftTraining::BatchOf(int64_t step, const Slices& slices) {
  SlicedBatch batch;
  const auto weigh = [&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> weights;
    for (int64_t slice = slices.mine().first; slice < slices.mine().second; ++slice) {
      const auto [begin, end] = PartOf(static_cast<size_t>(stage_.batch), slices.count(), slice);
      HONE_ASSIGN_OR_RETURN(
          std::vector<Tree> trees,
          BatchOf(step, static_cast<int64_t>(begin), static_cast<int64_t>(end)));
      std::vector<double> each;
      for (const Tree& tree : trees) each.push_back(TokenWeight(stage_.loss, {&tree, 1}));
      WireWriter writer;
      writer(each);
      weights.push_back(writer.Take());
      batch.mine.push_back(std::move(trees));
    }
    return weights;
  };
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> weights, slices.Share(weigh()));
  for (const std::string& bytes : weights) {
    std::vector<double> each;
    WireReader reader(bytes);
    reader(each);
    batch.empty &= each.empty();
    for (const double weight : each) batch.weight += weight;
  }
  return batch;
}

StepValues SftTraining::Learn(const SlicedBatch& batch, const Slices& slices,
                              double learning_rate) {
  std::vector<std::string> of_mine;
  slices.Accumulate(context_->engine.get(), [&](int64_t slice) {
    const std::vector<Tree>& trees = batch.mine[static_cast<size_t>(slice - slices.mine().first)];
    std::vector<int64_t> tokens;
    for (const Tree& tree : trees) tokens.push_back(CountTokens(tree));
    std::vector<size_t> order(trees.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const SftMetrics metrics =
        AccumulateSft(stage_.loss, trees, PackByTokens(order, tokens, stage_.loss.call_tokens),
                      batch.weight, context_->engine.get());
    WireWriter writer;
    writer(metrics);
    of_mine.push_back(writer.Take());
  });
  std::vector<SftMetrics> parts;
  for (const std::string& bytes : slices.Share(std::move(of_mine))) {
    WireReader reader(bytes);
    reader(parts.emplace_back());
  }
  const SftMetrics metrics = Combine(parts);
  OptimizerOptions optimizer = stage_.optimizer;
  optimizer.learning_rate = learning_rate;
  const double norm = context_->engine->Step(optimizer);
  StepValues values = {
      {"sft/loss", metrics.policy_loss},
      {"grad_norm", norm},
      {"learning_rate", learning_rate},
      {"tokens", static_cast<double>(metrics.policy_tokens + metrics.other_tokens)}};
  // Of tokens that nobody learns it says nothing.
  if (stage_.loss.other_weight > 0) values["sft/other_loss"] = metrics.other_loss;
  return values;
}

Result<StageStep> SftTraining::Step(int64_t step) {
  const Slices slices(stage_.slices, context_->cluster);
  HONE_ASSIGN_OR_RETURN(const SlicedBatch batch, context_->times->Run("demonstrations", [&] {
    return BatchOf(step, slices);
  }));
  StageStep done;
  if (!batch.empty) {  // all of them may be too long
    done.values = context_->times->Run(
        "training", [&] { return Learn(batch, slices, stage_.rate.At(step)); });
  }
  if (context_->cluster != nullptr && !context_->cluster->leads()) return done;
  if (!data_ || !data_->has_held_out()) return done;
  const int64_t every = stage_.data.held_out_every;
  const bool due = (every > 0 && (step + 1) % every == 0) || IsOver(step + 1);
  if (!due) return done;
  HONE_ASSIGN_OR_RETURN(done.measured, context_->times->Run("evaluation", [&] {
    return data_->Measure(*context_, stage_.loss.call_tokens);
  }));
  return done;
}

}  // namespace hone
