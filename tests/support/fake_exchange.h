#pragma once

#include <stop_token>
#include <string>

#include "serve/http_server.h"

namespace hone {

// A request without a socket, and what was answered.
class FakeExchange final : public HttpExchange {
 public:
  FakeExchange(const std::string& method, const std::string& path, const std::string& body) {
    request_.method = method;
    request_.path = path;
    request_.body = body;
  }
  const IncomingRequest& request() const override { return request_; }
  bool Respond(const ServerResponse& answer) override {
    answer_ = answer;
    return true;
  }
  bool Begin(const ServerResponse& answer) override {
    answer_ = answer;
    return true;
  }
  bool Write(std::string_view piece) override {
    answer_.body += piece;
    if (leaves_) gone_.request_stop();
    return !leaves_;
  }
  void Abort() override { answer_ = {}; }
  std::stop_token gone() const override { return gone_.get_token(); }
  std::stop_token closing() const override { return {}; }

  IncomingRequest request_;
  ServerResponse answer_;
  bool leaves_ = false;  // after the first piece
  std::stop_source gone_;
};

}  // namespace hone
