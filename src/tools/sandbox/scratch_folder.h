#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace hone {

// What a folder may hold.
struct FolderLimits {
  int64_t bytes = 10 << 20;      // of all files together
  int64_t file_bytes = 1 << 20;  // of one file
  int64_t files = 1000;          // files and folders
  int64_t depth = 8;             // parts of a path
};

// A temporary folder that is worked in by relative paths ("notes/a.txt") and that nothing leads out
// of: no "..", no absolute path, no symbolic link, not even one that appears while a call runs. Any
// path that cannot be followed is an error that says why. One thread at a time.
class ScratchFolder {
 public:
  static Result<std::unique_ptr<ScratchFolder>> New(const FolderLimits& limits);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  struct Entry {
    std::string path;
    bool folder = false;
    int64_t bytes = 0;
    bool operator==(const Entry&) const = default;
  };
  // All below `path` (empty: everything), sorted by path.
  Result<std::vector<Entry>> List(std::string_view path) const;
  Result<std::string> Read(std::string_view path) const;
  // Creates the folders it needs. A write that would break a limit changes nothing.
  Result<void> Write(std::string_view path, std::string_view content);
  Result<void> Append(std::string_view path, std::string_view content);
  // A file, or a folder that is empty.
  Result<void> Remove(std::string_view path);
  // Fails when there is something at `to`.
  Result<void> Move(std::string_view from, std::string_view to);

  // Takes in copies of all files of a folder outside, which must have no links in it.
  Result<void> CopyFrom(const std::filesystem::path& outside);
  // Everything once more, in a folder of its own.
  Result<std::unique_ptr<ScratchFolder>> Clone() const;

  // Where it lies, for tests and for those who look.
  const std::filesystem::path& place() const { return folder_.path(); }

 private:
  explicit ScratchFolder(const FolderLimits& limits) : limits_(limits) {}

  Result<std::vector<std::string>> PartsOf(std::string_view path) const;
  Result<int> OpenParent(const std::vector<std::string>& parts, bool create) const;
  // Writes without asking whether there is room.
  Result<void> Store(const std::vector<std::string>& parts, std::string_view content);
  Result<void> CheckRoom(std::string_view path, const std::vector<std::string>& parts,
                         int64_t bytes) const;

  const FolderLimits limits_;
  TemporaryDirectory folder_;
  int root_ = -1;
};

}  // namespace hone
