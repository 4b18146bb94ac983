#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/training_recipe.h"

namespace hone {

// A whole run in a second: a model of some thousand parameters at a desk where only the days of the
// week are asked for, so that it soon makes calls and answers, right ones among them.
inline std::string TinyRecipe(const std::filesystem::path& out) {
  return R"([run]
name = "tiny"
threads = 1
save_every = 1
sft_save_every = 40
log_every = 20
out = ")" +
         out.string() +
         R"("
[model]
dialect = "tagged:desk"
[model.fresh]
layers = 1
width = 32
heads = 2
positions = 192
[model.tokenizer]
texts = 100
vocabulary = 400
min_frequency = 4
[environment]
kind = "desk"
[environment.tasks]
kinds = ["day_after", "clock"]
chatter = 0.0
[rollout]
turn_tokens = 32
[rewards]
preset = "desk"
[credit]
method = "toolpo"
[answers]
mode = "simulate"
[simulator]
kind = "random"
[evaluation]
every = 2
dev_tasks = 4
test_tasks = 4
more = []
[[stage]]
kind = "sft"
steps = 60
batch = 8
learning_rate = 0.01
warmup = 5
[[stage]]
kind = "rl"
steps = 4
groups = 4
group = 4
)";
}

// The error, or the recipe, with what is to be changed.
inline Result<TrainingRecipe> ReadTiny(const std::filesystem::path& out,
                                       const std::vector<std::string>& overrides = {}) {
  Recipe recipe = Recipe::Parse(TinyRecipe(out), "tiny.toml").value();
  for (const std::string& assignment : overrides) recipe.Override(assignment);
  return ReadTrainingRecipe(&recipe);
}

// What the entry of a stage says.
template <typename Settings>
const Settings& SettingsOf(const std::shared_ptr<const Stage>& stage) {
  return dynamic_cast<const StageOf<Settings>&>(*stage).settings;
}

}  // namespace hone
