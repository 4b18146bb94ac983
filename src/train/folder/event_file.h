#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// CRC-32C (Castagnoli) of bytes.
uint32_t Crc32c(std::string_view bytes);

// A file that TensorBoard reads: numbers by name and step. Written as it goes; what was written
// before a kill can be read. Not synchronised.
class EventFile {
 public:
  // A new file in the folder, named after the time (seconds since 1970) and the first step.
  // TensorBoard forgets what older files of the folder have from that step on.
  static Result<std::unique_ptr<EventFile>> New(const std::filesystem::path& folder,
                                                double wall_time, int64_t first_step);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  Result<void> Add(double wall_time, int64_t step, const std::map<std::string, double>& values);
  const std::filesystem::path& path() const { return path_; }

 private:
  EventFile(std::filesystem::path path, int file) : path_(std::move(path)), file_(file) {}
  Result<void> Write(std::string_view event);

  std::filesystem::path path_;
  int file_;
};

}  // namespace hone
