#include "base/fetch/download.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/fetch/web_address.h"
#include "base/file.h"
#include "base/file_hash.h"
#include "base/file_lock.h"
#include "base/hashing/sha512.h"
#include "base/http_client.h"

namespace hone {
namespace {

constexpr int kMostRedirects = 5;
constexpr std::string_view kSha256 = "sha256-";

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// What a status that is no success means.
Error StatusError(const std::string& url, int status) {
  if (status == 404 || status == 410) {
    return Error(ErrorCode::kNotFound, fmt::format("{}: it is not there (status {})", url, status));
  }
  if (status == 401 || status == 403) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: the server does not give it to you (status {})", url, status));
  }
  return Error(ErrorCode::kUnavailable, fmt::format("{}: the server answered with status {}; try "
                                                    "again later",
                                                    url, status));
}

// Whether another connection may have more luck.
bool Passes(const Error& error) {
  return error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kDeadline;
}

// One exchange with redirects. The callbacks hear only of the last one.
Result<HttpResponse> FetchFollowing(HttpRequest request, const std::stop_token& stop) {
  const auto on_headers = request.on_headers;
  const auto on_data = request.on_data;
  for (int i = 0; i <= kMostRedirects; ++i) {
    bool redirect = false;
    request.on_headers = [&](const HttpResponse& response) {
      redirect = IsRedirect(response.status);
      if (!redirect && on_headers) on_headers(response);
    };
    if (on_data) {
      request.on_data = [&](std::string_view bytes) { return redirect || on_data(bytes); };
    }
    Result<HttpResponse> response = HttpFetch(request, stop);
    // Not a disk is full: what comes is more than there can be.
    if (!response.ok() && response.error().code() == ErrorCode::kFull) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("{}: it is larger than the {} bytes that it can have. Nothing of it "
                               "was kept; try another registry or mirror",
                               request.url, request.max_body_bytes));
    }
    if (!response.ok() || !IsRedirect(response->status)) return response;
    HONE_ASSIGN_OR_RETURN(request.url, RedirectTarget(request.url, response->Header("location")));
  }
  return Error(ErrorCode::kUnavailable, request.url + ": redirects that do not end");
}

// A file that grows while it arrives.
class PartialFile {
 public:
  explicit PartialFile(std::filesystem::path path) : path_(std::move(path)) {}

  Result<void> Open() {
    fd_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!fd_.ok()) return ErrnoError("cannot write " + path_.string());
    const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
    if (end < 0) return ErrnoError("cannot write " + path_.string());
    size_ = end;
    return {};
  }
  int64_t size() const { return size_; }
  Result<void> Restart() {
    if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0) {
      return ErrnoError("cannot write " + path_.string());
    }
    size_ = 0;
    return {};
  }
  Result<void> Append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(fd_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        const Error error = ErrnoError("cannot write " + path_.string());
        if (error.code() != ErrorCode::kFull) return error;
        return Error(ErrorCode::kFull, error.message() +
                                           "; what has arrived is kept: make room and run the same "
                                           "command again");
      }
      size_ += count;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return {};
  }
  Result<void> Sync() {
    return ::fsync(fd_.get()) == 0 ? Result<void>() : ErrnoError("cannot write " + path_.string());
  }

 private:
  std::filesystem::path path_;
  Descriptor fd_;
  int64_t size_ = 0;
};

// How many bytes there are in all, by the headers; 0: not said.
int64_t AllBytes(const HttpResponse& response, int64_t begun) {
  const std::string text(response.Header("content-length"));
  if (text.empty() || text.size() > 15 ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return 0;
  }
  return begun + std::stoll(text);
}

// Where the bytes of a 206 begin; -1: not said.
int64_t RangeBegin(const HttpResponse& response) {
  const std::string range(response.Header("content-range"));  // "bytes 5-9/10"
  if (!range.starts_with("bytes ") || range.size() < 7 || range[6] < '0' || range[6] > '9') {
    return -1;
  }
  return std::strtoll(range.c_str() + 6, nullptr, 10);
}

