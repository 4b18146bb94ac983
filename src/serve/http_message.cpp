#include "serve/http_message.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

#include "base/check.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr size_t kMaxHeaders = 128;
constexpr size_t kMaxTarget = 8192;
constexpr std::string_view kOws = " \t";  // optional white space

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

bool IsTokenCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenCharacter);
}

bool IsVisible(char c) { return c > 0x20 && c < 0x7f; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The items of a comma-separated header, in lower case.
std::vector<std::string> Items(std::string_view value) {
  std::vector<std::string> items;
  while (true) {
    const size_t comma = value.find(',');
    items.push_back(LowerCase(Trim(value.substr(0, comma), kOws)));
    if (comma == std::string_view::npos) return items;
    value.remove_prefix(comma + 1);
  }
}

bool Contains(const std::vector<std::string>& items, std::string_view item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};

// The name of NAME or NAME:PORT, in lower case; absent where what follows the colon is no port.
std::optional<std::string> HostName(std::string_view host) {
  // The colon of a port stands behind the bracket of an IPv6 address.
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    return LowerCase(host);
  }
  const std::string_view port = host.substr(colon + 1);
  if (!std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  return LowerCase(host.substr(0, colon));
}

bool IsOneOf(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& known) { return LowerCase(known) == name; });
}

}  // namespace

std::string_view IncomingRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::optional<std::string> IncomingRequest::Parameter(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    const size_t equals = std::min(pair.find('='), pair.size());
    if (DecodePercent(pair.substr(0, equals), true) == name) {
      return DecodePercent(pair.substr(std::min(equals + 1, pair.size())), true);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

void RequestParser::Refuse(int status, std::string why) {
  state_ = State::kRefused;
  status_ = status;
  why_ = std::move(why);
}

bool RequestParser::wants_continue() const {
  return continue_ && request_.body.empty() &&
         (state_ == State::kBody || state_ == State::kChunkSize);
}

size_t RequestParser::Feed(std::string_view bytes) {
  const size_t size = bytes.size();
  if (size > 0) started_ = true;
  while (!bytes.empty() && state_ != State::kComplete && state_ != State::kRefused) {
    if (state_ == State::kBody) {
      TakeData(&bytes, State::kComplete);
    } else if (state_ == State::kChunk) {
      TakeData(&bytes, State::kChunkEnd);
    } else if (TakeLine(&bytes)) {
      OnLine();
      line_.clear();
    }
  }
  return size - bytes.size();
}

bool RequestParser::TakeLine(std::string_view* bytes) {
  const size_t newline = bytes->find('\n');
  const size_t count = newline == std::string_view::npos ? bytes->size() : newline + 1;
  // Chunk lines are not headers, but their extensions are no way around the limit either.
  header_bytes_ += std::min(count, limits_.max_header_bytes + 1);
  if (header_bytes_ > limits_.max_header_bytes) {
    Refuse(state_ == State::kRequestLine ? 414 : 431, "request line and headers are longer than " +
                                                          std::to_string(limits_.max_header_bytes) +
                                                          " bytes");
    return false;
  }
  line_ += bytes->substr(0, count);
  bytes->remove_prefix(count);
  if (newline == std::string_view::npos) return false;
  if (!line_.ends_with("\r\n")) {
    Refuse(400, "a line of the request does not end in CR LF");
    return false;
  }
  line_.resize(line_.size() - 2);
  return true;
}

void RequestParser::TakeData(std::string_view* bytes, State then) {
  const size_t count = std::min(left_, bytes->size());
  request_.body += bytes->substr(0, count);
  bytes->remove_prefix(count);
  left_ -= count;
  if (left_ == 0) state_ = then;
}

void RequestParser::OnLine() {
  switch (state_) {
    case State::kRequestLine:
      if (!line_.empty()) OnRequestLine();  // empty lines in front are passed over
      break;
    case State::kHeader: line_.empty() ? OnHeadEnd() : OnHeader(); break;
    case State::kChunkSize: OnChunkSize(); break;
    case State::kChunkEnd:
      if (!line_.empty()) return Refuse(400, "a chunk of the body is longer than it says");
      header_bytes_ -= 2;  // frames of chunks count for nothing
      state_ = State::kChunkSize;
      break;
    case State::kTrailer:
      if (line_.empty()) state_ = State::kComplete;
      break;
    default: CHECK(false);
  }
}

void RequestParser::OnRequestLine() {
  const size_t first = line_.find(' '), last = line_.rfind(' ');
  if (first == std::string::npos || first == last) {
    return Refuse(400, "the request line is not METHOD TARGET HTTP/1.1");
  }
  const std::string_view line = line_;
  const std::string_view method = line.substr(0, first), version = line.substr(last + 1);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!IsToken(method) || target.empty() || !std::all_of(target.begin(), target.end(), IsVisible)) {
    return Refuse(400, "the request line is not METHOD TARGET HTTP/1.1");
  }
  if (version.size() != 8 || !version.starts_with("HTTP/") || HexDigit(version[5]) < 0 ||
      version[6] != '.' || HexDigit(version[7]) < 0) {
    return Refuse(400, "the request line does not end in HTTP/1.1");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return Refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
  }
  if (std::find(kMethods.begin(), kMethods.end(), method) == kMethods.end()) {
    return Refuse(501, "the method " + std::string(method) + " is not known here");
  }
  if (target.size() > kMaxTarget) return Refuse(414, "the target is longer than 8192 bytes");
  request_.method = method;
  request_.chunks = request_.keep_alive = version == "HTTP/1.1";
  state_ = State::kHeader;
  OnTarget(target);
}

void RequestParser::OnTarget(std::string_view target) {
  if (target.front() != '/' && target != "*") {  // a proxy's way to say it: http://host/path
    const size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return Refuse(400, "the target is not a path");
    target.remove_prefix(std::min(target.find('/', scheme + 3), target.size()));
  }
  target = target.substr(0, target.find('#'));
  const size_t mark = std::min(target.find('?'), target.size());
  auto path = DecodePercent(target.substr(0, mark), false);
  if (!path || path->find('\0') != std::string::npos) {
    return Refuse(400, "the path has a bad escape");
  }
  request_.path = path->empty() ? "/" : *std::move(path);
  request_.query = target.substr(std::min(mark + 1, target.size()));
}

void RequestParser::OnHeader() {
  const size_t colon = line_.find(':');
  const std::string_view name = std::string_view(line_).substr(0, colon);
  if (colon == std::string::npos || !IsToken(name)) {  // also a folded line
    return Refuse(400, "a header is not NAME: VALUE");
  }
  const std::string_view value = Trim(std::string_view(line_).substr(colon + 1), kOws);
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  };
  if (std::any_of(value.begin(), value.end(), is_control)) {
    return Refuse(400, "a header's value has control characters");
  }
  if (request_.headers.size() == kMaxHeaders) return Refuse(431, "more than 128 headers");
  request_.headers.emplace_back(LowerCase(name), value);
}

