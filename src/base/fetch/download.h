#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace hone {

struct DownloadRequest {
  std::string url;             // http:// or https://
  std::filesystem::path path;  // where the file shall be
  std::string hash;            // "sha512-" and base 64, or "sha256-" and hexadecimal digits
  // One process at a time fetches what has this lock; others wait. Empty: the caller sees to it.
  std::filesystem::path lock;
  int64_t max_bytes = int64_t{64} << 30;
  std::chrono::seconds silence{60};  // without a byte for so long the connection is given up
  int attempts = 3;                  // of connections, each going on where the one before stopped
  // How many bytes there are, of how many; 0: not known. May be null.
  std::function<void(int64_t done, int64_t all)> progress;
};

// Fetches a file unless it is there already with this hash. Until its hash has been checked it is
// named PATH.part, which a later call continues; a file of another hash is removed. Redirects are
// followed, but never from https to http. Errors name the URL and say what to do: kUnavailable (no
// connection), kNotFound, kDeadline, kCorrupt (the hash differs, or it is larger than max_bytes),
// kFull (no space), kStopped.
Result<void> Download(const DownloadRequest& request, std::stop_token stop = {});

// A small text by GET, with redirects: metadata, lists of hashes. `accept`: the header's value.
Result<std::string> FetchText(const std::string& url, const std::string& accept,
                              std::stop_token stop = {});

// Whether a file has this hash, in either way to write it.
Result<bool> HasHash(const std::filesystem::path& path, const std::string& hash);

}  // namespace hone
