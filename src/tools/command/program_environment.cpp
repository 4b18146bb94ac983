#include "tools/command/program_environment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

// python/hone as a zip file, which Python imports from. The assembler takes it in.
asm(".section .rodata\n"
    ".global hone_python_package\n"
    ".global hone_python_package_end\n"
    "hone_python_package:\n.incbin \"" HONE_PYTHON_PACKAGE
    "\"\n"
    "hone_python_package_end:\n.byte 0\n.previous\n");
extern "C" const char hone_python_package[];
extern "C" const char hone_python_package_end[];

namespace hone {
namespace {

std::string_view VariableName(std::string_view entry) { return entry.substr(0, entry.find('=')); }

// A file in memory, which is there as long as this process and needs no place on a disk. Programs
// that we start open it by our process id; they end when we do.
int PackageFile() {
  static const int file = [] {
    const int fd = ::memfd_create("hone-python.zip", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    std::string_view rest(hone_python_package,
                          static_cast<size_t>(hone_python_package_end - hone_python_package));
    while (!rest.empty()) {
      const ssize_t count = ::write(fd, rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        ::close(fd);
        return -1;
      }
      rest.remove_prefix(static_cast<size_t>(count));
    }
    ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    return fd;
  }();
  return file;
}

}  // namespace

std::string PythonPackagePath() {
  const int file = PackageFile();
  return file < 0 ? "" : fmt::format("/proc/{}/fd/{}", ::getpid(), file);
}

std::vector<std::string> ProgramEnvironment(std::string_view role,
                                            const std::vector<std::string>& added, bool inherit) {
  constexpr std::string_view kPath = "PYTHONPATH", kRole = "HONE_ROLE";
  std::vector<std::string> all = added;
  const auto has = [&](std::string_view name) {
    for (const std::string& entry : added) {
      if (VariableName(entry) == name) return true;
    }
    return false;
  };
  for (char** entry = ::environ; inherit && *entry != nullptr; ++entry) {
    const std::string_view name = VariableName(*entry);
    if (name != kRole && !has(name)) all.emplace_back(*entry);
  }
  if (!has(kRole)) all.push_back(fmt::format("{}={}", kRole, role));
  const std::string package = PythonPackagePath();
  if (package.empty()) return all;
  for (std::string& entry : all) {
    if (VariableName(entry) != kPath) continue;
    // The user's own come first: a package of theirs that is newer is theirs to choose.
    entry += (entry.ends_with('=') ? "" : ":") + package;
    return all;
  }
  all.push_back(fmt::format("{}={}", kPath, package));
  return all;
}

}  // namespace hone
