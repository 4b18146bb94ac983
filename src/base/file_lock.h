#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"

namespace hone {

// The lock of a file: at most one process (and one object) has it. It goes with the object, or with
// the process however that ends. The file itself stays: if it were removed, somebody could hold the
// lock of a file that has no name any more.
class FileLock {
 public:
  // Makes the file, and its folder, where they are missing. Nothing while another one has it.
  static Result<std::optional<FileLock>> Try(const std::filesystem::path& file);

  // Waits until it is free; tells so once (`waits`, if there is one). kStopped as soon as `stop`
  // (if there is one) says so.
  static Result<FileLock> Take(const std::filesystem::path& file,
                               const std::function<bool()>& stop = nullptr,
                               const std::function<void()>& waits = nullptr);

 private:
  explicit FileLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

}  // namespace hone
