#include "train/stage_cache.h"

#include <cerrno>
#include <charconv>
#include <csignal>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "train/folder/checksums.h"

namespace hone {
namespace {

// What processes that were killed while they wrote it left behind.
void RemoveAbandoned(const std::filesystem::path& path) {
  const std::string begin = path.filename().string() + ".";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin)) continue;
    const std::string_view number = std::string_view(name).substr(begin.size());
    pid_t process = 0;
    const auto [end, failed] =
        std::from_chars(number.data(), number.data() + number.size(), process);
    const std::string_view rest(end, static_cast<size_t>(number.data() + number.size() - end));
    if (failed != std::errc() || process <= 0 || (!rest.empty() && rest != ".writing")) continue;
    if (::kill(process, 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

Result<FileLock> StageCache::LockOf(std::string_view kind, const Json& depends_on,
                                    const std::function<bool()>& stop,
                                    const std::function<void()>& waits) const {
  Result<FileLock> lock = FileLock::Take(PathOf(kind, depends_on).string() + ".lock", stop, waits);
  if (lock.ok()) return lock;
  if (lock.error().code() == ErrorCode::kStopped) {
    return Error(ErrorCode::kStopped,
                 "stopped while another run was making what this one begins with; the same command "
                 "goes on from there");
  }
  return Error(lock.error().code(),
               lock.error().message() + " (choose another folder with run.cache=FOLDER)");
}

std::filesystem::path StageCache::PathOf(std::string_view kind, const Json& depends_on) const {
  return folder_ / fmt::format("{}-{}", kind, ContentHash(depends_on).substr(0, 24));
}

std::optional<std::filesystem::path> StageCache::Find(std::string_view kind,
                                                      const Json& depends_on) const {
  std::filesystem::path path = PathOf(kind, depends_on);
  std::error_code error;
  if (!std::filesystem::exists(path / "depends_on.json", error)) return std::nullopt;
  const Result<void> sound = VerifyChecksums(path);
  // What cannot be read just now may be sound: another run may be using it.
  if (sound.ok() || sound.error().code() != ErrorCode::kCorrupt) return path;
  if (note_) note_(fmt::format("{}; what it is part of is made again", sound.error().message()));
  return std::nullopt;
}

Result<std::filesystem::path> StageCache::Put(
    std::string_view kind, const Json& depends_on,
    const std::function<Result<void>(const std::filesystem::path&)>& write) const {
  const std::filesystem::path path = PathOf(kind, depends_on);
  // Two processes that took no lock may make the same thing at once.
  const std::filesystem::path aside = path.string() + fmt::format(".{}", ::getpid());
  std::error_code error;
  RemoveAbandoned(path);
  std::filesystem::remove_all(aside, error);
  std::filesystem::create_directories(aside, error);
  if (error) {
    return Error(ErrorCode::kIo, fmt::format("cannot make the folder {}: {}; choose another with "
                                             "run.cache=FOLDER",
                                             aside.string(), error.message()));
  }
  Result<void> made = write(aside);
  if (made.ok()) {
    made =
        WriteFileAtomic(aside / "depends_on.json", DumpJson(depends_on, JsonStyle::kPretty) + "\n");
  }
  if (made.ok()) made = WriteChecksums(aside);
  if (made.ok()) made = ReplaceDirectory(aside, path);
  if (!made.ok()) {  // on a full disk, of all places, nothing must be left lying about
    std::filesystem::remove_all(aside, error);
    std::filesystem::remove_all(aside.string() + ".writing", error);
    return made.error();
  }
  return path;
}

}  // namespace hone
