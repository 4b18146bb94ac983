#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// HTTP/1.1 requests as bytes, seen from the server (RFC 9112). No sockets here.

namespace hone {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// A request that arrived whole.
struct IncomingRequest {
  std::string method;   // GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS
  std::string path;     // begins with '/', or is "*"; escapes are decoded
  std::string query;    // what stands behind '?', as it was sent
  HttpHeaders headers;  // names in lower case
  std::string body;
  bool keep_alive = true;  // the client wants to ask again on the same connection
  bool chunks = true;      // it reads chunked answers (HTTP/1.1)

  // The value of a header, by lower-case name; "" when absent.
  std::string_view Header(std::string_view name) const;
  // The first value of a parameter of the query, decoded; absent when it is not there.
  std::optional<std::string> Parameter(std::string_view name) const;
};

struct HttpLimits {
  size_t max_header_bytes = 32 << 10;  // request line, headers and trailers together
  size_t max_body_bytes = 8 << 20;
};

// Reads one request, however its bytes are cut. Strict where two readers could disagree about
// where a request ends: lines end in CR LF, one length only, no folded headers.
class RequestParser {
 public:
  explicit RequestParser(const HttpLimits& limits) : limits_(limits) {}

  // Takes bytes and returns how many of them it used: all of them, or fewer once the request is
  // complete (the rest belongs to the next one) or refused.
  size_t Feed(std::string_view bytes);

  bool complete() const { return state_ == State::kComplete; }
  // 0, or the status with which the request must be answered: 400, 411, 413, 414, 417, 431, 501,
  // 505. Nothing more can be read from that connection.
  int refused() const { return status_; }
  const std::string& why() const { return why_; }

  bool started() const { return started_; }
  // The method, the path and the headers are known; the body is on its way, or there is none.
  bool has_head() const { return state_ >= State::kBody && state_ != State::kRefused; }
  // Of the body: those that came, and those that are known to come.
  size_t body_bytes() const { return request_.body.size() + left_; }
  // The client waits for "100 Continue" before it sends the body.
  bool wants_continue() const;

  // The complete request.
  const IncomingRequest& request() const { return request_; }

 private:
  enum class State {
    kRequestLine,
    kHeader,
    kBody,  // left_ bytes of it are missing
    kChunkSize,
    kChunk,     // left_ bytes of it are missing
    kChunkEnd,  // the empty line behind a chunk
    kTrailer,
    kComplete,
    kRefused,
  };
  void Refuse(int status, std::string why);
  // Takes bytes of a line; true when line_ is one, without its CR LF.
  bool TakeLine(std::string_view* bytes);
  void TakeData(std::string_view* bytes, State then);
  void OnLine();
  void OnRequestLine();
  void OnTarget(std::string_view target);
  void OnHeader();
  void OnHeadEnd();
  void OnChunkSize();

  HttpLimits limits_;
  State state_ = State::kRequestLine;
  IncomingRequest request_;
  std::string line_;
  size_t header_bytes_ = 0;
  size_t left_ = 0;
  bool started_ = false;
  bool continue_ = false;
  int status_ = 0;
  std::string why_;
};

// "Not Found" for 404.
std::string_view StatusText(int status);

// %41 -> A; with `plus`, + -> space. Absent for an escape that is none.
std::optional<std::string> DecodePercent(std::string_view text, bool plus);

// Whether a Host ("localhost:8000", "[::1]") names this machine itself, or one of `names`. The port
// does not matter.
bool IsLocalHost(std::string_view host, const std::vector<std::string>& names = {});
// Whether an Origin ("http://127.0.0.1:8000") is that of the pages of this Host, port included; or
// is one of `names`, which may have a port ("localhost:3000") and otherwise means any.
bool IsOwnOrigin(std::string_view origin, std::string_view host,
                 const std::vector<std::string>& names = {});

}  // namespace hone
