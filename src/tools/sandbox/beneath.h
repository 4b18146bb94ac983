#pragma once

#include <sys/types.h>
#include <string>

namespace hone {

// Opens `path`, relative to the open folder `root`, so that no part of it leads out: no "..", no
// absolute path, no symbolic link, whatever others do to the folder meanwhile. An empty path is the
// folder itself. O_CLOEXEC is added. -1 with errno as open(2) does; ELOOP or EXDEV when the path
// would lead out.
int OpenBeneath(int root, const std::string& path, int flags, mode_t mode = 0);

// The same part by part, for kernels and sandboxes without openat2(2).
int OpenBeneathByParts(int root, const std::string& path, int flags, mode_t mode = 0);

// Owns a descriptor.
class BeneathDescriptor {
 public:
  explicit BeneathDescriptor(int fd) : fd_(fd) {}
  ~BeneathDescriptor();
  BeneathDescriptor(const BeneathDescriptor&) = delete;
  BeneathDescriptor& operator=(const BeneathDescriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

}  // namespace hone
