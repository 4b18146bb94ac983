#include "tools/sandbox/process_tree.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include <dirent.h>

#include <fmt/format.h>

#include "base/file.h"

namespace hone {
namespace {

constexpr size_t kMostProcesses = 4000;

// The numbers that name entries of a folder.
std::vector<pid_t> NumbersIn(const std::string& folder) {
  std::vector<pid_t> numbers;
  DIR* listing = ::opendir(folder.c_str());
  if (listing == nullptr) return numbers;
  while (const dirent* entry = ::readdir(listing)) {
    if (const int number = std::atoi(entry->d_name); number > 0) numbers.push_back(number);
  }
  ::closedir(listing);
  return numbers;
}

// The state and the parent that /proc/PID/stat has behind the program's name, which may hold
// anything.
struct Stat {
  char state = '?';
  pid_t parent = 0;
};
Stat StatOf(pid_t pid) {
  const Result<std::string> text = ReadFile(fmt::format("/proc/{}/stat", pid));
  const size_t name = text.ok() ? text->rfind(')') : std::string::npos;
  if (name == std::string::npos || name + 4 >= text->size()) return {};
  return {(*text)[name + 2], std::atoi(text->c_str() + name + 4)};
}

char StateOf(pid_t pid) {
  const char first = StatOf(pid).state;
  if (first != 'Z') return first;
  const std::vector<pid_t> threads = LivingThreads(pid);
  return threads.empty() ? first : StatOf(threads[0]).state;
}

// Nothing where this kernel does not tell (CONFIG_PROC_CHILDREN).
std::optional<std::vector<pid_t>> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t thread : NumbersIn(fmt::format("/proc/{}/task", pid))) {
    const Result<std::string> text =
        ReadFile(fmt::format("/proc/{}/task/{}/children", pid, thread));
    if (!text.ok()) {
      if (thread == pid && StatOf(pid).state != '?') return std::nullopt;
      continue;
    }
    char* end = nullptr;
    for (const char* at = text->c_str();; at = end) {
      const long child = std::strtol(at, &end, 10);
      if (end == at) break;
      children.push_back(static_cast<pid_t>(child));
    }
  }
  return children;
}

// The same for all processes there are: slower, and found everywhere.
std::multimap<pid_t, pid_t> AllByParent() {
  std::multimap<pid_t, pid_t> by_parent;
  for (const pid_t pid : NumbersIn("/proc")) by_parent.emplace(StatOf(pid).parent, pid);
  return by_parent;
}

}  // namespace

std::vector<pid_t> LivingThreads(pid_t pid) {
  std::vector<pid_t> threads = NumbersIn(fmt::format("/proc/{}/task", pid));
  std::erase_if(threads, [](pid_t thread) {
    return !TreeProcess{thread, 0, StatOf(thread).state}.lives();
  });
  return threads;
}

std::vector<TreeProcess> ProcessTree(pid_t root) {
  std::vector<TreeProcess> tree = {{root, 0, StateOf(root)}};
  std::optional<std::multimap<pid_t, pid_t>> all;
  for (size_t i = 0; i < tree.size() && tree.size() < kMostProcesses; ++i) {
    const TreeProcess parent = tree[i];
    const std::optional<std::vector<pid_t>> children = ChildrenOf(parent.pid);
    const auto add = [&](pid_t pid) { tree.push_back({pid, parent.depth + 1, StateOf(pid)}); };
    if (children) {
      for (const pid_t child : *children) add(child);
      continue;
    }
    if (!all) all = AllByParent();
    const auto [begin, end] = all->equal_range(parent.pid);
    for (auto child = begin; child != end; ++child) add(child->second);
  }
  return tree;
}

}  // namespace hone
