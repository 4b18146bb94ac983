// Any bytes as a .tgz, and as the .tar inside of one; as a mirror's list of hashes.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/fetch/gzip.h"
#include "base/fetch/hash_list.h"
#include "base/fetch/tar.h"

namespace {

// What an archive hands out stays inside, and is as long as it says.
struct Watch {
  int64_t left = 0;

  hone::TarVisitor Visitor() {
    return {[this](const std::string& path, int64_t size) -> hone::Result<bool> {
              CHECK(left == 0 && size >= 0);
              CHECK(!path.starts_with('/') && !path.starts_with("../"));
              CHECK(path.find("/../") == std::string::npos);
              left = size;
              return true;
            },
            [this](std::string_view bytes) -> hone::Result<void> {
              left -= std::ssize(bytes);
              CHECK(left >= 0);
              return {};
            }};
  }
};

constexpr hone::TarLimits kLimits = {.entries = 1000, .bytes = 1 << 24};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Watch whole, packed;
  hone::TarReader tar(whole.Visitor(), kLimits);
  if (tar.Feed(bytes).ok() && tar.Finish().ok()) CHECK(whole.left == 0);
  hone::TarReader inside(packed.Visitor(), kLimits);
  hone::GzipReader gzip([&](std::string_view out) { return inside.Feed(out); });
  if (gzip.Feed(bytes.substr(0, size / 2)).ok() && gzip.Feed(bytes.substr(size / 2)).ok()) {
    (void)gzip.Finish();
  }
  (void)hone::ParseHashList(bytes);
  return 0;
}
