#include "train/stages/preference_stage.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/rng.h"
#include "data/preference_file.h"
#include "learn/sft.h"
#include "learn/training_group.h"
#include "rollout/demonstration.h"
#include "train/recipe_checks.h"
#include "train/reference.h"

namespace hone {
namespace {

// Pairs in the tokens of a model, with what the reference says of them.
class PreferenceRun final : public StageRun {
 public:
  static Result<std::unique_ptr<StageRun>> Open(const PreferenceStage& stage, int64_t number,
                                                bool begin, StageContext* context) {
    if (context->cluster != nullptr && context->cluster->size() > 1) {
      return Error(ErrorCode::kUnsupported,
                   "a stage of preferences is trained by one process; run this recipe with one");
    }
    std::unique_ptr<PreferenceRun> run(new PreferenceRun(stage, context));
    HONE_RETURN_IF_ERROR(run->Read());
    HONE_RETURN_IF_ERROR(run->AskReference(number, begin));
    return std::unique_ptr<StageRun>(std::move(run));
  }

  Result<StageStep> Step(int64_t step) override {
    const PreferenceMetrics metrics = context_->times->Run("training", [&] {
      std::vector<PreferencePair> pairs;
      std::vector<PairLogprobs> reference;
      for (int64_t i = step * stage_.batch; i < (step + 1) * stage_.batch; ++i) {
        const size_t at = NumberOf(static_cast<uint64_t>(i));
        pairs.push_back(pairs_[at]);
        reference.push_back(reference_[at]);
      }
      return AccumulatePreferences(stage_.loss, pairs, reference, context_->engine.get());
    });
    OptimizerOptions optimizer = stage_.optimizer;
    optimizer.learning_rate = stage_.rate.At(step);
    const double norm =
        context_->times->Run("training", [&] { return context_->engine->Step(optimizer); });
    StageStep done;
    done.values = {{"preference/loss", metrics.loss},
                   {"preference/accuracy", metrics.accuracy},
                   {"preference/margin", metrics.margin},
                   {"preference/chosen", metrics.chosen_reward},
                   {"preference/rejected", metrics.rejected_reward},
                   {"grad_norm", norm},
                   {"learning_rate", optimizer.learning_rate},
                   {"tokens", static_cast<double>(metrics.tokens)}};
    return done;
  }
  bool IsOver(int64_t steps) const override { return steps >= stage_.steps; }
  Json State() const override { return {}; }
  Result<void> Restore(const Json& /*state*/) override { return {}; }

 private:
  PreferenceRun(const PreferenceStage& stage, StageContext* context)
      : stage_(stage), context_(context) {}

  // Nothing where it does not fit and may be left out.
  Result<std::optional<Tree>> TreeOf(const ConversationRow& row, const std::string& place) const {
    const Result<Tree> tree =
        ConversationTree(*context_->language.codec, row.conversation, row.imitated);
    if (!tree.ok()) return tree.error().In(place);
    const int64_t positions = PositionsOf(context_->recipe->model);
    for (const NodeId end : SegmentEnds(*tree, tree->leaves[0].node)) {
      const auto length = std::ssize(TokensOf(*tree, PathTo(*tree, end)));
      if (positions == 0 || length <= positions) continue;
      if (stage_.skip_too_long) return std::optional<Tree>();
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: has {} tokens, and the model's context is {}; raise "
                               "model.fresh.positions, take it out, or write too_long = \"skip\"",
                               place, length, positions));
    }
    return std::optional<Tree>(ForImitation(*tree));
  }

  Result<void> Read() {
    for (size_t i = 0; i < stage_.rows->size(); ++i) {
      const PreferenceRow& row = (*stage_.rows)[i];
      HONE_ASSIGN_OR_RETURN(std::optional<Tree> chosen, TreeOf(row.chosen, stage_.places[i]));
      HONE_ASSIGN_OR_RETURN(std::optional<Tree> rejected, TreeOf(row.rejected, stage_.places[i]));
      if (chosen && rejected) pairs_.push_back({*std::move(chosen), *std::move(rejected)});
    }
    if (pairs_.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("every pair is longer than the model's context of {} tokens",
                               PositionsOf(context_->recipe->model)));
    }
    if (context_->note) {
      context_->note(fmt::format("{} pairs{}", pairs_.size(),
                                 pairs_.size() == stage_.rows->size()
                                     ? ""
                                     : fmt::format("; {} are too long and left out",
                                                   stage_.rows->size() - pairs_.size())));
    }
    return {};
  }

  // Once for all steps: the reference does not change.
  Result<void> AskReference(int64_t number, bool begin) {
    const std::filesystem::path folder =
        context_->folder / fmt::format("{}{}", kReferencePrefix, number);
    HONE_ASSIGN_OR_RETURN(
        const Reference reference,
        Reference::Open(folder, begin, *context_->engine, context_->engine_options));
    for (const PreferencePair& pair : pairs_) {
      const std::span<const PreferencePair> one(&pair, 1);
      const std::vector<Tree> trees = TreesOf(one);
      reference_.push_back(
          PairLogprobsOf(one, reference.LogProbs(trees, context_->engine.get()))[0]);
    }
    return {};
  }

  // Which pair is the n-th of the run: every epoch has each once, in an order of its own.
  size_t NumberOf(uint64_t position) {
    const uint64_t epoch = position / pairs_.size();
    if (epoch != epoch_) {
      order_ = Shuffled(pairs_.size(),
                        Rng(context_->recipe->run.seed).Split("preferences").Split(epoch));
      epoch_ = epoch;
    }
    return order_[position % pairs_.size()];
  }

  const PreferenceStage stage_;
  StageContext* const context_;
  std::vector<PreferencePair> pairs_;
  std::vector<PairLogprobs> reference_;  // of each
  uint64_t epoch_ = UINT64_MAX;          // that order_ is of
  std::vector<size_t> order_;
};

