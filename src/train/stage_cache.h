#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_lock.h"
#include "base/json.h"
#include "base/result.h"

namespace hone {

// What stages made, in folders that are named after the hash of everything it depends on, so that
// recipes share an imitation checkpoint or a simulator. Processes may share a cache: an output is
// there whole or not at all.
class StageCache {
 public:
  // `note`, where there is one, is told what is wrong with an output.
  explicit StageCache(std::filesystem::path folder,
                      std::function<void(std::string_view)> note = nullptr)
      : folder_(std::move(folder)), note_(std::move(note)) {}

  // The folder of this output, if it is there. `depends_on`: everything that it is made from. One
  // that is damaged (train/folder/checksums.h) is as good as none.
  std::optional<std::filesystem::path> Find(std::string_view kind, const Json& depends_on) const;
  // The lock of an output: who holds it is the only one who makes it.
  // When another one has it, says so once (`waits`, if there is one) and waits until it
  // is free; then that one's output is there, unless it failed or died: ask Find. kStopped as soon
  // as `stop` (if there is one) says so.
  Result<FileLock> LockOf(std::string_view kind, const Json& depends_on,
                          const std::function<bool()>& stop = nullptr,
                          const std::function<void()>& waits = nullptr) const;

  // Lets `write` fill a folder that is then put in its place, with what it depends on beside it in
  // depends_on.json, and checksums.
  Result<std::filesystem::path> Put(
      std::string_view kind, const Json& depends_on,
      const std::function<Result<void>(const std::filesystem::path& folder)>& write) const;

 private:
  std::filesystem::path PathOf(std::string_view kind, const Json& depends_on) const;

  std::filesystem::path folder_;
  std::function<void(std::string_view)> note_;
};

}  // namespace hone
