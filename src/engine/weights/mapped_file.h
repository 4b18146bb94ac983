#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "base/result.h"

namespace hone {

// A file's bytes, mapped for reading: nothing is read before it is looked at. Immutable and
// thread-safe, for as long as nobody cuts the file.
class MappedFile {
 public:
  // Of an empty file there are no bytes. What is not a regular file is kInvalidArgument. The error
  // names the file.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hone
