#include "envs/openenv/web_socket.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <random>

#include <curl/curl.h>
#include <fmt/format.h>
#include <poll.h>

#include "base/bytes/base64.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t kLargestMessage = 64 << 20;
// Kinds of frames.
constexpr uint8_t kMoreFrame = 0, kTextFrame = 1, kBinaryFrame = 2, kCloseFrame = 8, kPingFrame = 9,
                  kPongFrame = 10;

// SHA-1 (FIPS 180-4). The protocol wants it to tell a server that speaks it from one that repeats
// what it hears; nothing is kept secret by it.
std::string Sha1(std::string_view bytes) {
  std::array<uint32_t, 5> h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) {
    padded += static_cast<char>(static_cast<uint64_t>(bytes.size()) * 8 >> shift);
  }
  for (size_t block = 0; block < padded.size(); block += 64) {
    std::array<uint32_t, 80> w{};
    for (size_t i = 0; i < 64; ++i) {
      w[i / 4] = w[i / 4] << 8 | static_cast<uint8_t>(padded[block + i]);
    }
    for (size_t i = 16; i < 80; ++i) {
      w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    auto [a, b, c, d, e] = h;
    for (size_t i = 0; i < 80; ++i) {
      const uint32_t f = i < 20   ? (b & c) | (~b & d)
                         : i < 40 ? b ^ c ^ d
                         : i < 60 ? (b & c) | (b & d) | (c & d)
                                  : b ^ c ^ d;
      constexpr std::array<uint32_t, 4> kRound = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
      const uint32_t next = std::rotl(a, 5) + f + e + kRound[i / 20] + w[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
    h = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e};
  }
  std::string digest;
  for (const uint32_t word : h) {
    for (int shift = 24; shift >= 0; shift -= 8) digest += static_cast<char>(word >> shift);
  }
  return digest;
}

std::string RandomBytes(size_t count) {
  std::random_device device;
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(device());
  return bytes;
}

struct ServerAddress {
  std::string scheme;  // http or https
  std::string host;    // with the port
  std::string path;
};

Result<ServerAddress> ServerAddressOf(const std::string& url) {
  const size_t colon = url.find("://");
  const std::string scheme = url.substr(0, colon == std::string::npos ? 0 : colon);
  ServerAddress address;
  if (scheme == "ws" || scheme == "http") address.scheme = "http";
  if (scheme == "wss" || scheme == "https") address.scheme = "https";
  if (address.scheme.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("\"{}\" is not a ws://, wss://, http:// or https:// address", url));
  }
  const size_t host = colon + 3, slash = url.find('/', host);
  address.host = url.substr(host, slash == std::string::npos ? slash : slash - host);
  address.path = slash == std::string::npos ? "/" : url.substr(slash);
  if (address.host.empty() || url.find_first_of(" \r\n") != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("\"{}\" is no address", url));
  }
  return address;
}

}  // namespace

struct WebSocket::Connection {
  CURL* handle = nullptr;
  curl_socket_t socket = CURL_SOCKET_BAD;
  std::string buffer;  // that came and was not used
  SteadyClock::time_point until;
  std::stop_token stop;

  ~Connection() { curl_easy_cleanup(handle); }

  // Waits until the socket may be ready, at most until the deadline.
  Result<void> WaitFor(short events) {
    constexpr int kSliceMs = 20;
    while (true) {
      if (stop.stop_requested()) return Error(ErrorCode::kStopped, "stopped");
      if (SteadyClock::now() >= until) {
        return Error(ErrorCode::kDeadline, "the server did not answer in time");
      }
      pollfd polled{socket, events, 0};
      if (::poll(&polled, 1, kSliceMs) > 0) return {};
    }
  }

  Result<void> Write(std::string_view bytes) {
    while (!bytes.empty()) {
      size_t sent = 0;
      const CURLcode code = curl_easy_send(handle, bytes.data(), bytes.size(), &sent);
      if (code != CURLE_OK && code != CURLE_AGAIN) {
        return Error(ErrorCode::kUnavailable, "the connection is gone");
      }
      bytes.remove_prefix(sent);
      if (!bytes.empty()) HONE_RETURN_IF_ERROR(WaitFor(POLLOUT));
    }
    return {};
  }

  // More bytes into the buffer.
  Result<void> Read() {
    std::array<char, 1 << 16> bytes;
    while (true) {
      size_t count = 0;
      const CURLcode code = curl_easy_recv(handle, bytes.data(), bytes.size(), &count);
      if (code == CURLE_OK && count > 0) {
        buffer.append(bytes.data(), count);
        return {};
      }
      if (code != CURLE_AGAIN) return Error(ErrorCode::kUnavailable, "the server hung up");
      HONE_RETURN_IF_ERROR(WaitFor(POLLIN));
    }
  }

  Result<void> HaveBytes(size_t count) {
    while (buffer.size() < count) HONE_RETURN_IF_ERROR(Read());
    return {};
  }

