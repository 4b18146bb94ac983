#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/engine.h"
#include "envs/environments.h"
#include "rollout/demonstration.h"
#include "rollout/rollout.h"
#include "support/env_player.h"
#include "support/tested_device.h"
#include "text/bpe_trainer.h"

namespace hone {

// A small model for the desk, with a tokenizer made for its dialect. With `steps`, it has been
// trained to do the first tasks as their plans say, hard enough to nearly repeat them.
class DeskPolicy {
 public:
  struct Options {
    std::string environment = "desk";
    std::string dialect = "tagged:desk";
    std::string thought;  // before every turn that is demonstrated; empty: none
    int64_t tasks = 8;
    int64_t least_calls = 0;  // of the tasks
    int64_t steps = 0;
    int64_t positions = 256;
    int64_t width = 32;
    int64_t layers = 2;
    double learning_rate = 0.02;
    int threads = 1;
    int64_t sampler_memory = int64_t{1} << 30;
  };

  explicit DeskPolicy(const Options& options) : options_(options) {
    env_ = NewBuiltIn(options.environment).value();
    dialect_ = NewDialect(options.dialect).value();
    Demonstrate();
    MakeTokenizer();
    MakeEngine();
    for (int64_t step = 0; step < options.steps; ++step) TrainStep(step);
  }

  const Environment& environment() const { return *env_.environment; }
  const Dialect& dialect() const { return *dialect_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  Engine& engine() { return *engine_; }
  const std::vector<Task>& tasks() const { return tasks_; }
  const std::vector<Playthrough>& demonstrations() const { return demonstrations_; }

  Policy Make(const Sampling& sampling = {.forbidden_set = 1}, int64_t max_turn_tokens = 48,
              const ThoughtLimits& thoughts = {}) {
    return Policy::New(engine_.get(), dialect_.get(), tokenizer_.get(),
                       {.sampling = sampling,
                        .max_turn_tokens = max_turn_tokens,
                        .thoughts = thoughts,
                        .version = 7})
        .value();
  }
  TurnCodec codec() const { return TurnCodec::New(dialect_.get(), tokenizer_.get()).value(); }

  // One group per task, each of so many leaves.
  std::vector<GroupRequest> Requests(int64_t leaves) const {
    std::vector<GroupRequest> requests;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      requests.push_back({.task = tasks_[i], .seed = 100 + i, .leaves = leaves, .scope = ""});
    }
    return requests;
  }

 private:
  void Demonstrate() {
    EnvPlayer player(env_.environment);
    for (uint64_t i = 0; static_cast<int64_t>(tasks_.size()) < options_.tasks; ++i) {
      Task task = env_.tasks->Make(Split::kTrain, i);
      Playthrough played = player.Run(task, env_.gold_agent(task).value());
      if (played.CountCalls() < options_.least_calls) continue;
      for (PlayedTurn& turn : played.turns) turn.agent.thought = options_.thought;
      demonstrations_.push_back(std::move(played));
      tasks_.push_back(std::move(task));
    }
  }

  void MakeTokenizer() {
    std::vector<std::string> texts;
    for (const Playthrough& played : demonstrations_) {
      Conversation conversation = ConversationOf(played.opening).value();
      for (const PlayedTurn& turn : played.turns) {
        conversation.messages.push_back(MessageOf(turn.agent));
        for (Message& message : MessagesAfter(turn.agent, turn.environment)) {
          conversation.messages.push_back(std::move(message));
        }
      }
      texts.push_back(TextOf(dialect_->Render(conversation).value()));
    }
    BpeTrainingOptions training{.vocab_size = 400, .min_frequency = 2, .nfc = false};
    for (size_t i = 0; i < dialect_->traits().markers.size(); ++i) {
      AddedToken token;
      token.content = dialect_->traits().markers[i];
      token.special = i < dialect_->traits().specials;
      training.added.push_back(std::move(token));
    }
    tokenizer_ = std::make_unique<Tokenizer>(TrainBpe(texts, training).value());
  }

  void MakeEngine() {
    ModelConfig config;
    config.layers = options_.layers;
    config.width = options_.width;
    config.heads = config.kv_heads = options_.width / 16;
    config.head_dim = 16;
    config.ffn = 2 * options_.width;
    config.vocab = tokenizer_->vocab_size();
    config.max_positions = options_.positions;
    config.qk_norm = true;
    Model model = NewModel(config);
    InitializeModel(11, &model);
    Engine::Options engine_options;
    engine_options.threads = options_.threads;
    engine_options.device = TestedDevice();
    engine_options.forbidden = ForbiddenTokens(*dialect_, *tokenizer_, config.vocab);
    engine_options.sampler.memory = options_.sampler_memory;
    engine_ = std::make_unique<Engine>(std::move(model), engine_options);
  }

  void TrainStep(int64_t step) {
    std::vector<Tree> trees;
    double tokens = 0;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      trees.push_back(DemonstrationTree(codec(), tasks_[i], 1, demonstrations_[i]).value());
      for (const Node& node : trees.back().nodes) {
        if (node.author == Author::kPolicy) tokens += static_cast<double>(node.tokens.size());
      }
    }
    engine_->Accumulate(trees, [&](std::span<TreeTerms> terms) {
      for (size_t i = 0; i < trees.size(); ++i) {
        PathTerms& path = terms[i].paths[0];
        size_t at = 0;
        for (const Node& node : trees[i].nodes) {
          for (size_t t = 0; t < node.tokens.size(); ++t, ++at) {
            if (node.author == Author::kPolicy) {
              path.dlogprobs[at] = static_cast<float>(-1 / tokens);
            }
          }
        }
      }
    });
    const double left = 1 - static_cast<double>(step) / static_cast<double>(options_.steps);
    engine_->Step({.learning_rate = options_.learning_rate * left, .weight_decay = 0});
  }

  const Options options_;
  LoadedEnvironment env_;
  std::unique_ptr<Dialect> dialect_;
  std::vector<Task> tasks_;
  std::vector<Playthrough> demonstrations_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace hone
