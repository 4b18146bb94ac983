#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/http_message.h"

// A small HTTP/1.1 server: what Hone answers to clients and browsers with. No TLS, no files; put a
// proxy in front of it where the network is not trusted.

namespace hone {

// A response that is known whole.
struct ServerResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  HttpHeaders headers;  // further ones; no value may hold CR or LF
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // "localhost", or an IPv4 or IPv6 address; 0.0.0.0 for all
  int port = 0;                    // 0: any free one
  HttpLimits limits;
  // One thread each. For one more the connection goes that has been silent the longest between two
  // requests; where all are busy, the client gets 503.
  int max_connections = 256;
  size_t max_bodies_bytes = 64 << 20;  // of requests in hand; one beyond, but not the only one: 503
  std::chrono::milliseconds idle_deadline{75000};     // between two requests of a connection
  std::chrono::milliseconds request_deadline{30000};  // from a request's first byte to its last
  std::chrono::milliseconds write_deadline{30000};    // a client that reads nothing is gone
  // Refuses requests that a page from elsewhere made the browser send (403): whose Host is not
  // this machine (DNS rebinding), or whose Origin is not this server (IsOwnOrigin). `local_names`
  // are further names of hosts and origins. For services on loopback.
  bool local_only = true;
  std::vector<std::string> local_names;
  // Asked when a request's head is known and its body is not: a response refuses it, and the body
  // is never read. Called on the connection's thread. Null: all are let in.
  std::function<std::optional<ServerResponse>(const IncomingRequest& head)> admit;
  // How a request that no handler saw is refused (400, 403, 408, 411, 413, ...); null: plain text.
  std::function<ServerResponse(int status, std::string_view why)> refusal;
};

// One request and the way to answer it. Only for the thread of the handler that got it.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  virtual const IncomingRequest& request() const = 0;

  // Answers. False when the client did not take it.
  virtual bool Respond(const ServerResponse& response) = 0;

  // Answers in pieces, each sent at once: Begin, then Write as often as there is something. The
  // stream ends well with the handler, unless Abort was called: then the client sees it cut off.
  // Begin's response may have no body. False: the client is gone, stop.
  virtual bool Begin(const ServerResponse& response) = 0;
  virtual bool Write(std::string_view piece) = 0;
  virtual void Abort() = 0;

  // Stopped when nobody waits for the response any more: the client closed its connection, or the
  // server's grace at shutdown is over.
  virtual std::stop_token gone() const = 0;
  // Stopped as soon as the server shuts down: streams without an end end themselves.
  virtual std::stop_token closing() const = 0;
};

// Called on a thread of its connection, many at a time. A handler that returns without a response
// has the client told 500; one that throws as well, 503 where memory ran out. It must return soon
// after gone() is stopped.
using HttpHandler = std::function<void(HttpExchange&)>;

class HttpServer {
 public:
  // Listens and answers until it is destroyed. kUnavailable when the port is in use,
  // kInvalidArgument for a host that is none.
  static Result<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options,
                                                   HttpHandler handler);
  // Stops without grace.
  virtual ~HttpServer() = default;

  virtual int port() const = 0;
  virtual std::string url() const = 0;  // "http://127.0.0.1:8000"
  virtual int connections() const = 0;  // open now

  // Takes no more connections and no further requests on those there are, and waits until the
  // answers under way have ended; after `grace` it cuts them off. True when all ended by
  // themselves. Thread-safe; a second call waits for the first.
  virtual bool Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace hone
