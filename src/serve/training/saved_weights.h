#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Where weights that were saved lie, and what clients call them:
// tinker://MODEL/weights/NAME is FOLDER/MODEL/weights/NAME; of a sampler, sampler_weights.
struct SavedPlace {
  std::string model_id;
  bool for_sampler = false;
  std::string name;

  std::string Path() const;
  std::filesystem::path In(const std::filesystem::path& folder) const;
};

// A name that is a folder and no way out of one: letters, digits, '-', '_', and '.' in between;
// none that a folder has while it is written.
Result<void> CheckSavedName(std::string_view name);
Result<SavedPlace> ParseSavedPath(std::string_view path);

// What lies beside saved weights, in saved.json.
struct SavedCard {
  std::string base_model;
  int64_t rank = 0;
  int64_t steps = 0;
  int64_t version = 0;  // of the model's weights, while the server ran that saved them
  std::string weights;  // SHA-256

  std::string ToText() const;
};
inline constexpr char kSavedCardFile[] = "saved.json";
Result<SavedCard> ReadSavedCard(const std::filesystem::path& folder);

}  // namespace hone
