#include "base/file_lock.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>

#include "base/file.h"

namespace hone {
namespace {

// How often it is looked whether a lock is free: what is waited for takes seconds at least.
constexpr std::chrono::milliseconds kLook{20};

Result<Descriptor> OpenToLock(const std::filesystem::path& file) {
  std::error_code ignored;  // the open says what is wrong
  std::filesystem::create_directories(file.parent_path(), ignored);
  Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!descriptor.ok()) return ErrnoError("cannot write " + file.string());
  return descriptor;
}

// False while another one has it.
Result<bool> Lock(const Descriptor& descriptor, const std::filesystem::path& file) {
  if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  return ErrnoError("cannot lock " + file.string());
}

}  // namespace

Result<std::optional<FileLock>> FileLock::Try(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(Descriptor descriptor, OpenToLock(file));
  HONE_ASSIGN_OR_RETURN(const bool locked, Lock(descriptor, file));
  if (!locked) return std::optional<FileLock>();
  return std::optional<FileLock>(FileLock(std::move(descriptor)));
}

Result<FileLock> FileLock::Take(const std::filesystem::path& file,
                                const std::function<bool()>& stop,
                                const std::function<void()>& waits) {
  HONE_ASSIGN_OR_RETURN(Descriptor descriptor, OpenToLock(file));
  // Not one long wait: a signal that asks for the end would not be heard in it.
  for (bool said = false;; said = true) {
    HONE_ASSIGN_OR_RETURN(const bool locked, Lock(descriptor, file));
    if (locked) return FileLock(std::move(descriptor));
    if (stop && stop()) {
      return Error(ErrorCode::kStopped, "stopped while waiting for " + file.string());
    }
    if (waits && !said) waits();
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace hone
