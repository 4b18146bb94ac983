#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/engine.h"

namespace hone {

class AnswerSlices;

// How a small decoder is made that writes what tools answer: its shape, and its training.
struct LearnedOptions {
  int64_t layers = 3;
  int64_t width = 128;
  int64_t heads = 4;
  int64_t vocabulary = 1024;  // of the tokenizer, at most
  int64_t positions = 1024;   // longer calls are left out of training and cannot be played
  int64_t steps = 1200;
  int64_t batch = 64;  // calls per step
  double learning_rate = 3e-3;
  // Steps; from then on the rate falls like a cosine to nothing, so that what is left of the last
  // batches does not show in the distribution of the answers.
  int64_t warmup = 40;
  double weight_decay = 0.05;
  // How much the first token of an answer, whether the call is refused, counts: it is one among
  // dozens, and the one that most depends on the state.
  double status_weight = 8;
  uint64_t seed = 1;
  int threads = 0;                 // 0: as many as the machine has
  AnswerSlices* slices = nullptr;  // who trains with this process; null: nobody, in one slice
};

struct TrainingProgress {
  int64_t step = 0;
  int64_t steps = 0;
  double loss = 0;  // nats per token of the answers, of this step
};

struct TrainingReport {
  int64_t calls = 0;
  int64_t too_long = 0;  // left out
  int64_t tokens = 0;    // that were computed
  double first_loss = 0;
  double last_loss = 0;  // mean of the last tenth of the steps
  int64_t parameters = 0;
  std::string weights_hash;

  Json ToJson() const;
};

// A question and its answer as one sequence.
struct AnswerExample {
  Tree tree;
  size_t answer_begin = 0;
};

// Who trains the model together with this process: a batch is cut into slices, whose gradients are
// added up in an order that follows from their number alone.
class AnswerSlices {
 public:
  virtual ~AnswerSlices() = default;
  virtual int64_t count() const = 0;
  // What is trained on, before the first step.
  virtual void Begin(const std::vector<AnswerExample>& examples, int64_t vocabulary,
                     const LearnedOptions& options) = 0;
  // Lets `accumulate` add the gradient of each slice that is this process's to the engine's, and
  // leaves the sum over all slices there. The same of what it returns.
  virtual double AddUp(Engine* engine, const std::function<double(int64_t slice)>& accumulate) = 0;
};

// Puts the tokens of a question and of its answer together; what is longer than `positions` is
// counted in the report and left out.
void AddExample(std::vector<TokenId> question, const std::vector<TokenId>& answer,
                int64_t positions, std::vector<AnswerExample>* examples, TrainingReport* report);

// Trains a fresh decoder to write the answers: nobody asks it for questions. The same examples and
// options give the same weights, to the bit, on any number of threads. An error when there are no
// examples, or shapes do not fit.
Result<std::unique_ptr<Engine>> TrainOnAnswers(
    const std::vector<AnswerExample>& examples, int64_t vocabulary, const LearnedOptions& options,
    TrainingReport* report, const std::function<void(const TrainingProgress&)>& progress);

}  // namespace hone
