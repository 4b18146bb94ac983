#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "support/loopback_server.h"

namespace hone {

// A real HTTP server on loopback that speaks OpenAI's chat completions as a test wants it to.
class ChatServer {
 public:
  struct Request {
    std::string path;
    std::map<std::string, std::string> headers;  // names in lower case
    Json body;
    int number = 0;  // from 0 on, in the order of arrival
  };
  struct Reply {
    int status = 200;
    std::string headers;  // further lines, each with "\r\n"
    std::string body;
    bool hang = false;  // says nothing until the client has gone
  };
  using Handler = std::function<Reply(const Request&)>;

  explicit ChatServer(Handler handler);

  std::string url() const { return server_.url("/v1"); }
  int requests() const { return requests_; }
  // The most that were being answered at once.
  int most_at_once() const { return most_at_once_; }

  // A completion of this text, in OpenAI's shape.
  static Reply Says(const std::string& text, int prompt_tokens = 10, int completion_tokens = 5);

 private:
  std::string Answer(const LoopbackRequest& request);

  const Handler handler_;
  std::atomic<int> requests_ = 0, at_once_ = 0, most_at_once_ = 0;
  LoopbackServer server_;  // last: its threads use the rest
};

}  // namespace hone
