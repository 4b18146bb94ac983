#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/training_recipe.h"

// What is compared with what: recipes x seeds, in sections that each ask one question. Read from
// the command line or from a TOML file (docs/compare.md).

namespace hone {

// A recipe, perhaps with changes. Its runs lie in FOLDER/NAME/seed-N.
struct ComparisonArm {
  std::string name;
  std::string label;  // for tables
  std::string recipe;
  std::vector<std::string> changes;  // key=value, over the recipe's

  bool operator==(const ComparisonArm&) const = default;
};

struct ComparisonSection {
  std::string title;
  std::string question;
  std::string text;
  std::vector<size_t> arms;  // places among the comparison's
  size_t baseline = 0;       // place among `arms`
  std::vector<uint64_t> seeds;
  double goal = 0.8;  // success on dev, sampled
};

struct ComparisonFile {
  std::string title;
  std::string text;
  std::vector<ComparisonArm> arms;  // each once, wherever it occurs
  std::vector<ComparisonSection> sections;
};

// What the command line says; it goes over what a file says.
struct ComparisonRequest {
  std::vector<std::string> files;  // recipes, or one comparison file
  int64_t seeds = 0;               // how many; 0: not said
  int64_t seed_from = -1;          // the first; -1: not said
  double goal = -1;                // below 0: not said
  std::string baseline;            // an arm's name; empty: not said
  std::vector<std::string> set;    // key=value for all arms
};

// A file is a comparison if it has an [[arm]] or a [[section]]; else it is a recipe. All problems
// of a file at once, with their lines.
Result<ComparisonFile> ReadComparison(const ComparisonRequest& request);

// One run of a comparison: an arm with a seed.
struct PlannedRun {
  size_t arm = 0;
  uint64_t seed = 0;
  TrainingRecipe recipe;  // as it will be carried out
  std::string hash;       // of what reaches its weights
  // Of what reaches the weights that rl begins with: runs with the same one must begin alike.
  std::string start_key;
  std::vector<std::string> overrides;  // of `hone train`, but for the number of threads

  // How it is measured: [evaluation], which its hash does not know of.
  Json Evaluation() const;
};

// All runs in the order they should be made: the first arm with every seed, so that what is shared
// is made early; then seed by seed. All problems of all recipes at once.
Result<std::vector<PlannedRun>> PlanRuns(const ComparisonFile& comparison,
                                         const std::filesystem::path& folder);

}  // namespace hone
