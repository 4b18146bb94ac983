#include "engine/weights/file_aside.h"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"

namespace hone {
namespace {

std::filesystem::path FolderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

}  // namespace

Result<FileAside> FileAside::Create(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::create_directories(FolderOf(path), failed);
  if (failed) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot create {}: {}", FolderOf(path).string(), failed.message()));
  }
  FileAside file;
  file.path_ = path;
  std::string pattern = path.string() + ".XXXXXX";
  file.fd_ = Descriptor(::mkostemp(pattern.data(), O_CLOEXEC));
  if (!file.fd_.ok()) return ErrnoError("cannot create a file beside " + path.string());
  file.aside_ = std::move(pattern);
  return file;
}

FileAside::FileAside(FileAside&& other) noexcept
    : path_(std::move(other.path_)),
      aside_(std::exchange(other.aside_, {})),
      fd_(std::move(other.fd_)) {}

FileAside::~FileAside() {
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

Result<void> FileAside::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot write " + path_.string());
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Result<void> FileAside::Commit() {
  CHECK(!aside_.empty(), "committed twice");
  if (::fchmod(fd_.get(), 0644) != 0 || ::fsync(fd_.get()) != 0 ||
      ::rename(aside_.c_str(), path_.c_str()) != 0) {
    return ErrnoError("cannot write " + path_.string());
  }
  aside_.clear();
  fd_.Close();
  return SyncDirectory(FolderOf(path_));
}

}  // namespace hone