  Result<void> SendFrame(uint8_t opcode, std::string_view payload) {
    std::string frame(1, static_cast<char>(0x80 | opcode));
    const size_t size = payload.size();
    if (size < 126) {
      frame += static_cast<char>(0x80 | size);
    } else {
      const int bytes = size < 65536 ? 2 : 8;
      frame += static_cast<char>(0x80 | (bytes == 2 ? 126 : 127));
      for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        frame += static_cast<char>(static_cast<uint64_t>(size) >> shift);
      }
    }
    const std::string mask = RandomBytes(4);
    frame += mask;
    for (size_t i = 0; i < size; ++i) frame += static_cast<char>(payload[i] ^ mask[i % 4]);
    return Write(frame);
  }

  struct Frame {
    uint8_t opcode = kTextFrame;
    bool last = true;
    std::string payload;
  };

  Result<Frame> ReadFrame() {
    HONE_RETURN_IF_ERROR(HaveBytes(2));
    const auto byte = [this](size_t i) { return static_cast<uint8_t>(buffer[i]); };
    Frame frame{.opcode = static_cast<uint8_t>(byte(0) & 15), .last = (byte(0) & 0x80) != 0};
    if ((byte(1) & 0x80) != 0 || (byte(0) & 0x70) != 0) {
      return Error(ErrorCode::kParse, "the server sent a frame that no server sends");
    }
    uint64_t size = byte(1) & 127;
    const size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
    HONE_RETURN_IF_ERROR(HaveBytes(2 + more));
    if (more > 0) size = 0;
    for (size_t i = 0; i < more; ++i) size = size << 8 | byte(2 + i);
    if (size > kLargestMessage) {
      return Error(ErrorCode::kFull,
                   fmt::format("the server sent a message of more than {} bytes", kLargestMessage));
    }
    HONE_RETURN_IF_ERROR(HaveBytes(2 + more + size));
    frame.payload = buffer.substr(2 + more, size);
    buffer.erase(0, 2 + more + size);
    return frame;
  }

  // Asks to change the protocol, and reads the answer up to its empty line.
  Result<void> ShakeHands(const ServerAddress& address) {
    const std::string key = ToBase64(RandomBytes(16));
    HONE_RETURN_IF_ERROR(Write(
        fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    "Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n\r\n",
                    address.path, address.host, key)));
    constexpr size_t kLargestHead = 1 << 16;
    size_t end = 0;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
      if (buffer.size() > kLargestHead) return Error(ErrorCode::kParse, "an answer without an end");
      HONE_RETURN_IF_ERROR(Read());
    }
    const std::string head = buffer.substr(0, end);
    buffer.erase(0, end + 4);
    const std::string status = head.substr(0, head.find("\r\n"));
    if (status.find(" 101") == std::string::npos) {
      return Error(
          ErrorCode::kUnavailable,
          fmt::format("the server does not speak WebSocket at {}: {}", address.path, status));
    }
    if (head.find(WebSocketAccept(key)) == std::string::npos) {
      return Error(ErrorCode::kParse, "the server's answer does not belong to the question");
    }
    return {};
  }
};

std::string WebSocketAccept(std::string_view key) {
  return ToBase64(Sha1(std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
}

WebSocket::WebSocket(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

WebSocket::~WebSocket() {
  connection_->until = SteadyClock::now() + milliseconds(100);
  connection_->stop = {};
  static_cast<void>(connection_->SendFrame(kCloseFrame, "\x03\xe8").ok());
}

Result<std::unique_ptr<WebSocket>> WebSocket::Connect(const std::string& url, milliseconds deadline,
                                                      std::stop_token stop) {
  HONE_ASSIGN_OR_RETURN(const ServerAddress address, ServerAddressOf(url));
  // Counted by curl: whoever else starts it (base/http_client.cpp) does so for itself.
  static std::once_flag started;
  std::call_once(started, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  auto connection = std::make_unique<Connection>();
  connection->handle = curl_easy_init();
  CHECK(connection->handle != nullptr, "curl_easy_init");
  connection->until = SteadyClock::now() + deadline;
  connection->stop = std::move(stop);
  CURL* handle = connection->handle;
  const std::string target = address.scheme + "://" + address.host + "/";
  char detail[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(handle, CURLOPT_URL, target.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(handle, CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(deadline.count()));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
  if (curl_easy_perform(handle) != CURLE_OK) {
    return Error(ErrorCode::kUnavailable, fmt::format("no connection to {}: {}", url, detail));
  }
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, nullptr);  // it is not ours any more
  curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &connection->socket);
  HONE_RETURN_IF_ERROR(connection->ShakeHands(address));
  return std::unique_ptr<WebSocket>(new WebSocket(std::move(connection)));
}

Result<void> WebSocket::Send(std::string_view text, milliseconds deadline, std::stop_token stop) {
  connection_->until = SteadyClock::now() + deadline;
  connection_->stop = std::move(stop);
  return connection_->SendFrame(kTextFrame, text);
}

Result<std::string> WebSocket::Receive(milliseconds deadline, std::stop_token stop) {
  connection_->until = SteadyClock::now() + deadline;
  connection_->stop = std::move(stop);
  std::string message;
  while (true) {
    HONE_ASSIGN_OR_RETURN(Connection::Frame frame, connection_->ReadFrame());
    if (frame.opcode == kPingFrame) {
      HONE_RETURN_IF_ERROR(connection_->SendFrame(kPongFrame, frame.payload));
    } else if (frame.opcode == kCloseFrame) {
      const std::string why = frame.payload.size() > 2 ? ": " + frame.payload.substr(2) : "";
      return Error(ErrorCode::kUnavailable, "the server closed the connection" + why);
    } else if (frame.opcode == kMoreFrame || frame.opcode == kTextFrame ||
               frame.opcode == kBinaryFrame) {
      message += frame.payload;
      if (message.size() > kLargestMessage) {
        return Error(ErrorCode::kFull, "the server sent a message that is too large");
      }
      if (frame.last) return message;
    } else if (frame.opcode != kPongFrame) {
      return Error(ErrorCode::kParse, "the server sent a frame of an unknown kind");
    }
  }
}

}  // namespace hone
