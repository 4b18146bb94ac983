#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// Also false where it cannot be told.
bool Exists(const std::filesystem::path& path);

// The whole of a regular file as bytes; a pipe or device is refused. The error names it and why.
Result<std::string> ReadFile(const std::filesystem::path& path);

// All of standard input.
Result<std::string> ReadStandardInput();

// Writes the file so that after a crash at any moment it holds either the old or the new content:
// written aside, fsynced, renamed, directory fsynced. Creates missing parent directories.
Result<void> WriteFileAtomic(const std::filesystem::path& path, std::string_view content);

// What was renamed or created in a directory survives a crash of the machine.
Result<void> SyncDirectory(const std::filesystem::path& directory);

// A directory that was written aside takes the place of another (or of none): after a crash at any
// moment `target` is the old one or the new one.
Result<void> ReplaceDirectory(const std::filesystem::path& fresh,
                              const std::filesystem::path& target);

// A fresh directory under the system's temporary directory, removed with all it holds at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// "No such file or directory" and the like for the errno of the call that just failed, with the
// error code that fits it.
Error ErrnoError(std::string_view what);

}  // namespace hone
