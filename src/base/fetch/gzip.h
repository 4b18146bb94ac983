#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace hone {

// Undoes gzip (RFC 1952) piece by piece, several members behind each other included.
class GzipReader {
 public:
  // `take` gets what comes out, in pieces; an error of it ends the reading.
  explicit GzipReader(std::function<Result<void>(std::string_view)> take);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // The next bytes of the compressed stream. Damaged ones are kCorrupt.
  Result<void> Feed(std::string_view bytes);
  // Whether the stream ended where it should: kCorrupt when it is cut off.
  Result<void> Finish();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::function<Result<void>(std::string_view)> take_;
};

}  // namespace hone
