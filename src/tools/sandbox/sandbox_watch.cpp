#include "tools/sandbox/sandbox_watch.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <set>
#include <string_view>

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"

namespace hone {
namespace {

// An interpreter is made by a supervisor that shows nothing of itself, and nor does it until it is
// confined, which a busy machine can put off. After this many looks it is hiding.
constexpr int kLooksUnseen = 200;

// While it lives, this thread reaches files as that user: what a process has open is shown to its
// own user, but not to a root without CAP_SYS_PTRACE, as in many containers.
class AsUser {
 public:
  explicit AsUser(const std::optional<LaunchOptions::Identity>& user)
      : dumpable_(::prctl(PR_GET_DUMPABLE)) {
    if (!user) return;
    group_ = ::syscall(SYS_setfsgid, user->group);
    user_ = ::syscall(SYS_setfsuid, user->user);
  }
  ~AsUser() {
    if (user_ < 0) return;
    ::syscall(SYS_setfsuid, user_);
    ::syscall(SYS_setfsgid, group_);
    // The kernel takes a process whose user changes for one with secrets.
    if (dumpable_ == 1) ::prctl(PR_SET_DUMPABLE, 1);
  }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

 private:
  const int dumpable_;
  long user_ = -1, group_ = -1;
};

// Files that have no name any more, by inode.
struct Nameless {
  std::set<ino_t> open;
  std::set<ino_t> mapped;  // whose size is not to be seen
  uint64_t open_bytes = 0;
};

// False when the thread does not show them.
bool AddOpenFiles(pid_t thread, Nameless* files) {
  DIR* listing = ::opendir(fmt::format("/proc/{}/fd", thread).c_str());
  if (listing == nullptr) return errno != EACCES;
  while (const dirent* entry = ::readdir(listing)) {
    struct stat info {};
    if (::fstatat(::dirfd(listing), entry->d_name, &info, 0) != 0) continue;
    if (!S_ISREG(info.st_mode) || info.st_nlink > 0) continue;
    if (!files->open.insert(info.st_ino).second) continue;
    files->open_bytes += static_cast<uint64_t>(info.st_blocks) * 512;
  }
  ::closedir(listing);
  return true;
}

// "7f...-7f... rw-s 00000000 08:01 1234   /tmp/hone-sandbox-x/file (deleted)"
void AddMappedFiles(pid_t thread, const std::string& folder, Nameless* files) {
  const Result<std::string> maps = ReadFile(fmt::format("/proc/{}/maps", thread));
  if (!maps.ok()) return;
  std::string_view rest = *maps;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t path = line.find(folder);
    if (path == line.npos || !line.ends_with(" (deleted)")) continue;
    const std::string_view before = TrimRight(line.substr(0, path));
    files->mapped.insert(std::strtoull(before.data() + before.rfind(' '), nullptr, 10));
  }
}

// In bytes; how much of the memory that is shared with others is a process's part.
uint64_t ProportionalMemory(pid_t thread) {
  const Result<std::string> text = ReadFile(fmt::format("/proc/{}/smaps_rollup", thread));
  const size_t at = text.ok() ? text->find("\nPss:") : std::string::npos;
  return at == std::string::npos ? 0 : std::strtoull(text->c_str() + at + 5, nullptr, 10) << 10;
}

uint64_t ResidentMemory(pid_t thread) {
  const Result<std::string> text = ReadFile(fmt::format("/proc/{}/statm", thread));
  const size_t at = text.ok() ? text->find(' ') : std::string::npos;
  return at == std::string::npos ? 0
                                 : std::strtoull(text->c_str() + at, nullptr, 10) *
                                       static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// All threads of a process have its memory, so that any one that lives shows it.
uint64_t Sum(const std::vector<pid_t>& pids, uint64_t (*of)(pid_t thread)) {
  uint64_t sum = 0;
  for (const pid_t pid : pids) {
    if (const std::vector<pid_t> threads = LivingThreads(pid); !threads.empty()) {
      sum += of(threads[0]);
    }
  }
  return sum;
}

// False when a process does not show what it has open. A thread may have files of its own.
bool AddFilesOf(pid_t pid, const std::string& folder, Nameless* files) {
  bool seen = true;
  const std::vector<pid_t> threads = LivingThreads(pid);
  for (const pid_t thread : threads) {
    if (AddOpenFiles(thread, files)) continue;
    // One that is about to end shows nothing either.
    const std::vector<pid_t> left = LivingThreads(pid);
    seen &= std::find(left.begin(), left.end(), thread) == left.end();
  }
  if (!threads.empty()) AddMappedFiles(threads[0], folder, files);
  return seen;
}

}  // namespace

SandboxWatch::SandboxWatch(const Sandbox& sandbox, const Scratch* scratch, bool supervised)
    : limits_(sandbox.options()),
      identity_(sandbox.identity()),
      scratch_(scratch),
      // In a room we may be too weak to look, and trusted code may hide what it likes.
      must_show_(sandbox.method() == SandboxMethod::kLandlock),
      inside_(scratch == nullptr ? "" : sandbox.DirectoryInside(scratch)),
      // A room has bubblewrap before it, and a first process inside: the supervisor, or one of
      // bubblewrap's own.
      first_depth_(sandbox.method() == SandboxMethod::kBubblewrap ? 2
                   : supervised                                   ? 1
                                                                  : 0) {}

std::vector<pid_t> SandboxWatch::Programs(pid_t leader) {
  if (only_) return {*only_};
  std::vector<pid_t> programs;
  for (const TreeProcess& process : ProcessTree(leader)) {
    if (process.depth >= first_depth_ && process.lives()) programs.push_back(process.pid);
  }
  if (limits_.max_processes == 1 && programs.size() == 1) only_ = programs[0];
  return programs;
}

std::optional<std::string> SandboxWatch::Excess(pid_t leader) {
  const bool counted = limits_.max_processes > 1;
  if (scratch_ == nullptr && !counted) return std::nullopt;
  const std::vector<pid_t> programs = Programs(leader);
  if (counted && programs.size() > static_cast<size_t>(limits_.max_processes)) {
    return fmt::format("had more than {} processes at once", limits_.max_processes);
  }
  if (scratch_ != nullptr && FolderIsFull(programs)) {
    return fmt::format("wrote more than {} MB, or too many files, to its folder",
                       limits_.scratch_mb);
  }
  // Resident memory counts what is shared several times, and is quick to ask for.
  const uint64_t most = static_cast<uint64_t>(limits_.memory_mb) << 20;
  if (counted && Sum(programs, &ResidentMemory) > most) {
    const AsUser owner(identity_);
    if (Sum(programs, &ProportionalMemory) > most) {
      return fmt::format("used more than {} MB of memory in all its processes", limits_.memory_mb);
    }
  }
  return std::nullopt;
}

bool SandboxWatch::FolderIsFull(const std::vector<pid_t>& programs) {
  const uint64_t most = static_cast<uint64_t>(limits_.scratch_mb) << 20;
  Nameless files;
  bool seen = true;
  {
    const AsUser owner(identity_);
    for (const pid_t pid : programs) seen &= AddFilesOf(pid, inside_ + "/", &files);
  }
  unseen_ = seen || !must_show_ ? 0 : unseen_ + 1;
  if (unseen_ > kLooksUnseen) return true;
  // A file that is only mapped is as long as a file can be, for all we know.
  std::erase_if(files.mapped, [&](ino_t inode) { return files.open.contains(inode); });
  const uint64_t nameless = files.open_bytes + files.mapped.size() * most;
  return nameless > most || scratch_->HoldsMoreThan(most - nameless);
}

void SandboxWatch::Pause(pid_t leader) {
  // Who forks while it is stopped is found in another round; who is stopped forks no more.
  constexpr int kRounds = 10;
  std::set<pid_t> stopped;
  for (int round = 0; round < kRounds; ++round) {
    bool found = false;
    for (const pid_t pid : Programs(leader)) {
      if (!stopped.insert(pid).second) continue;
      ::kill(pid, SIGSTOP);
      found = true;
    }
    if (!found) return;
  }
}

void SandboxWatch::Continue(pid_t leader) {
  for (const pid_t pid : Programs(leader)) ::kill(pid, SIGCONT);
}

}  // namespace hone
