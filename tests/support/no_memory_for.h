#pragma once

#include <cstdint>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace hone {

// As long as it lives, this process gets no piece of memory as large as these bytes. Of no use
// under sanitizers, which end a process that has no memory left.
class NoMemoryFor {
 public:
  explicit NoMemoryFor(uint64_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit now = before_;
    now.rlim_cur = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes / 2;
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~NoMemoryFor() { ::setrlimit(RLIMIT_AS, &before_); }
  NoMemoryFor(const NoMemoryFor&) = delete;
  NoMemoryFor& operator=(const NoMemoryFor&) = delete;

 private:
  rlimit before_{};
};

}  // namespace hone
