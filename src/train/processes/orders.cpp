#include "train/processes/orders.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/file_hash.h"
#include "base/hash.h"

namespace hone {

Result<void> MeetEachOther(const TrainingRecipe& recipe, Cluster* cluster) {
  const auto introduce = [&]() -> Result<std::string> {
    HONE_ASSIGN_OR_RETURN(const std::string program, HashFile("/proc/self/exe"));
    return program + Sha256Hex(recipe.resolved_text);
  };
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> all, cluster->ShareResult(introduce()));
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const size_t half = all[0].size() / 2;
    const bool program = all[rank].substr(0, half) != all[0].substr(0, half);
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} {} than {}; give every machine the same files and start all "
                    "processes with the same command",
                    cluster->NameOf(static_cast<int>(rank)),
                    program ? "runs another program" : "reads another recipe", cluster->NameOf(0)));
  }
  return {};
}

std::string WeightsAndDevice(const Engine& engine) {
  const std::string device = engine.Description();
  // Every processor has the same bits; which products a device chose changes none.
  return engine.WeightsHash() +
         (device.starts_with("cpu") ? "cpu" : device.substr(0, device.find(';')));
}

Result<FolderFiles> ReadFolder(const std::filesystem::path& folder) {
  FolderFiles files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, failed)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().lexically_relative(folder).string();
    HONE_ASSIGN_OR_RETURN(files[name], ReadFile(entry.path()));
  }
  if (!failed) return files;
  return Error(ErrorCode::kIo, fmt::format("{}: {}", folder.string(), failed.message()));
}

Result<void> WriteFolder(const FolderFiles& files, const std::filesystem::path& folder) {
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path path(name), file = folder / path;
    if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end()) {
      return Error(ErrorCode::kInvalidArgument, name + ": lies outside of its folder");
    }
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    if (failed) {
      return Error(ErrorCode::kIo,
                   fmt::format("{}: {}", file.parent_path().string(), failed.message()));
    }
    HONE_RETURN_IF_ERROR(WriteFileAtomic(file, bytes));
  }
  return {};
}

}  // namespace hone
