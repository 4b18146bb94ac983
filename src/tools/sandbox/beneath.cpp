#include "tools/sandbox/beneath.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hone {

BeneathDescriptor::~BeneathDescriptor() {
  // Closing must not hide why something else failed.
  const int kept = errno;
  if (fd_ >= 0) ::close(fd_);
  errno = kept;
}

int OpenBeneath(int root, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const char* name = path.empty() ? "." : path.c_str();
  int fd = -1;
  // EAGAIN: something was renamed meanwhile, and the kernel could not be sure.
  for (int attempt = 0; attempt < 100; ++attempt) {
    fd = static_cast<int>(::syscall(SYS_openat2, root, name, &how, sizeof how));
    if (fd >= 0 || errno != EAGAIN) break;
  }
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
    return OpenBeneathByParts(root, path, flags, mode);
  }
  return fd;
}

int OpenBeneathByParts(int root, const std::string& path, int flags, mode_t mode) {
  if (path.starts_with('/')) {
    errno = EXDEV;
    return -1;
  }
  int inside = ::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (size_t begin = 0; inside >= 0;) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    const bool last = path.find_first_not_of('/', end) == std::string::npos;
    const BeneathDescriptor closer(inside);
    if (part == "..") {
      errno = EXDEV;
      return -1;
    }
    const char* name = part.empty() ? "." : part.c_str();
    if (last) return ::openat(inside, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    inside = ::openat(inside, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    begin = end + 1;
  }
  return -1;
}

}  // namespace hone
