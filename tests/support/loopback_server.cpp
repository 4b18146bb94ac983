#include "support/loopback_server.h"

#include <algorithm>
#include <cctype>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/strings.h"

namespace hone {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// The request without its body; the body's length comes from the headers.
LoopbackRequest ParseHead(std::string_view head) {
  LoopbackRequest request;
  const size_t first = head.find(' ');
  request.method = head.substr(0, first);
  request.path = head.substr(first + 1, head.find(' ', first + 1) - first - 1);
  while (!head.empty()) {
    const size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      request.headers[Lower(line.substr(0, colon))] = Trim(line.substr(colon + 1));
    }
    head.remove_prefix(std::min(end + 2, head.size()));
  }
  return request;
}

}  // namespace

LoopbackServer::LoopbackServer(std::function<std::string(const LoopbackRequest&)> answer)
    : answer_(std::move(answer)) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(::listen(socket_, 64) == 0);
  socklen_t size = sizeof address;
  ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(socket_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(socket_);
}

std::string LoopbackServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<LoopbackRequest> LoopbackServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::string LoopbackServer::Reply(int status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) + " Status\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

void LoopbackServer::Accept() {
  while (true) {
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    threads_.emplace_back([this, connection] { Serve(connection); });
  }
}

void LoopbackServer::Serve(int connection) {
  std::string bytes;
  char buffer[4096];
  auto read_more = [&] {
    const ssize_t count = ::read(connection, buffer, sizeof buffer);
    if (count > 0) bytes.append(buffer, static_cast<size_t>(count));
    return count > 0;
  };
  size_t head = 0;
  while ((head = bytes.find("\r\n\r\n")) == std::string::npos && read_more()) {
  }
  if (head != std::string::npos) {
    LoopbackRequest request = ParseHead(std::string_view(bytes).substr(0, head));
    const auto length = request.headers.find("content-length");
    const size_t body = length == request.headers.end() ? 0 : std::stoul(length->second);
    while (bytes.size() < head + 4 + body && read_more()) {
    }
    request.body = bytes.substr(head + 4);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const std::string reply = answer_(request);
    for (size_t sent = 0; sent < reply.size();) {
      const ssize_t count =
          ::send(connection, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<size_t>(count);
    }
    if (reply.empty()) read_more();  // until the client gives up
  }
  ::close(connection);
}

}  // namespace hone
