#include "rollout/remote_folder.h"

#include <system_error>

#include <fmt/format.h>

#include "base/file.h"

namespace hone {

std::filesystem::path WithoutTrailingSlash(const std::filesystem::path& folder) {
  const std::filesystem::path named = folder.lexically_normal();
  return named.has_filename() || !named.has_relative_path() ? named : named.parent_path();
}

Result<void> CheckPushFolder(const std::filesystem::path& folder) {
  const std::filesystem::path named = WithoutTrailingSlash(folder);
  std::error_code failed;
  const auto status = std::filesystem::status(named, failed);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (std::filesystem::is_directory(status)) {
    if (Exists(named / kPushedFile)) return {};
    if (std::filesystem::is_empty(named, failed) && !failed) return {};
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("policy.push_folder: {} holds what no run put there (it has no {}), and "
                           "all of it would be replaced by the weights; name a folder that is not "
                           "there yet, such as {}",
                           named.string(), kPushedFile, (named / "pushed").string()));
}

Result<std::filesystem::path> NewPushFolder(const std::filesystem::path& folder) {
  HONE_RETURN_IF_ERROR(CheckPushFolder(folder));
  const std::filesystem::path aside = WithoutTrailingSlash(folder).string() + ".writing";
  HONE_RETURN_IF_ERROR(CheckPushFolder(aside));
  std::error_code ignored;
  std::filesystem::remove_all(aside, ignored);
  // First, so that what is broken off can be told from what is somebody else's.
  HONE_RETURN_IF_ERROR(WriteFileAtomic(aside / kPushedFile, "{\"written_by\": \"hone train\"}\n"));
  return aside;
}

}  // namespace hone
