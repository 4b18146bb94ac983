#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "serve/http_server.h"

namespace hone {

// Waits until the socket is ready for `events` (poll); false at the deadline.
bool WaitForSocket(int socket, short events, std::chrono::steady_clock::time_point deadline);

// Sends no more, and reads for a while what the client still sends: a socket that is closed with
// unread bytes resets the connection, and the client would lose the response that says why.
void Linger(int socket);

// An exchange over a socket that does not block. The socket, the request and the options, whose
// refusal is not null, must outlive it.
class SocketExchange final : public HttpExchange {
 public:
  SocketExchange(int socket, const IncomingRequest* request, const HttpServerOptions* options,
                 std::stop_token gone, std::stop_token closing);

  const IncomingRequest& request() const override { return *request_; }
  bool Respond(const ServerResponse& response) override;
  bool Begin(const ServerResponse& response) override;
  bool Write(std::string_view piece) override;
  void Abort() override;
  std::stop_token gone() const override { return gone_; }
  std::stop_token closing() const override { return closing_; }

  // Sends a client that has closed its sending side, and has no response yet, a line that tells
  // whether it still reads: 100 Continue, which every client of HTTP/1.1 passes over. One that left
  // answers with a reset. From any thread.
  void Probe();

  // Something was answered, or begun to be.
  bool begun() {
    MutexLock lock(mutex_);
    return begun_;
  }
  // Whatever the client wants, this is the connection's last response.
  void MakeLast() { last_ = true; }
  // After the handler: ends the response. True when another request may follow.
  bool End();

 private:
  std::string Head(const ServerResponse& response);
  bool Send(std::string_view bytes);

  const int socket_;
  const IncomingRequest* request_;
  const HttpServerOptions* options_;
  const std::stop_token gone_, closing_;
  Mutex mutex_;
  bool begun_ HONE_GUARDED_BY(mutex_) = false;  // Probe reads it from another thread
  bool streaming_ = false, last_ = false, failed_ = false;
};

}  // namespace hone
