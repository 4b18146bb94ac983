#include "learn/stage_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {

std::filesystem::path StageCache::PathOf(std::string_view kind, const Json& depends_on) const {
  return folder_ / fmt::format("{}-{}", kind, ContentHash(depends_on).substr(0, 24));
}

std::optional<std::filesystem::path> StageCache::Find(std::string_view kind,
                                                      const Json& depends_on) const {
  std::filesystem::path path = PathOf(kind, depends_on);
  std::error_code error;
  if (!std::filesystem::exists(path / "depends_on.json", error)) return std::nullopt;
  return path;
}

Result<std::filesystem::path> StageCache::Put(
    std::string_view kind, const Json& depends_on,
    const std::function<Result<void>(const std::filesystem::path&)>& write) const {
  const std::filesystem::path path = PathOf(kind, depends_on);
  // Two processes may make the same thing at once.
  const std::filesystem::path aside = path.string() + fmt::format(".{}", ::getpid());
  std::error_code error;
  std::filesystem::remove_all(aside, error);
  std::filesystem::create_directories(aside, error);
  if (error) {
    return Error(ErrorCode::kIo, fmt::format("cannot make the folder {}: {}; choose another with "
                                             "run.cache=FOLDER",
                                             aside.string(), error.message()));
  }
  HONE_RETURN_IF_ERROR(write(aside));
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(aside / "depends_on.json", DumpJson(depends_on, JsonStyle::kPretty) + "\n"));
  HONE_RETURN_IF_ERROR(ReplaceDirectory(aside, path));
  return path;
}

}  // namespace hone
