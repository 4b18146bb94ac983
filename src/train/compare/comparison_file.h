#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "evaluate/compare/claims.h"
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
  // Settings to choose among (train/compare/tuning.h), each some changes more; empty: none. Until
  // one is chosen there are no runs of the arm.
  std::vector<std::vector<std::string>> grid;
  // An arm with a grid, whose chosen setting this one takes, too; empty: none. Until that one is
  // chosen there are no runs of this arm either.
  std::string like;

  // What is run is not known yet.
  bool Open() const { return !grid.empty() || !like.empty(); }

  bool operator==(const ComparisonArm&) const = default;
};

// The policy that rl begins with, measured without rl: a row beside the arms'.
struct StartControl {
  std::string name;        // "start", "start-greedy", "start@0.3"
  std::string label;       // for tables
  std::string evaluation;  // of its runs
  bool greedy = false;
  size_t arm = 0;     // place among the comparison's: whose runs it is read from
  bool made = false;  // runs of its own; false: those of an arm, which measure it before rl
  std::string why;    // it cannot be measured; empty: it can
};

struct ComparisonSection {
  std::string title;
  std::string question;
  std::string text;
  std::vector<size_t> arms;  // places among the comparison's
  size_t baseline = 0;       // place among `arms`
  std::vector<uint64_t> seeds;
  double goal = 0.8;                         // success on dev, sampled
  bool given_start = false;                  // as ComparedSection has it
  std::vector<std::string> controls;         // names, as they are asked for
  std::vector<StartControl> start_controls;  // what WithControls made of them
  std::vector<uint64_t> tuning_seeds;        // of runs that only choose settings
  bool outcome_control = false;    // add an arm paid for the outcome alone where there is none
  std::vector<std::string> notes;  // to be read with its tables, such as what is missing in it
};

struct ComparisonFile {
  std::string title;
  std::string text;
  std::vector<ComparisonArm> arms;  // each once, wherever it occurs
  std::vector<ComparisonSection> sections;
  std::string choose = "dev/over-run";  // what settings are chosen by; or "dev/end"
  std::vector<Claim> claims;            // what is expected of them
  RecipeUse use = RecipeUse::kToTrain;  // what the arms' recipes are read for
};

// What the command line says; it goes over what a file says.
struct ComparisonRequest {
  std::vector<std::string> files;  // recipes, or one comparison file
  int64_t seeds = 0;               // how many; 0: not said
  int64_t seed_from = -1;          // the first; -1: not said
  double goal = -1;                // below 0: not said
  std::string baseline;            // an arm's name; empty: not said
  std::vector<std::string> set;    // key=value for all arms
  bool controls = true;            // false: none, whatever a file says
};

// A file is a comparison if it has an [[arm]] or a [[section]]; else it is a recipe. All problems
// of a file at once, with their lines.
Result<ComparisonFile> ReadComparison(const ComparisonRequest& request);

// "start", "start-greedy", and "start@T": the temperature. Absent: it is no control.
struct ControlName {
  bool greedy = false;
  std::optional<double> temperature;  // absent: as arms are measured
};
std::optional<ControlName> ParseControl(std::string_view name);

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

// A run alone; the error does not name the arm.
Result<PlannedRun> PlanRun(const ComparisonFile& comparison, size_t arm, uint64_t seed,
                           const std::filesystem::path& folder);

// All runs in the order they should be made: section by section; of each the first arm with every
// seed, so that what is shared is made early, then seed by seed. All problems of all recipes at
// once.
Result<std::vector<PlannedRun>> PlanRuns(const ComparisonFile& comparison,
                                         const std::filesystem::path& folder);

}  // namespace hone
