#include "support/chat_server.h"

#include <algorithm>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"

namespace hone {
namespace {

// Whether the whole request is there, and where its body begins.
bool Complete(const std::string& request, size_t* body) {
  const size_t end = request.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  *body = end + 4;
  const size_t length = request.find("Content-Length: ");
  if (length == std::string::npos || length > end) return true;
  return request.size() >= *body + std::stoul(request.substr(length + 16));
}

}  // namespace

ChatServer::ChatServer(Handler handler) : handler_(std::move(handler)) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  CHECK(::listen(socket_, 64) == 0, "listen");
  socklen_t size = sizeof address;
  ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { Accept(); });
}

ChatServer::~ChatServer() {
  ::shutdown(socket_, SHUT_RDWR);
  acceptor_.join();
  {
    std::lock_guard lock(mutex_);
    for (const int connection : open_) ::shutdown(connection, SHUT_RDWR);
  }
  threads_.clear();
  ::close(socket_);
}

void ChatServer::Accept() {
  while (true) {
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    std::lock_guard lock(mutex_);
    open_.push_back(connection);
    threads_.emplace_back([this, connection] { Serve(connection); });
  }
}

void ChatServer::Serve(int connection) {
  std::string received;
  char buffer[4096];
  size_t body = 0;
  bool complete = false;
  while (!(complete = Complete(received, &body))) {
    const ssize_t count = ::read(connection, buffer, sizeof buffer);
    if (count <= 0) break;
    received.append(buffer, static_cast<size_t>(count));
  }
  if (complete) {
    const int now = ++at_once_;
    for (int most = most_at_once_; now > most;) most_at_once_.compare_exchange_weak(most, now);
    const size_t path = received.find(' ') + 1;
    const auto parsed = ParseJson(received.substr(body));
    const Reply reply = handler_({.path = received.substr(path, received.find(' ', path) - path),
                                  .headers = received.substr(0, body),
                                  .body = parsed.ok() ? *parsed : Json(),
                                  .number = requests_++});
    --at_once_;
    if (reply.hang) {
      (void)!::read(connection, buffer, 1);
    } else {
      std::string text = "HTTP/1.1 " + std::to_string(reply.status) +
                         " X\r\nContent-Length: " + std::to_string(reply.body.size()) +
                         "\r\nConnection: close\r\n";
      for (const auto& [name, value] : reply.headers) text += name + ": " + value + "\r\n";
      text += "\r\n" + reply.body;
      for (size_t sent = 0; sent < text.size();) {
        const ssize_t count =
            ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) break;
        sent += static_cast<size_t>(count);
      }
    }
  }
  std::lock_guard lock(mutex_);
  std::erase(open_, connection);
  ::close(connection);
}

ChatServer::Reply ChatServer::Says(const std::string& text, int prompt_tokens,
                                   int completion_tokens) {
  return {.body = DumpJson(Json::Of(
              {{"object", "chat.completion"},
               {"choices", Json::Array{Json::Of({{"index", 0},
                                                 {"finish_reason", "stop"},
                                                 {"message", Json::Of({{"role", "assistant"},
                                                                       {"content", text}})}})}},
               {"usage", Json::Of({{"prompt_tokens", prompt_tokens},
                                   {"completion_tokens", completion_tokens}})}}))};
}

}  // namespace hone
