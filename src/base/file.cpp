#include "base/file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/check.h"
#include "base/descriptor.h"

namespace hone {
namespace {

Result<std::string> ReadAll(int fd, const std::string& name) {
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count == 0) return content;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot read " + name);
    content.append(buffer, static_cast<size_t>(count));
  }
}

Result<void> WriteAll(int fd, std::string_view content, const std::string& name) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot write " + name);
    content.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

}  // namespace

bool Exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<void> SyncDirectory(const std::filesystem::path& directory) {
  Descriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || ::fsync(fd.get()) != 0) return ErrnoError("cannot sync " + directory.string());
  return {};
}

Result<void> ReplaceDirectory(const std::filesystem::path& fresh,
                              const std::filesystem::path& target) {
  const std::string name = target.string();
  std::error_code ignored;
  const bool exists = std::filesystem::exists(target, ignored);
  // An exchange leaves no moment in which neither is there.
  const unsigned flags = exists ? RENAME_EXCHANGE : 0;
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), flags) != 0) {
    if (!exists || (errno != EINVAL && errno != ENOSYS)) {
      return ErrnoError("cannot replace " + name);
    }
    const std::filesystem::path old = name + ".old";  // file systems without exchange
    std::filesystem::remove_all(old, ignored);
    if (::rename(target.c_str(), old.c_str()) != 0 ||
        ::rename(fresh.c_str(), target.c_str()) != 0) {
      return ErrnoError("cannot replace " + name);
    }
    std::filesystem::remove_all(old, ignored);
  }
  HONE_RETURN_IF_ERROR(SyncDirectory(std::filesystem::absolute(target).parent_path()));
  if (exists) std::filesystem::remove_all(fresh, ignored);
  return {};
}

Error ErrnoError(std::string_view what) {
  const int number = errno;
  ErrorCode code = ErrorCode::kIo;
  if (number == ENOENT) code = ErrorCode::kNotFound;
  if (number == ENOSPC || number == EDQUOT) code = ErrorCode::kFull;
  return Error(code, fmt::format("{}: {}", what, std::strerror(number)));
}

Result<std::string> ReadFile(const std::filesystem::path& path) {
  // Nobody waits for a pipe that has no writer, only to refuse it.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.ok()) return ErrnoError("cannot open " + path.string());
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return ErrnoError("cannot read " + path.string());
  if (S_ISDIR(status.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, path.string() + " is a directory, a file is wanted");
  }
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::kInvalidArgument,
                 path.string() + " is not a regular file: a pipe or a device is not read here");
  }
  return ReadAll(fd.get(), path.string());
}

Result<std::string> ReadStandardInput() { return ReadAll(STDIN_FILENO, "standard input"); }

Result<void> WriteFileAtomic(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path directory = path.parent_path();
  if (directory.empty()) directory = ".";
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot create {}: {}", directory.string(), failed.message()));
  }
  std::string aside = path.string() + ".XXXXXX";
  Descriptor fd(::mkostemp(aside.data(), O_CLOEXEC));
  if (!fd.ok()) return ErrnoError("cannot create a file beside " + path.string());
  auto written = [&]() -> Result<void> {
    HONE_RETURN_IF_ERROR(WriteAll(fd.get(), content, path.string()));
    if (::fchmod(fd.get(), 0644) != 0 || ::fsync(fd.get()) != 0) {
      return ErrnoError("cannot write " + path.string());
    }
    if (::rename(aside.c_str(), path.c_str()) != 0)
      return ErrnoError("cannot write " + path.string());
    return {};
  }();
  if (!written.ok()) {
    ::unlink(aside.c_str());
    return written;
  }
  return SyncDirectory(directory);
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "hone-XXXXXX").string();
  CHECK(::mkdtemp(pattern.data()) != nullptr, "cannot create a temporary directory");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hone
