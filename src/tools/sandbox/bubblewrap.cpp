#include "tools/sandbox/bubblewrap.h"

#include <filesystem>

namespace hone {

std::vector<std::string> BubblewrapCommand(const BubblewrapRoom& room,
                                           const std::vector<std::string>& command) {
  std::vector<std::string> line = {"/usr/bin/bwrap",
                                   "--unshare-all",
                                   "--unshare-user",
                                   "--uid",
                                   "65534",
                                   "--gid",
                                   "65534",
                                   "--hostname",
                                   "sandbox",
                                   "--new-session",
                                   "--die-with-parent",
                                   "--cap-drop",
                                   "ALL",
                                   "--clearenv"};
  auto add = [&line](std::initializer_list<std::string> words) {
    line.insert(line.end(), words.begin(), words.end());
  };
  for (const std::string& variable : room.environment) {
    const size_t equals = variable.find('=');
    add({"--setenv", variable.substr(0, equals), variable.substr(equals + 1)});
  }
  add({"--proc", "/proc", "--dev", "/dev"});
  add({"--size", std::to_string(room.temporary_bytes), "--tmpfs", "/tmp"});
  for (const std::string& path : room.readable) {
    std::error_code ignored;
    // /bin and /lib are links into /usr on most systems, and stay links.
    if (std::filesystem::is_symlink(path, ignored) && path.find('/', 1) == std::string::npos) {
      add({"--symlink", std::filesystem::read_symlink(path, ignored).string(), path});
    } else {
      add({"--ro-bind-try", path, path});
    }
  }
  if (!room.scratch.empty()) add({"--bind", room.scratch, kScratchInside});
  // What bubblewrap makes itself is memory without a limit; nothing may be put there.
  add({"--remount-ro", "/dev", "--remount-ro", "/"});
  if (!room.directory.empty()) add({"--chdir", room.directory});
  if (room.filter_descriptor >= 0) add({"--seccomp", std::to_string(room.filter_descriptor)});
  if (room.as_first_process) add({"--as-pid-1"});
  add({"--"});
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

}  // namespace hone
