#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"
#include "cluster/cluster.h"
#include "cluster/wire.h"
#include "engine/engine.h"
#include "train/training_recipe.h"

namespace hone {

// What process 0 tells the others to do. With each come its arguments.
enum class Order : uint8_t {
  kShareJournals,
  kSetUp,  // the tokenizer
  kEngineMade,
  kEngineLoaded,  // the files of a folder
  kEngineFresh,   // whether with a critic
  kMoments,       // those of the optimiser that each process has
  kLearnAnswers,  // with process 0 (train/processes/shared_answers.h)
  kProvide,       // a product, and its files
  kOpenStage,     // its number
  kStep,          // its number
  kPlay,          // PlayOrder, and requests as JSON
  kAskForGold,    // the name of the inquiry, and questions
  kUpdate,        // the numbers of the stage and the step, and WriteUpdate
  kEnd,
};

template <typename... Arguments>
std::string WriteOrder(Order order, const Arguments&... arguments) {
  WireWriter writer;
  writer(order, arguments...);
  return writer.Take();
}

// Every process makes this call at the beginning: an error, for all of them, where they run
// different programs or recipes.
Result<void> MeetEachOther(const TrainingRecipe& recipe, Cluster* cluster);

// What an engine's weights are, and on what kind of device, for comparing.
std::string WeightsAndDevice(const Engine& engine);

// The files below a folder, by their path there, and back.
using FolderFiles = std::map<std::string, std::string>;
Result<FolderFiles> ReadFolder(const std::filesystem::path& folder);
Result<void> WriteFolder(const FolderFiles& files, const std::filesystem::path& folder);

}  // namespace hone
