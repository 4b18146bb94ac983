#include "base/fetch/gzip.h"

#include <utility>
#include <vector>

#include <zlib.h>

namespace hone {

struct GzipReader::Stream {
  z_stream z{};
  bool ended = false;  // behind a member; another one may follow
  bool begun = false;
  std::vector<char> out = std::vector<char>(1 << 17);
};

GzipReader::GzipReader(std::function<Result<void>(std::string_view)> take)
    : stream_(std::make_unique<Stream>()), take_(std::move(take)) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  CHECK(::inflateInit2(&stream_->z, kGzipOnly) == Z_OK);
}

GzipReader::~GzipReader() { ::inflateEnd(&stream_->z); }

Result<void> GzipReader::Feed(std::string_view bytes) {
  z_stream& z = stream_->z;
  // zlib does not write through it.
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  // What came out may have filled the room with more to come, though nothing is left to go in.
  bool full = false;
  while (z.avail_in > 0 || full) {
    if (stream_->ended) {
      ::inflateReset(&z);
      stream_->ended = false;
    }
    stream_->begun = true;
    z.next_out = reinterpret_cast<Bytef*>(stream_->out.data());
    z.avail_out = static_cast<uInt>(stream_->out.size());
    const int status = ::inflate(&z, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      return Error(ErrorCode::kCorrupt, "not a gzip stream, or a damaged one");
    }
    const size_t count = stream_->out.size() - z.avail_out;
    if (count > 0) HONE_RETURN_IF_ERROR(take_({stream_->out.data(), count}));
    stream_->ended = status == Z_STREAM_END;
    full = !stream_->ended && z.avail_out == 0;
    if (status == Z_BUF_ERROR) break;  // it wants more to go in
  }
  return {};
}

Result<void> GzipReader::Finish() {
  if (stream_->begun && stream_->ended) return {};
  return Error(ErrorCode::kCorrupt, "the gzip stream is cut off");
}

}  // namespace hone
