#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hone {

// What a client asked of a LoopbackServer.
struct LoopbackRequest {
  std::string method;
  std::string path;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// An HTTP server on loopback for tests: one request per connection, each answered by `answer` on a
// thread of its own with raw bytes, headers included; no bytes: the connection stays open, silent,
// until the client gives up. Keeps what it was asked.
class LoopbackServer {
 public:
  explicit LoopbackServer(std::function<std::string(const LoopbackRequest&)> answer);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url(const std::string& path = "/") const;
  std::vector<LoopbackRequest> requests() const;

  // "HTTP/1.1 200 OK" with this body, its length and further header lines (each with "\r\n").
  static std::string Reply(int status, const std::string& headers, const std::string& body);

 private:
  void Accept();
  void Serve(int connection);

  const std::function<std::string(const LoopbackRequest&)> answer_;
  int socket_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<LoopbackRequest> requests_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace hone
