#include "serve/http_exchange.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/check.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLinger{1000};
constexpr size_t kLingerBytes = 4 << 20;

// "Sun, 06 Nov 1994 08:49:37 GMT", whatever the locale.
std::string HttpDate() {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday,
                     kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

bool FitsOnALine(std::string_view text) {
  return text.find_first_of("\r\n") == std::string_view::npos;
}

// 204 and 304 have no body and say nothing of its length.
bool HasBody(int status) { return status != 204 && status != 304; }

}  // namespace

bool WaitForSocket(int socket, short events, std::chrono::steady_clock::time_point deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd poll{socket, events, 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(std::min<int64_t>(left, 60000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

void Linger(int socket) {
  ::shutdown(socket, SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + kLinger;
  char bytes[16384];
  size_t total = 0;
  while (total < kLingerBytes && WaitForSocket(socket, POLLIN, deadline)) {
    const ssize_t count = ::recv(socket, bytes, sizeof bytes, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return;
    total += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
}

SocketExchange::SocketExchange(int socket, const IncomingRequest* request,
                               const HttpServerOptions* options, std::stop_token gone,
                               std::stop_token closing)
    : socket_(socket),
      request_(request),
      options_(options),
      gone_(std::move(gone)),
      closing_(std::move(closing)) {}

std::string SocketExchange::Head(const ServerResponse& response) {
  {
    MutexLock lock(mutex_);
    CHECK(!begun_, "a request is answered once");
    begun_ = true;
  }
  if (closing_.stop_requested()) last_ = true;
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                                 StatusText(response.status), HttpDate());
  if (!response.content_type.empty()) {
    CHECK(FitsOnALine(response.content_type));
    head += fmt::format("Content-Type: {}\r\n", response.content_type);
  }
  for (const auto& [name, value] : response.headers) {
    CHECK(FitsOnALine(name) && FitsOnALine(value), "a header must fit on a line");
    head += fmt::format("{}: {}\r\n", name, value);
  }
  const bool keep = !last_ && request_->keep_alive;
  if (!keep) {
    head += "Connection: close\r\n";
  } else if (!request_->chunks) {
    head += "Connection: keep-alive\r\n";  // an HTTP/1.0 client that asked for it must be told
  }
  return head;
}

void SocketExchange::Probe() {
  MutexLock lock(mutex_);
  if (begun_ || !request_->chunks) return;
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  ::send(socket_, kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
}

bool SocketExchange::Respond(const ServerResponse& response) {
  std::string bytes = Head(response);
  if (HasBody(response.status))
    bytes += fmt::format("Content-Length: {}\r\n", response.body.size());
  bytes += "\r\n";
  if (HasBody(response.status) && request_->method != "HEAD") bytes += response.body;
  return Send(bytes);
}

bool SocketExchange::Begin(const ServerResponse& response) {
  CHECK(response.body.empty(), "what a stream begins with is written");
  streaming_ = request_->method != "HEAD";
  if (!request_->chunks) last_ = true;  // the end of the connection is the end of the stream
  return Send(Head(response) + (request_->chunks ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"));
}

bool SocketExchange::Write(std::string_view piece) {
  CHECK(begun(), "a stream is written to before it began");
  if (!streaming_ || piece.empty()) return !failed_;
  if (!request_->chunks) return Send(piece);
  return Send(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece));
}

void SocketExchange::Abort() { failed_ = true; }

bool SocketExchange::End() {
  if (!begun()) {
    last_ = true;
    Respond(options_->refusal(500, "the request was not answered"));
  } else if (streaming_ && request_->chunks) {
    Send("0\r\n\r\n");
  }
  return !last_ && !failed_ && request_->keep_alive;
}

bool SocketExchange::Send(std::string_view bytes) {
  // Who reads slowly is there.
  const auto patience = [&] { return std::chrono::steady_clock::now() + options_->write_deadline; };
  auto deadline = patience();
  while (!bytes.empty() && !failed_) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
      deadline = patience();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      failed_ = !WaitForSocket(socket_, POLLOUT, deadline);
    } else {
      failed_ = errno != EINTR;
    }
  }
  return !failed_;
}

}  // namespace hone
