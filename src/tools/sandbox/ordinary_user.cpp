#include "tools/sandbox/ordinary_user.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kNobody = 65534;

// Whether a user namespace's map ("inside outside count" lines) has this id.
bool Maps(const char* file, uint32_t id) {
  const Result<std::string> map = ReadFile(file);
  if (!map.ok()) return false;
  const char* at = map->c_str();
  char* end = nullptr;
  while (true) {
    const unsigned long long inside = std::strtoull(at, &end, 10);
    if (end == at) return false;
    std::strtoull(end, &end, 10);
    const unsigned long long count = std::strtoull(end, &end, 10);
    if (id >= inside && id - inside < count) return true;
    at = end;
  }
}

// Whether we have what it takes to run programs as somebody else and to clean up after them.
bool MayActForOthers() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct have[2] = {};
  constexpr uint32_t kNeeded = 1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER |
                               1U << CAP_KILL | 1U << CAP_SETGID | 1U << CAP_SETUID;
  return ::syscall(SYS_capget, &header, have) == 0 && (have[0].effective & kNeeded) == kNeeded;
}

}  // namespace

std::optional<LaunchOptions::Identity> OrdinaryUser() {
  if (::geteuid() != 0 || !MayActForOthers() || !Maps("/proc/self/uid_map", kNobody) ||
      !Maps("/proc/self/gid_map", kNobody)) {
    return std::nullopt;
  }
  return LaunchOptions::Identity{kNobody, kNobody};
}

uint64_t TasksOf(uid_t user) {
  uint64_t tasks = 0;
  std::error_code failed;
  for (fs::directory_iterator at("/proc", failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    struct stat info {};
    // A folder of tasks has one link for each, and two of its own.
    if (::stat((at->path() / "task").c_str(), &info) == 0 && info.st_uid == user) {
      tasks += info.st_nlink - 2;
    }
  }
  return tasks;
}

}  // namespace hone
