#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// What becomes of the regular files of a tar archive, in their order.
struct TarVisitor {
  // A file begins. False: its bytes are skipped.
  std::function<Result<bool>(const std::string& path, int64_t size)> begin;
  // The next bytes of a file that is wanted.
  std::function<Result<void>(std::string_view bytes)> bytes;
};

// What an archive may hold at most; more is refused before it is read.
struct TarLimits {
  int64_t entries = 100000;
  int64_t bytes = int64_t{16} << 30;  // of all files together
};

// Reads a tar archive (ustar, with pax's and GNU's long names) piece by piece. Paths that are
// absolute or lead outside ("..") are refused, and so is everything but files and folders: links,
// devices, pipes. Nothing is written by it.
class TarReader {
 public:
  TarReader(TarVisitor visitor, TarLimits limits);

  Result<void> Feed(std::string_view bytes);
  // Whether the archive ended where it should.
  Result<void> Finish() const;

 private:
  enum class Part { kHeader, kFile, kSkipped, kName, kEnd };

  Result<void> TakeHeader();
  Result<void> TakeBody(std::string_view bytes);
  Result<void> EndBody();

  TarVisitor visitor_;
  TarLimits limits_;
  Part part_ = Part::kHeader;
  std::string header_;      // up to 512 bytes
  int64_t left_ = 0;        // bytes of the body
  int64_t padding_ = 0;     // behind them
  char type_ = '0';         // of what is being read
  std::string name_;        // a long name, or pax's records, while they are read
  std::string next_path_;   // for the next file; empty: as its header says
  int64_t next_size_ = -1;  // for the next file; -1: as its header says
  int64_t entries_ = 0, bytes_ = 0;
};

// A .tgz file. The error names it.
Result<void> ReadTarGz(const std::filesystem::path& path, const TarVisitor& visitor,
                       const TarLimits& limits = {});

}  // namespace hone