// One connection: asks for what is missing, and appends it.
Result<void> FetchRest(const DownloadRequest& request, PartialFile* file,
                       const std::stop_token& stop) {
  HttpRequest http;
  http.url = request.url;
  http.deadline = std::chrono::hours(24);
  http.silence = request.silence;
  http.environment_proxy = true;
  http.max_body_bytes = static_cast<size_t>(request.max_bytes);
  const int64_t begun = file->size();
  if (begun > 0) http.headers.emplace_back("Range", fmt::format("bytes={}-", begun));
  Result<void> written;
  int64_t all = 0;
  bool good = false;
  http.on_headers = [&](const HttpResponse& response) {
    good = response.status == 200 || response.status == 206;
    if (!good) return;
    // A server that knows no ranges, or sends another one, begins anew.
    if (begun > 0 && (response.status == 200 || RangeBegin(response) != begun)) {
      good = response.status == 200;
      written = file->Restart();
    }
    all = AllBytes(response, file->size());
  };
  http.on_data = [&](std::string_view bytes) {
    if (!good) return true;
    if (written.ok()) written = file->Append(bytes);
    if (written.ok() && request.progress) request.progress(file->size(), all);
    return written.ok();
  };
  const Result<HttpResponse> response = FetchFollowing(http, stop);
  HONE_RETURN_IF_ERROR(written);
  if (!response.ok()) return response.error();
  if (response->status == 416) return {};  // there is no more: the hash tells whether it is whole
  if (response->status != 200 && response->status != 206) {
    return StatusError(request.url, response->status);
  }
  if (!good || (all > 0 && file->size() != all)) {
    return Error(ErrorCode::kUnavailable, request.url + ": the answer ended early");
  }
  return {};
}

Result<void> FetchWhole(const DownloadRequest& request, PartialFile* file,
                        const std::stop_token& stop) {
  for (int attempt = 1;; ++attempt) {
    Result<void> fetched = FetchRest(request, file, stop);
    if (fetched.ok()) return file->Sync();
    if (attempt >= request.attempts || !Passes(fetched.error())) return fetched.error();
  }
}

}  // namespace

Result<bool> HasHash(const std::filesystem::path& path, const std::string& hash) {
  if (hash.starts_with(kSha256)) {
    HONE_ASSIGN_OR_RETURN(const std::string own, HashFile(path));
    return hash == std::string(kSha256) + own;
  }
  HONE_ASSIGN_OR_RETURN(const std::string own, IntegrityOfFile(path));
  return own == hash;
}

Result<void> Download(const DownloadRequest& request, std::stop_token stop) {
  const std::filesystem::path part = request.path.string() + ".part";
  std::optional<FileLock> lock;
  if (!request.lock.empty()) {
    HONE_ASSIGN_OR_RETURN(lock,
                          FileLock::Take(request.lock, [&] { return stop.stop_requested(); }));
  }
  if (Exists(request.path)) {
    HONE_ASSIGN_OR_RETURN(const bool right, HasHash(request.path, request.hash));
    if (right) return {};
  }
  // What an earlier call left may be of another file: then everything is fetched once more.
  for (bool again = Exists(part);; again = false) {
    PartialFile file(part);
    HONE_RETURN_IF_ERROR(file.Open());
    const Result<void> fetched = FetchWhole(request, &file, stop);
    std::error_code ignored;
    if (!fetched.ok()) {
      if (fetched.error().code() == ErrorCode::kCorrupt) std::filesystem::remove(part, ignored);
      return fetched.error();
    }
    HONE_ASSIGN_OR_RETURN(const bool right, HasHash(part, request.hash));
    if (right) break;
    std::filesystem::remove(part, ignored);
    if (again) continue;
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("{}: its hash is not the one that is known ({}); it was changed there, "
                    "or on its way. Nothing of it was kept; try another registry or "
                    "mirror",
                    request.url, request.hash));
  }
  if (::rename(part.c_str(), request.path.c_str()) != 0) {
    return ErrnoError("cannot write " + request.path.string());
  }
  return {};
}

Result<std::string> FetchText(const std::string& url, const std::string& accept,
                              std::stop_token stop) {
  HttpRequest http;
  http.url = url;
  http.environment_proxy = true;
  http.headers.emplace_back("Accept", accept);
  HONE_ASSIGN_OR_RETURN(HttpResponse response, FetchFollowing(http, stop));
  if (response.status != 200) return StatusError(url, response.status);
  return std::move(response.body);
}

}  // namespace hone
