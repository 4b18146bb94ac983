#include "base/http_client.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/strings.h"

namespace hone {
namespace {

// What the callbacks of one transfer share.
struct Transfer {
  const HttpRequest* request;
  CURL* handle;
  HttpResponse response;
  size_t body_bytes = 0;
  bool headers_told = false;
  bool too_large = false;
  bool enough = false;
};

int StatusOf(CURL* handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

void TellHeaders(Transfer* transfer) {
  transfer->response.status = StatusOf(transfer->handle);
  if (!transfer->headers_told && transfer->request->on_headers) {
    transfer->request->on_headers(transfer->response);
  }
  transfer->headers_told = true;
}

size_t OnBody(char* data, size_t, size_t size, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  if (!transfer->headers_told) TellHeaders(transfer);
  transfer->body_bytes += size;
  if (transfer->body_bytes > transfer->request->max_body_bytes) {
    transfer->too_large = true;
    return 0;  // anything but `size` ends the transfer
  }
  if (transfer->request->on_data) {
    transfer->enough = !transfer->request->on_data(std::string_view(data, size));
    if (transfer->enough) return 0;
  } else {
    transfer->response.body.append(data, size);
  }
  return size;
}

size_t OnHeader(char* data, size_t, size_t size, void* user) {
  const std::string_view line(data, size);
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    std::string name(Trim(line.substr(0, colon)));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    static_cast<Transfer*>(user)->response.headers.emplace_back(std::move(name),
                                                                Trim(line.substr(colon + 1)));
  }
  return size;
}

// curl_easy_perform that a stop ends at once.
CURLcode Perform(CURL* handle, const std::stop_token& stop) {
  const std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi(curl_multi_init(),
                                                                    &curl_multi_cleanup);
  CHECK(multi != nullptr);
  curl_multi_add_handle(multi.get(), handle);
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  {
    const std::stop_callback wake(stop, [&] { curl_multi_wakeup(multi.get()); });
    int running = 1;
    while (running != 0 && !stop.stop_requested()) {
      curl_multi_perform(multi.get(), &running);
      if (running != 0) curl_multi_poll(multi.get(), nullptr, 0, 1000, nullptr);
    }
    int left = 0;
    const CURLMsg* done = curl_multi_info_read(multi.get(), &left);
    if (running == 0 && done != nullptr) code = done->data.result;
  }
  curl_multi_remove_handle(multi.get(), handle);
  return code;
}

// What libcurl says, without how long it took: the same failure is the same text.
std::string Untimed(std::string text) {
  const size_t after = text.find(" after "), end = text.find(" ms", after);
  if (after != std::string::npos && end != std::string::npos) text.erase(after, end + 3 - after);
  return text;
}

// Which of the two limits ended an exchange.
Error TimedOut(const Transfer& transfer) {
  const HttpRequest& request = *transfer.request;
  curl_off_t microseconds = 0;
  curl_easy_getinfo(transfer.handle, CURLINFO_TOTAL_TIME_T, &microseconds);
  const bool silent =
      request.silence.count() > 0 && std::chrono::microseconds(microseconds) < request.deadline;
  std::string what = fmt::format("no answer within {} ms", request.deadline.count());
  if (silent) what = fmt::format("no answer within {} s", request.silence.count());
  if (silent && transfer.body_bytes > 0) what = "the answer stopped in the middle";
  return Error(ErrorCode::kDeadline, fmt::format("{}: {}", request.url, what));
}

Error ErrorOf(CURLcode code, const Transfer& transfer, const char* detail) {
  const std::string& url = transfer.request->url;
  if (transfer.too_large) {
    return Error(ErrorCode::kFull, fmt::format("{}: the body exceeds {} bytes", url,
                                               transfer.request->max_body_bytes));
  }
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT: return TimedOut(transfer);
    case CURLE_ABORTED_BY_CALLBACK: return Error(ErrorCode::kStopped, url + ": stopped");
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("\"{}\" is not an http:// or https:// URL", url));
    default:
      return Error(
          ErrorCode::kUnavailable,
          fmt::format("{}: {}", url, Untimed(*detail != 0 ? detail : curl_easy_strerror(code))));
  }
}

}  // namespace

std::string_view HttpResponse::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::optional<std::chrono::milliseconds> RetryAfter(const HttpResponse& response) {
  const std::string_view text = Trim(response.Header("retry-after"));
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0)) {
    return std::nullopt;
  }
  constexpr double kDay = 24 * 3600;
  return std::chrono::milliseconds(static_cast<int64_t>(std::min(seconds, kDay) * 1000));
}

Result<HttpResponse> HttpFetch(const HttpRequest& request, std::stop_token stop) {
  static std::once_flag initialised;
  std::call_once(initialised, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  CHECK(curl != nullptr);
  Transfer transfer{&request, curl.get(), {}};
  char detail[CURL_ERROR_SIZE] = "";

  curl_slist* list = nullptr;
  for (const auto& [name, value] : request.headers) {
    list = curl_slist_append(list, (name + ": " + value).c_str());
  }
  list = curl_slist_append(list, "Expect:");  // no round trip before a body
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list,
                                                                            &curl_slist_free_all);
  CURL* handle = curl.get();
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  if (!request.environment_proxy) curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  // To libcurl, 0 would mean for ever.
  const auto deadline = std::max<long>(static_cast<long>(request.deadline.count()), 1);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, deadline);
  if (request.silence.count() > 0) {
    const auto silence = static_cast<long>(request.silence.count());
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, silence);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, silence);
  }
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &OnHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  if (!request.body.empty() || request.method == "POST") {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  } else if (request.method == "HEAD") {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  }
  const CURLcode code = Perform(handle, stop);
  if (code != CURLE_OK && !transfer.enough) return ErrorOf(code, transfer, detail);
  TellHeaders(&transfer);  // libcurl tells nothing of a body without bytes
  return std::move(transfer.response);
}

}  // namespace hone
