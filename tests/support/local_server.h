#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hone {

// A web server on loopback that answers one request per connection, one after the other, with the
// bytes `answer` gives for the bytes it was sent.
class LocalServer {
 public:
  explicit LocalServer(std::function<std::string(const std::string&)> answer)
      : answer_(std::move(answer)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_, 64), 0);
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~LocalServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // What it was sent, in order.
  std::vector<std::string> requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
  }

  // A whole answer: status line, headers (each with its line end) and body.
  static std::string Answer(const std::string& status, const std::string& body,
                            const std::string& headers = "") {
    return "HTTP/1.1 " + status + "\r\n" + headers +
           "Connection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  }

 private:
  void Serve() {
    for (int peer = Accept(); peer >= 0; peer = Accept()) {
      std::string request;
      char buffer[4096];
      while (!Complete(request)) {
        const ssize_t count = ::read(peer, buffer, sizeof buffer);
        if (count <= 0) break;
        request.append(buffer, static_cast<size_t>(count));
      }
      {
        std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const std::string reply = answer_(request);
      for (size_t sent = 0; sent < reply.size();) {
        const ssize_t count = ::send(peer, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) break;
        sent += static_cast<size_t>(count);
      }
      // No answer at all: hangs until the client gives up.
      if (reply.empty() && ::read(peer, buffer, 1) < 0) buffer[0] = 0;
      ::close(peer);
    }
  }
  int Accept() { return ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }

  static bool Complete(const std::string& request) {
    const size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const size_t length = request.find("Content-Length: ");
    return length == std::string::npos ||
           request.size() >= end + 4 + std::stoul(request.substr(length + 16));
  }

  const std::function<std::string(const std::string&)> answer_;
  const int socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace hone