class Preference final : public StageOf<PreferenceStage> {
 public:
  using StageOf::StageOf;

  StageSize size() const override {
    return {.steps = settings.steps,
            .expected_steps = settings.steps,
            .call_tokens = settings.loss.call_tokens};
  }
  double SecondsPerStep(const EpisodeFigures& figures) const override {
    return 2 * static_cast<double>(settings.batch) * figures.tokens /
           figures.train_tokens_per_second;
  }
  std::vector<std::string> files() const override { return settings.files; }
  void Check(const TrainingRecipe& recipe, RecipeTable* table) const override {
    if (recipe.model.folder.empty() && recipe.stages.empty()) {
      table->Problem("kind",
                     "preferences change a policy that there is: put a stage sft before it, or "
                     "name a model (model.folder)");
    }
  }
  Result<std::unique_ptr<StageRun>> Open(int64_t number, bool begin,
                                         StageContext* context) const override {
    return PreferenceRun::Open(settings, number, begin, context);
  }
};

void ReadPairs(RecipeTable* table, PreferenceStage* stage) {
  auto rows = std::make_shared<std::vector<PreferenceRow>>();
  for (const std::string& file : stage->files) {
    const Result<std::string> text = ReadFile(file);
    if (!text.ok()) return table->Problem("data", text.error().message());
    const std::string name = std::filesystem::path(file).filename().string();
    Result<std::vector<PreferenceRow>> read = ReadPreferences(*text, name);
    if (!read.ok()) return table->Problem("data", read.error().message());
    for (size_t i = 0; i < read->size(); ++i) {
      stage->places.push_back(fmt::format("{}, pair {}", name, i + 1));
      rows->push_back(std::move((*read)[i]));
    }
  }
  stage->rows = std::move(rows);
}

}  // namespace

std::shared_ptr<Stage> ReadPreferenceStage(RecipeTable table,
                                           const EnvironmentOptions& /*environment*/) {
  PreferenceStage stage;
  table.ReadPaths("data", &stage.files, "pairs of which one is preferred", PathUse::kInput);
  if (stage.files.empty()) {
    table.Problem("data", "is missing: name files of pairs (docs/conversations.md#preferences)");
  } else {
    ReadPairs(&table, &stage);
  }
  std::string too_long = "refuse";
  table.ReadChoice("too_long", &too_long, {"refuse", "skip"},
                   "what becomes of pairs that do not fit the model's context");
  stage.skip_too_long = too_long == "skip";
  table.Read("beta", &stage.loss.beta, "how far from the reference a preference carries", Above(0));
  table.Read("label_smoothing", &stage.loss.label_smoothing,
             "share of pairs that are taken to be the wrong way round", Between(0, 0.5));
  table.Read("batch", &stage.batch, "pairs per step", AtLeast(1));
  double epochs = 1;
  table.Read("epochs", &epochs, "how often every pair comes", Above(0));
  if (stage.rows != nullptr) {
    const double pairs = epochs * static_cast<double>(stage.rows->size());
    stage.steps =
        std::max<int64_t>(1, std::llround(std::ceil(pairs / static_cast<double>(stage.batch))));
  }
  table.Read("steps", &stage.steps, "of the optimiser", AtLeast(1));
  table.Read("call_tokens", &stage.loss.call_tokens,
             "tokens that go through the engine at once, at most: bounds its memory", AtLeast(1));
  stage.rate = ReadLearningRate(
      &table,
      {.peak = 1e-5, .warmup = 5, .steps = stage.steps, .shape = LearningRate::Shape::kCosine});
  stage.rate.steps = stage.steps;
  stage.optimizer =
      ReadOptimizer(&table, {.beta1 = 0.9, .beta2 = 0.99, .weight_decay = 0, .max_norm = 1});
  return std::make_shared<Preference>(std::move(stage));
}

}  // namespace hone