void RequestParser::OnHeadEnd() {
  size_t hosts = 0, lengths = 0, encodings = 0;
  for (const auto& header : request_.headers) {
    hosts += header.first == "host";
    lengths += header.first == "content-length";
    encodings += header.first == "transfer-encoding";
  }
  if (hosts > 1 || (hosts == 0 && request_.chunks)) {
    return Refuse(400, "the request needs one Host header");
  }
  if (lengths + encodings > 1) return Refuse(400, "the body's length is given more than once");
  for (const auto& [name, value] : request_.headers) {
    if (name != "connection") continue;
    const std::vector<std::string> items = Items(value);
    if (Contains(items, "close")) {
      request_.keep_alive = false;
    } else if (Contains(items, "keep-alive")) {
      request_.keep_alive = true;
    }
  }
  if (const std::string_view expect = request_.Header("expect"); !expect.empty()) {
    if (LowerCase(expect) != "100-continue") return Refuse(417, "only Expect: 100-continue is met");
    continue_ = request_.chunks;
  }
  if (encodings == 1) {
    if (!request_.chunks) return Refuse(400, "HTTP/1.0 has no Transfer-Encoding");
    if (LowerCase(request_.Header("transfer-encoding")) != "chunked") {
      return Refuse(501, "only the transfer encoding chunked is understood");
    }
    state_ = State::kChunkSize;
    return;
  }
  if (lengths == 0) {
    if (request_.method == "POST" || request_.method == "PUT" || request_.method == "PATCH") {
      return Refuse(411, "a " + request_.method + " needs a Content-Length");
    }
    state_ = State::kComplete;
    return;
  }
  const std::string_view length = request_.Header("content-length");
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (length.empty() || !std::all_of(length.begin(), length.end(), is_digit)) {
    return Refuse(400, "Content-Length is not a number");
  }
  for (const char c : length) {
    left_ = left_ * 10 + static_cast<size_t>(c - '0');
    if (left_ > limits_.max_body_bytes) {
      return Refuse(413,
                    "the body is longer than " + std::to_string(limits_.max_body_bytes) + " bytes");
    }
  }
  state_ = left_ > 0 ? State::kBody : State::kComplete;
}

void RequestParser::OnChunkSize() {
  const std::string_view digits =
      TrimRight(std::string_view(line_).substr(0, line_.find(';')), kOws);
  if (digits.empty()) return Refuse(400, "a chunk of the body has no size");
  for (const char c : digits) {
    if (HexDigit(c) < 0) return Refuse(400, "a chunk's size is not a hexadecimal number");
    left_ = left_ * 16 + static_cast<size_t>(HexDigit(c));
    if (left_ > limits_.max_body_bytes - request_.body.size()) {
      return Refuse(413,
                    "the body is longer than " + std::to_string(limits_.max_body_bytes) + " bytes");
    }
  }
  if (line_.size() == digits.size()) header_bytes_ -= line_.size() + 2;
  state_ = left_ > 0 ? State::kChunk : State::kTrailer;
}

std::string_view StatusText(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

std::optional<std::string> DecodePercent(std::string_view text, bool plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += plus && text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

bool IsLocalHost(std::string_view host, const std::vector<std::string>& names) {
  const std::optional<std::string> name = HostName(host);
  if (!name) return false;
  in_addr address{};  // all of 127.0.0.0/8 is this machine
  const bool loopback =
      name->starts_with("127.") && inet_pton(AF_INET, name->c_str(), &address) == 1;
  return loopback || name == "localhost" || name == "[::1]" || IsOneOf(names, *name);
}

bool IsOwnOrigin(std::string_view origin, std::string_view host,
                 const std::vector<std::string>& names) {
  const size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;  // "null": a page that hides where it is from
  const std::string_view from = origin.substr(scheme + 3);
  const std::optional<std::string> name = HostName(from);
  if (!name) return false;
  return LowerCase(from) == LowerCase(host) || IsOneOf(names, LowerCase(from)) ||
         IsOneOf(names, *name);
}

}  // namespace hone
