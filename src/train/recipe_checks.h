#pragma once

#include "train/training_recipe.h"

// Whether the parts of a recipe fit each other. Problems go to the recipe, at the key they are
// about.

namespace hone {

// How many tokens the model can have before it; 0 where that cannot be known (no such folder).
int64_t PositionsOf(const PolicyModelOptions& model);

// There is such a model; the dialect exists and only ever appends; the model's tokenizer has the
// dialect's control tokens.
void CheckModel(const PolicyModelOptions& model, RecipeTable* table);

// The model in this folder has the dialect's control tokens.
Result<void> CheckMarkers(const Tokenizer& tokenizer, const Dialect& dialect,
                          const std::string& folder);

// A method that compares siblings has some to compare.
void CheckGroup(const TrainingRecipe& recipe, int64_t group, RecipeTable* table);

// Training draws what the method compares, and the method reads what the objective puts into the
// rewards: a setting that can do nothing is a problem.
void CheckCredit(const TrainingRecipe& recipe, RecipeTable* root);

// Reward terms that settings name are among those that the reward can give.
void CheckTerms(const TrainingRecipe& recipe, RecipeTable* root);

// A simulator that a stage makes is asked.
void CheckAnswers(const TrainingRecipe& recipe, RecipeTable* root);

// Another engine that draws can do what training asks of it.
void CheckRemote(const TrainingRecipe& recipe, RecipeTable* root);

// What an episode may use up fits into the model's context.
void CheckRules(const TrainingRecipe& recipe, RecipeTable* root);

}  // namespace hone
