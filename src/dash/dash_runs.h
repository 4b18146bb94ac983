#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone {

// A run that is shown.
struct RunPlace {
  std::string id;  // what the page calls it: its place below the folder that was given
  std::filesystem::path folder;
};

// The runs in the folders, by id: a folder that is a run (it has a recipe.toml), or runs up to
// three levels below it. What cannot be read is passed over.
std::vector<RunPlace> FindRuns(const std::vector<std::filesystem::path>& roots);

// Whether a process is training in the folder, as the kernel's list of locks says. The lock itself
// is not tried: a trainer that begins at that moment would find it taken.
bool IsBeingTrained(const std::filesystem::path& run);

// What a page says about a run's recipe before anything has happened.
struct RecipeFacts {
  struct Stage {
    std::string kind;  // "sft", "rl", ...
    int64_t steps = 0;
  };
  std::string method;  // of credit
  std::string loss;
  std::string environment;
  std::string model;  // the folder that it began with, or "fresh 4 x 256" (layers and width)
  int64_t seed = 0;
  std::vector<Stage> stages;

  // Steps of all stages that count them.
  int64_t Steps() const;
  // How many steps of the stage that does step `step` (from 0, of the run) come before it.
  int64_t StepInStage(int64_t step) const;
};

// Of a resolved recipe. What is missing is left empty.
Result<RecipeFacts> ReadRecipeFacts(std::string_view text);

}  // namespace hone
