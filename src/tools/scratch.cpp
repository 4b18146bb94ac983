#include "tools/scratch.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr int kMostEntries = 10000;
constexpr int kDeepestFolder = 64;

// The names in a folder, but for "." and "..".
std::vector<std::string> NamesIn(int folder) {
  std::vector<std::string> names;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = copy < 0 ? nullptr : ::fdopendir(copy);
  if (listing == nullptr) {
    if (copy >= 0) ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(listing);
  return names;
}

// Removes a file, a link or an empty folder. A folder that stays is made accessible.
bool RemoveOne(int folder, const std::string& name) {
  if (::unlinkat(folder, name.c_str(), 0) == 0) return true;
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) return true;
  ::fchmodat(folder, name.c_str(), 0700, AT_SYMLINK_NOFOLLOW);  // never what a link points to
  return false;
}

// What a folder holds is moved up beside it before it is removed: so the depth never matters.
void Empty(int top, uint64_t* moved) {
  for (bool progress = true; progress;) {
    progress = false;
    for (const std::string& name : NamesIn(top)) {
      if (RemoveOne(top, name)) continue;
      const Descriptor folder(
          ::openat(top, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!folder.ok()) continue;
      for (const std::string& inner : NamesIn(folder.get())) {
        if (RemoveOne(folder.get(), inner)) continue;
        const std::string fresh = fmt::format(".hone-moved-{}", (*moved)++);
        progress |= ::renameat(folder.get(), inner.c_str(), top, fresh.c_str()) == 0;
      }
      progress |= RemoveOne(top, name);
    }
  }
}

}  // namespace

void RemoveTree(const fs::path& path) {
  const Descriptor top(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  uint64_t moved = 0;
  // A process that was killed just now may still finish what it was writing.
  for (int attempt = 0; top.ok() && attempt < 100; ++attempt) {
    Empty(top.get(), &moved);
    if (::rmdir(path.c_str()) == 0 || errno != ENOTEMPTY) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Result<std::unique_ptr<Scratch>> Scratch::New(const std::optional<LaunchPlan::Identity>& owner) {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  std::string pattern = ((failed ? fs::path("/tmp") : parent) / "hone-scratch-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return ErrnoError("cannot create " + pattern);
  std::unique_ptr<Scratch> scratch(new Scratch(pattern, owner));
  HONE_RETURN_IF_ERROR(scratch->GiveToOwner(scratch->path_));
  return scratch;
}

Scratch::~Scratch() { RemoveTree(path_); }

Result<void> Scratch::GiveToOwner(const fs::path& path) const {
  if (owner_ && ::lchown(path.c_str(), owner_->user, owner_->group) != 0) {
    return ErrnoError(fmt::format("cannot give {} to user {}", path.string(), owner_->user));
  }
  return {};
}

Result<void> Scratch::Write(std::string_view name, std::string_view content) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("\"{}\" is not the name of a file inside the scratch folder", name));
  }
  // Not atomically: nobody looks before it is there, and a crash makes it worthless.
  std::error_code failed;
  fs::create_directories((path_ / relative).parent_path(), failed);
  std::ofstream file(path_ / relative, std::ios::binary);
  if (!file.write(content.data(), static_cast<std::streamsize>(content.size())).flush()) {
    return Error(ErrorCode::kIo, fmt::format("cannot write \"{}\" to the scratch folder", name));
  }
  fs::path made = path_;
  for (const fs::path& part : relative) {
    made /= part;
    HONE_RETURN_IF_ERROR(GiveToOwner(made));
  }
  return {};
}

bool Scratch::HoldsMoreThan(uint64_t bytes) const {
  std::error_code failed;
  uint64_t used = 0;
  int entries = 0;
  fs::recursive_directory_iterator at(path_, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    struct stat info {};
    if (::lstat(at->path().c_str(), &info) != 0) {
      if (errno == ENAMETOOLONG) return true;
      continue;  // it went away meanwhile
    }
    used += static_cast<uint64_t>(info.st_blocks) * 512;
    if (used > bytes || ++entries > kMostEntries || at.depth() > kDeepestFolder) return true;
  }
  return false;
}

}  // namespace hone
