#pragma once

#include <cerrno>
#include <cstdint>

#include <sqlite3.h>
#include <unistd.h>

namespace hone {

// A disk with so many bytes left for SQLite's files, which lets its system calls be replaced. One
// at a time; `bytes_left` may be changed meanwhile.
class FullDisk {
 public:
  explicit FullDisk(int64_t bytes) {
    bytes_left = bytes;
    Replace(reinterpret_cast<sqlite3_syscall_ptr>(&LimitedWrite));
  }
  ~FullDisk() { Replace(nullptr); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  static inline int64_t bytes_left = 0;

 private:
  static ssize_t LimitedWrite(int fd, const void* data, size_t size, off_t offset) {
    if (bytes_left < static_cast<int64_t>(size)) {
      errno = ENOSPC;
      return -1;
    }
    bytes_left -= static_cast<int64_t>(size);
    return ::pwrite(fd, data, size, offset);
  }

  static void Replace(sqlite3_syscall_ptr call) {
    sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
    system->xSetSystemCall(system, "pwrite", call);
    system->xSetSystemCall(system, "pwrite64", call);
  }
};

}  // namespace hone
