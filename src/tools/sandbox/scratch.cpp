#include "tools/sandbox/scratch.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
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

// What every scratch folder's name begins with.
constexpr std::string_view kName = "hone-sandbox-";

// Opens a folder that its owner may have closed to everybody, himself included: it is made
// accessible then, which only he and root can do.
Descriptor OpenClosed(int parent, const char* name) {
  constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor folder(::openat(parent, name, kFolder));
  if (folder.ok() || errno != EACCES) return folder;
  ::fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW);
  return Descriptor(::openat(parent, name, kFolder));
}

// The names in a folder, but for "." and "..". *listed: whether it could be looked into.
std::vector<std::string> NamesIn(int folder, bool* listed = nullptr) {
  std::vector<std::string> names;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = copy < 0 ? nullptr : ::fdopendir(copy);
  if (listed != nullptr) *listed = listing != nullptr;
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

struct Holdings {
  uint64_t bytes_left = 0;
  int entries = 0;
};

// Takes what a folder holds off the count; false when there is more than that, or when it cannot be
// known. What goes away meanwhile is not counted.
bool CountIn(int folder, int depth, Holdings* count) {
  bool listed = true;
  const std::vector<std::string> names = NamesIn(folder, &listed);
  if (!listed || depth > kDeepestFolder) return false;
  for (const std::string& name : names) {
    struct stat info {};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;
      return false;
    }
    const uint64_t used = static_cast<uint64_t>(info.st_blocks) * 512;
    if (used > count->bytes_left || ++count->entries > kMostEntries) return false;
    count->bytes_left -= used;
    if (!S_ISDIR(info.st_mode)) continue;
    const Descriptor inner(
        ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner.ok() && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) continue;
    if (!inner.ok() || !CountIn(inner.get(), depth + 1, count)) return false;
  }
  return true;
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
  const Descriptor top = OpenClosed(AT_FDCWD, path.c_str());
  if (top.ok()) ::fchmod(top.get(), 0700);
  uint64_t moved = 0;
  // A process that was killed just now may still finish what it was writing.
  for (int attempt = 0; top.ok() && attempt < 100; ++attempt) {
    Empty(top.get(), &moved);
    if (::rmdir(path.c_str()) == 0 || errno != ENOTEMPTY) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void RemoveAbandonedScratch(const fs::path& parent) {
  const Descriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok()) return;
  for (const std::string& name : NamesIn(folder.get())) {
    if (!name.starts_with(kName)) continue;
    const Descriptor found = OpenClosed(folder.get(), name.c_str());
    struct stat info {};
    if (!found.ok() || ::fstat(found.get(), &info) != 0) continue;
    // As root we make some for an ordinary user; otherwise only our own are our business.
    if (info.st_uid != ::geteuid() && ::geteuid() != 0) continue;
    if (::flock(found.get(), LOCK_EX | LOCK_NB) == 0) RemoveTree(parent / name);
  }
}

Result<std::unique_ptr<Scratch>> Scratch::New(const std::optional<LaunchOptions::Identity>& owner) {
  std::error_code failed;
  fs::path parent = fs::temp_directory_path(failed);
  if (failed) parent = "/tmp";
  static std::once_flag once;
  std::call_once(once, [&] { RemoveAbandonedScratch(parent); });
  while (true) {
    std::string path = (parent / fmt::format("{}XXXXXX", kName)).string();
    if (::mkdtemp(path.data()) == nullptr) return ErrnoError("cannot create " + path);
    Descriptor lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat info {};
    // Before we had the lock somebody may have taken the folder for an abandoned one.
    if (!lock.ok() || ::flock(lock.get(), LOCK_EX) != 0 || ::fstat(lock.get(), &info) != 0) {
      if (errno == ENOENT || errno == EINTR) continue;
      return ErrnoError("cannot lock " + path);
    }
    if (info.st_nlink == 0) continue;
    std::unique_ptr<Scratch> scratch(new Scratch(path, std::move(lock), owner));
    HONE_RETURN_IF_ERROR(scratch->GiveToOwner(scratch->path_));
    return scratch;
  }
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
  Descriptor top(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!top.ok()) return errno != ENOENT;
  Holdings count{.bytes_left = bytes};
  return !CountIn(top.get(), 0, &count);
}

}  // namespace hone
