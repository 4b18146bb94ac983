#include "learn/model_views.h"

#include "base/check.h"
#include "learn/batches.h"
#include "learn/training_group.h"

namespace hone {
namespace {

std::vector<TreeLogprobs> LogProbsBy(const LogprobsFunction& model,
                                     const std::vector<ScoredTree>& records, int64_t call_tokens) {
  std::vector<int64_t> tokens;
  std::vector<size_t> order;
  for (const ScoredTree& record : records) {
    order.push_back(order.size());
    tokens.push_back(CountTokens(record.tree));
  }
  std::vector<TreeLogprobs> logprobs;
  for (const std::vector<size_t>& call : PackByTokens(order, tokens, call_tokens)) {
    std::vector<Tree> trees;
    for (const size_t i : call) trees.push_back(records[i].tree);
    for (TreeLogprobs& one : model(trees)) logprobs.push_back(std::move(one));
  }
  return logprobs;
}

}  // namespace

ModelViews AskModels(const std::vector<ScoredTree>& records, const ModelQuestions& questions) {
  ModelViews views;
  const auto ask = [&](const LogprobsFunction& model) {
    return LogProbsBy(model, records, questions.call_tokens);
  };
  if (questions.reference) views.reference = ask(questions.reference);
  if (questions.now) views.now = ask(questions.now);
  if (!questions.critic) return views;
  CHECK(questions.now, "whoever asks the critic asks the policy");
  for (size_t i = 0; i < records.size(); ++i) {
    views.values.push_back(ValuesBefore(records[i].tree, views.now[i]));
  }
  return views;
}

}  // namespace hone
