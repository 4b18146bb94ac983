#pragma once

#include <memory>

#include "base/file.h"
#include "learn/workshop.h"
#include "support/tiny_recipe.h"

namespace hone {

// What the stages of a tiny run work with, with a fresh model.
struct TinyWorkshop {
  explicit TinyWorkshop(const std::vector<std::string>& overrides = {})
      : recipe(ReadTiny(directory.path(), overrides).value()),
        clock(NewRealClock()),
        times(clock.get()),
        shop(Workshop::Open(recipe, directory.path(), {}, &times).value()) {
    Restart();
  }
  void Restart() {
    Model model = MakeModel(recipe.model, *shop->language.tokenizer, recipe.run.seed).value();
    shop->engine = std::make_unique<Engine>(std::move(model), shop->engine_options);
  }

  const TemporaryDirectory directory;
  const TrainingRecipe recipe;
  const std::unique_ptr<Clock> clock;
  PassTimes times;
  const std::unique_ptr<Workshop> shop;
};

}  // namespace hone
