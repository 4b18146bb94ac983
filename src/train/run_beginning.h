#pragma once

#include <filesystem>

#include "engine/device/device.h"
#include "train/folder/run_folder.h"
#include "train/training_recipe.h"

// Where a run begins, or goes on.

namespace hone {

// A folder belongs to one recipe: writes the recipe down there with what it needs
// (train/run_inputs.h), or says that it is another's. One in which nothing was computed is taken
// over, and `note` told.
Result<void> Claim(const std::filesystem::path& folder, const TrainingRecipe& recipe,
                   const std::function<void(std::string_view)>& note);

// The newest sound checkpoint of the folder (RunFolder::NewestSound, which tells `note` of damaged
// ones), or what `resume` names; empty: the run begins at the beginning. kInvalidArgument when
// `resume` is "never" and there are checkpoints.
Result<std::filesystem::path> CheckpointToGoOnFrom(
    const RunOptions& settings, RunFolder* folder,
    const std::function<void(std::string_view)>& note);

// Writes down what computes the run (Engine::Description) in its folder's engine.txt: a line for
// each that did, the last one last.
Result<void> NoteEngine(const std::filesystem::path& folder, const std::string& description);
// An error where the run in this folder was last computed by another kind of device than `device`
// (null: the processor), whose bits are others. Runs from before this was written down are the
// processor's.
Result<void> CheckSameKindOfDevice(const std::filesystem::path& folder, const Device* device);

// Copies the policies that the KL of a run's stages is measured against, where there are any.
Result<void> CopyReferences(const std::filesystem::path& run, const std::filesystem::path& folder);

// Copies what goes with a checkpoint of another run, so that the run in `folder` can go on without
// that one's folder: the tokenizer, and the reference if there is one.
Result<void> Adopt(const std::filesystem::path& checkpoint, const Tokenizer& tokenizer,
                   const std::filesystem::path& folder);

}  // namespace hone
