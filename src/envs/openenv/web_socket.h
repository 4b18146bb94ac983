#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// A connection that carries messages both ways (RFC 6455), as a client has it. Texts only. One
// thread at a time.
//
// Errors: kDeadline, kStopped, kFull (a message too large), kInvalidArgument (URL), kParse (what
// came is not the protocol), kUnavailable (no connection, refused, or closed by the other side).
// After any of them the connection is of no use.
class WebSocket {
 public:
  // `url` is ws:// or http://, wss:// or https://. No proxy of the environment is used.
  static Result<std::unique_ptr<WebSocket>> Connect(const std::string& url,
                                                    std::chrono::milliseconds deadline,
                                                    std::stop_token stop = {});
  // Says that it goes, and does not wait for an answer.
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  Result<void> Send(std::string_view text, std::chrono::milliseconds deadline,
                    std::stop_token stop = {});
  // The next text that the other side sent.
  Result<std::string> Receive(std::chrono::milliseconds deadline, std::stop_token stop = {});

 private:
  struct Connection;
  explicit WebSocket(std::unique_ptr<Connection> connection);

  const std::unique_ptr<Connection> connection_;
};

// What the other side must answer to the key of a request (RFC 6455, section 4.2.2).
std::string WebSocketAccept(std::string_view key);

}  // namespace hone
