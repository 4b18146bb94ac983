#pragma once

#include <memory>

#include "base/file.h"
#include "support/tiny_recipe.h"
#include "train/stage_context.h"
#include "train/stages/sft_stage.h"

namespace hone {

// What the stages of a tiny run work with, with a fresh model.
struct TinyContext {
  explicit TinyContext(const std::vector<std::string>& overrides = {})
      : recipe(ReadTiny(directory.path(), overrides).value()),
        clock(NewRealClock()),
        times(clock.get()),
        context(StageContext::Open(recipe, directory.path(), {}, &times).value()) {
    Restart();
  }
  void Restart() {
    Model model = MakeModel(recipe.model, *context->language.tokenizer, recipe.run.seed).value();
    context->engine = std::make_unique<Engine>(std::move(model), context->engine_options);
  }

  // The recipe's first stage, which is imitation, for so many steps.
  Result<void> Imitate(int64_t steps) {
    const auto imitation =
        SftTraining::Open(SettingsOf<SftStage>(recipe.stages[0]), 0, context.get()).value();
    for (int64_t step = 0; step < steps; ++step) {
      const auto done = imitation->Step(step);
      if (!done.ok()) return done.error();
    }
    return {};
  }

  const TemporaryDirectory directory;
  const TrainingRecipe recipe;
  const std::unique_ptr<Clock> clock;
  PassTimes times;
  const std::unique_ptr<StageContext> context;
};

}  // namespace hone
