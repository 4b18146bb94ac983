#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"

namespace hone {

// A real HTTP server on loopback that speaks OpenAI's chat completions as a test wants it to. One
// thread per connection; a connection carries one request.
class ChatServer {
 public:
  struct Request {
    std::string path;
    std::string headers;  // as sent
    Json body;
    int number = 0;  // from 0 on, in the order of arrival
  };
  struct Reply {
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    bool hang = false;  // says nothing until the client has gone
  };
  using Handler = std::function<Reply(const Request&)>;

  explicit ChatServer(Handler handler);
  ~ChatServer();
  ChatServer(const ChatServer&) = delete;
  ChatServer& operator=(const ChatServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  int requests() const { return requests_; }
  // The most that were being answered at once.
  int most_at_once() const { return most_at_once_; }

  // A completion of this text, in OpenAI's shape.
  static Reply Says(const std::string& text, int prompt_tokens = 10, int completion_tokens = 5);

 private:
  void Accept();
  void Serve(int connection);

  const Handler handler_;
  int socket_ = -1;
  int port_ = 0;
  std::atomic<int> requests_ = 0, at_once_ = 0, most_at_once_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;  // connections
  std::vector<std::jthread> threads_;
  std::jthread acceptor_;
};

}  // namespace hone
