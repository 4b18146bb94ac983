#include "train/processes/shared_answers.h"

#include "base/check.h"
#include "cluster/wire.h"
#include "train/processes/orders.h"

namespace hone {
namespace {

struct Learning {
  int64_t slices = 1, vocabulary = 0;
  LearnedOptions options;
  std::vector<std::vector<TokenId>> tokens;  // of each example
  std::vector<uint64_t> begins;              // of its answer
};

template <typename Wire>
void Fields(Wire& wire, Learning& learning) {
  LearnedOptions& o = learning.options;
  wire(learning.slices, learning.vocabulary, o.layers, o.width, o.heads, o.vocabulary, o.positions,
       o.steps, o.batch, o.learning_rate, o.warmup, o.weight_decay, o.status_weight, o.seed,
       learning.tokens, learning.begins);
}

}  // namespace

void SharedAnswers::Begin(const std::vector<AnswerExample>& examples, int64_t vocabulary,
                          const LearnedOptions& options) {
  if (cluster_ == nullptr || cluster_->size() == 1 || !cluster_->leads()) return;
  Learning learning{.slices = count(), .vocabulary = vocabulary, .options = options};
  for (const AnswerExample& example : examples) {
    learning.tokens.push_back(example.tree.nodes[0].tokens);
    learning.begins.push_back(example.answer_begin);
  }
  cluster_->Broadcast(WriteOrder(Order::kLearnAnswers, learning));
}

double SharedAnswers::AddUp(Engine* engine,
                            const std::function<double(int64_t slice)>& accumulate) {
  std::vector<std::string> mine;
  slices_.Accumulate(engine, [&](int64_t slice) {
    WireWriter writer;
    writer(accumulate(slice));
    mine.push_back(writer.Take());
  });
  double sum = 0;
  for (const std::string& bytes : slices_.Share(std::move(mine))) {
    double one = 0;
    WireReader reader(bytes);
    reader(one);
    sum += one;
  }
  return sum;
}

void LearnAnswersToo(WireReader* arguments, int threads, Cluster* cluster) {
  Learning learning;
  (*arguments)(learning);
  CHECK(learning.tokens.size() == learning.begins.size(), "an order is cut off");
  std::vector<AnswerExample> examples;
  for (size_t i = 0; i < learning.tokens.size(); ++i) {
    examples.push_back({ChainOf(std::move(learning.tokens[i])), learning.begins[i]});
  }
  learning.options.threads = threads;
  SharedAnswers slices(learning.slices, cluster);
  learning.options.slices = &slices;
  TrainingReport report;
  const auto trained = TrainOnAnswers(examples, learning.vocabulary, learning.options, &report,
                                      /*progress=*/nullptr);
  CHECK(trained.ok(), "process 0 made a model of this shape");
}

}  // namespace hone
