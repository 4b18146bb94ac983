#include "simulate/players/answer_training.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/rng.h"
#include "engine/learning_rate.h"

namespace hone {
namespace {

Result<Model> FreshModel(const LearnedOptions& options, int64_t vocabulary) {
  if (options.width % options.heads != 0 || (options.width / options.heads) % 2 != 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a width of {} does not fit {} heads; their quotient must be even",
                             options.width, options.heads));
  }
  ModelConfig config;
  config.layers = options.layers;
  config.width = options.width;
  config.heads = config.kv_heads = options.heads;
  config.head_dim = options.width / options.heads;
  config.ffn = 3 * options.width;
  config.vocab = vocabulary;
  config.max_positions = options.positions;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(options.seed, &model);
  return model;
}

using Batch = std::vector<const AnswerExample*>;

// Adds the gradient of some examples of a batch, which weighs so much, to the engine's. Gives their
// loss.
double AccumulateAnswers(std::span<const AnswerExample* const> examples, double weights,
                         double status_weight, Engine* engine) {
  std::vector<Tree> trees;
  for (const AnswerExample* example : examples) trees.push_back(example->tree);
  double loss = 0;
  engine->Accumulate(trees, [&](std::span<TreeTerms> terms) {
    for (size_t i = 0; i < examples.size(); ++i) {
      PathTerms& path = terms[i].paths[0];
      const size_t begin = examples[i]->answer_begin;
      for (size_t t = begin; t < path.logprobs.size(); ++t) {
        const double weight = t == begin ? status_weight : 1;
        loss -= path.logprobs[t];
        path.dlogprobs[t] = static_cast<float>(-weight / weights);
      }
    }
  });
  return loss;
}

// One step on some examples; gives the loss per token, all tokens alike.
double TrainStep(Engine* engine, const Batch& batch, double rate, const LearnedOptions& options) {
  AnswerSlices* slices = options.slices;
  size_t answers = 0;
  for (const AnswerExample* example : batch) {
    answers += example->tree.nodes[0].tokens.size() - example->answer_begin;
  }
  const double weights = static_cast<double>(answers) +
                         (options.status_weight - 1) * static_cast<double>(batch.size());
  const auto accumulate = [&](size_t begin, size_t end) {
    if (begin == end) return 0.0;
    return AccumulateAnswers(std::span(batch).subspan(begin, end - begin), weights,
                             options.status_weight, engine);
  };
  const double loss =
      slices == nullptr ? accumulate(0, batch.size()) : slices->AddUp(engine, [&](int64_t slice) {
        const auto count = static_cast<size_t>(slices->count()), i = static_cast<size_t>(slice);
        return accumulate(batch.size() * i / count, batch.size() * (i + 1) / count);
      });
  engine->Step({.learning_rate = rate, .weight_decay = options.weight_decay});
  return loss / static_cast<double>(answers);
}

}  // namespace

Json TrainingReport::ToJson() const {
  return Json::Of({{"calls", calls},
                   {"too_long", too_long},
                   {"tokens", tokens},
                   {"first_loss", first_loss},
                   {"last_loss", last_loss},
                   {"parameters", parameters},
                   {"weights", weights_hash}});
}

void AddExample(std::vector<TokenId> question, const std::vector<TokenId>& answer,
                int64_t positions, std::vector<AnswerExample>* examples, TrainingReport* report) {
  const size_t begin = question.size();
  question.insert(question.end(), answer.begin(), answer.end());
  if (static_cast<int64_t>(question.size()) > positions) {
    ++report->too_long;
    return;
  }
  examples->push_back({ChainOf(std::move(question)), begin});
  ++report->calls;
}

Result<std::unique_ptr<Engine>> TrainOnAnswers(
    const std::vector<AnswerExample>& examples, int64_t vocabulary, const LearnedOptions& options,
    TrainingReport* report, const std::function<void(const TrainingProgress&)>& progress) {
  if (examples.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("every recorded call is longer than {} tokens; raise positions",
                             options.positions));
  }
  HONE_ASSIGN_OR_RETURN(Model model, FreshModel(options, vocabulary));
  report->parameters = model.config.ParameterCount();
  auto engine =
      std::make_unique<Engine>(std::move(model), Engine::Options{.threads = options.threads});
  if (options.slices != nullptr) options.slices->Begin(examples, vocabulary, options);
  std::vector<size_t> order(examples.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng = Rng(options.seed).Split("order");
  size_t next = order.size();
  const LearningRate rate{.peak = options.learning_rate,
                          .warmup = options.warmup,
                          .steps = options.steps,
                          .shape = LearningRate::Shape::kCosine};
  const int64_t tail = std::max<int64_t>(options.steps / 10, 1);
  for (int64_t step = 0; step < options.steps; ++step) {
    Batch batch;
    while (static_cast<int64_t>(batch.size()) < options.batch) {
      if (next == order.size()) {
        for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
        next = 0;
      }
      batch.push_back(&examples[order[next++]]);
    }
    const double loss = TrainStep(engine.get(), batch, rate.At(step), options);
    if (step == 0) report->first_loss = loss;
    if (step >= options.steps - tail) report->last_loss += loss / static_cast<double>(tail);
    if (progress) progress({step + 1, options.steps, loss});
  }
  report->tokens = engine->tokens_computed();
  report->weights_hash = engine->WeightsHash();
  return engine;
}

}  // namespace hone
