#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "tools/sandbox/launch.h"

namespace hone {

// A folder for a program that is not trusted: what it left there may be deep, unreadable or huge.
// Removed at the end; what a process that was killed left behind is removed by the next that makes
// one.
class Scratch {
 public:
  // An empty one under the system's temporary directory, for `owner` where given (we are root).
  static Result<std::unique_ptr<Scratch>> New(const std::optional<LaunchOptions::Identity>& owner);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // A file for the program to find. `name` is relative and stays inside.
  Result<void> Write(std::string_view name, std::string_view content);

  // Whether more than `bytes` lie there on disk, or more files, or deeper folders, than any honest
  // program leaves (10,000; 64), or a folder that cannot be looked into. Never follows a link.
  bool HoldsMoreThan(uint64_t bytes) const;

 private:
  Scratch(std::filesystem::path path, Descriptor lock, std::optional<LaunchOptions::Identity> owner)
      : path_(std::move(path)), lock_(std::move(lock)), owner_(owner) {}
  Result<void> GiveToOwner(const std::filesystem::path& path) const;

  std::filesystem::path path_;
  Descriptor lock_;  // on the folder, as long as somebody lives who uses it
  std::optional<LaunchOptions::Identity> owner_;
};

// Removes the scratch folders in `parent` that nobody uses any more: those of processes that were
// killed. Safe while others make and use some.
void RemoveAbandonedScratch(const std::filesystem::path& parent);

// Removes a folder with all it holds, whatever its depth and modes, without following links and
// with few descriptors. What cannot be removed stays.
void RemoveTree(const std::filesystem::path& path);

}  // namespace hone
