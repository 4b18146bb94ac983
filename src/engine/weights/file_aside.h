#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace hone {

// A large file, written piece by piece beside its place and then put there: after a crash at any
// moment the place holds the old file or the new one (as WriteFileAtomic does for what fits into
// memory). Without Commit nothing is left behind. For one thread.
class FileAside {
 public:
  // Creates missing parent directories. Errors name `path`.
  static Result<FileAside> Create(const std::filesystem::path& path);
  ~FileAside();
  FileAside(FileAside&& other) noexcept;
  FileAside& operator=(FileAside&&) = delete;

  Result<void> Append(std::string_view bytes);
  Result<void> Append(std::span<const std::byte> bytes) {
    return Append(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // Once, at the end.
  Result<void> Commit();

 private:
  FileAside() = default;

  std::filesystem::path path_;
  std::string aside_;  // empty: committed, or moved from
  Descriptor fd_;
};

}  // namespace hone
