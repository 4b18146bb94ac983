#include "serve/http_server.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/mutex.h"
#include "serve/http_exchange.h"

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Connections beyond the limit that may be told so at the same time; further ones are dropped.
constexpr size_t kRefusals = 64;

ServerResponse PlainRefusal(int status, std::string_view why) {
  return {status,
          "text/plain; charset=utf-8",
          fmt::format("{} {}: {}\n", status, StatusText(status), why),
          {}};
}

// One client. Its thread reads and writes; the server only shuts its socket down.
struct Connection {
  Descriptor socket;
  std::stop_source gone;
  bool idle = true;         // between two requests; guarded by the server's mutex
  uint64_t idle_since = 0;  // the server's count of such moments; guarded by the server's mutex
  bool leaving = false;     // made room for another one; guarded by the server's mutex
  size_t body_bytes = 0;    // that it holds of the server's bound; of its own thread
  bool refuse = false;      // beyond the limit: to be told so
  bool silent = false;      // it has closed its sending side; guarded by the server's mutex
  SocketExchange* exchange = nullptr;  // that its handler has; guarded by the server's mutex
  std::thread thread;
};

// Lets the server see the exchange that a connection's handler has, until this ends, however it
// does: even the refusal of a request may throw. `mutex` is the server's.
class Watched {
 public:
  Watched(Mutex* mutex, Connection* connection, SocketExchange* exchange)
      : mutex_(mutex), connection_(connection) {
    MutexLock lock(*mutex_);
    connection_->exchange = exchange;
    if (connection_->leaving) exchange->MakeLast();
    if (connection_->silent) exchange->Probe();
  }
  ~Watched() {
    MutexLock lock(*mutex_);
    connection_->exchange = nullptr;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Mutex* mutex_;
  Connection* connection_;
};

class Server final : public HttpServer {
 public:
  Server(const HttpServerOptions& options, HttpHandler handler)
      : options_(options), handler_(std::move(handler)) {
    if (!options_.refusal) options_.refusal = PlainRefusal;
  }
  ~Server() override { Stop(milliseconds(0)); }

  Result<void> Listen();
  int port() const override { return port_; }
  std::string url() const override {
    const bool v6 = options_.host.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", options_.host, v6 ? "]" : "", port_);
  }
  int connections() const override {
    MutexLock lock(mutex_);
    return static_cast<int>(connections_.size());
  }
  bool Stop(milliseconds grace) override;

 private:
  using Id = uint64_t;
  static constexpr Id kListener = 0, kWake = 1;

  void Watch();
  void Left(Id id, uint32_t events);
  void Accept();
  bool MakeRoom() HONE_REQUIRES(mutex_);
  void Reap();
  void Wake() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  }
  void Serve(Id id, Connection* connection);
  bool ServeOne(Connection* connection, std::string* buffer);
  bool Read(Connection* connection, RequestParser* parser, std::string* buffer);
  bool Admits(Connection* connection, const RequestParser& parser);
  bool Holds(Connection* connection, size_t body_bytes);
  void Handle(SocketExchange* exchange);
  void Refuse(Connection* connection, int status, std::string_view why);
  void Refuse(Connection* connection, const ServerResponse& response);

  HttpServerOptions options_;
  HttpHandler handler_;
  int port_ = 0;
  Descriptor listener_, wake_, epoll_;
  std::stop_source closing_;
  std::thread watcher_;
  Mutex stop_mutex_;  // one Stop at a time
  std::atomic<bool> ended_ = false;
  std::atomic<size_t> bodies_bytes_ = 0;  // of all requests in hand

  mutable Mutex mutex_;
  ConditionVariable left_;
  std::map<Id, std::unique_ptr<Connection>> connections_ HONE_GUARDED_BY(mutex_);
  std::vector<Id> finished_ HONE_GUARDED_BY(mutex_);  // their threads are at their end
  Id next_ HONE_GUARDED_BY(mutex_) = 2;
  uint64_t silences_ HONE_GUARDED_BY(mutex_) = 0;  // connections that became idle
};

Result<void> Server::Listen() {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string host = options_.host == "localhost" ? "127.0.0.1" : options_.host;
  if (options_.port < 0 || options_.port > 65535 ||
      ::getaddrinfo(host.c_str(), std::to_string(options_.port).c_str(), &hints, &found) != 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}:{} is no address to listen on; give localhost or the address of a "
                             "network interface, and a port from 0 to 65535",
                             options_.host, options_.port));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> address(found, &::freeaddrinfo);
  const std::string where = fmt::format("{}:{}", options_.host, options_.port);
  listener_ =
      Descriptor(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_.ok()) return ErrnoError("cannot listen on " + where);
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener_.get(), address->ai_addr, address->ai_addrlen) != 0 ||
      ::listen(listener_.get(), 512) != 0) {
    if (errno == EADDRINUSE) {
      return Error(ErrorCode::kUnavailable,
                   fmt::format("{} is in use by another program; choose another port (0: any free "
                               "one) or end that program",
                               where));
    }
    return ErrnoError("cannot listen on " + where);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                            : reinterpret_cast<sockaddr_in&>(bound).sin_port);

  wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!wake_.ok() || !epoll_.ok()) return ErrnoError("cannot listen on " + where);
  for (const auto& [id, socket] :
       {std::pair(kListener, listener_.get()), std::pair(kWake, wake_.get())}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = id;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) != 0) {
      return ErrnoError("cannot listen on " + where);
    }
  }
  watcher_ = std::thread([this] { Watch(); });
  return {};
}

// Takes in clients, notices those that leave, joins the threads of those that left.
void Server::Watch() {
  std::vector<epoll_event> events(64);
  while (!ended_) {
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const Id id = events[static_cast<size_t>(i)].data.u64;
      if (id == kListener) {
        Accept();
      } else if (id == kWake) {
        uint64_t value = 0;
        [[maybe_unused]] const ssize_t read = ::read(wake_.get(), &value, sizeof value);
        if (closing_.stop_requested()) listener_.Close();  // leaves the epoll with it
      } else {
        Left(id, events[static_cast<size_t>(i)].events);
      }
    }
    Reap();
  }
}

// A client that closed its sending side may have left, or may wait for its response. Nobody can
// tell before it is sent something: it is, and the connection is watched for the reset.
void Server::Left(Id id, uint32_t events) {
  std::optional<std::stop_source> gone;
  {
    MutexLock lock(mutex_);
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
      gone = connection.gone;
    } else {
      epoll_event event{};
      event.events = EPOLLONESHOT;  // EPOLLHUP and EPOLLERR always come
      event.data.u64 = id;
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
      connection.silent = true;
      if (connection.exchange != nullptr) connection.exchange->Probe();
    }
  }
  if (gone) gone->request_stop();  // without the lock: its callbacks are the handler's
}

void Server::Accept() {
  Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.ok()) {
    // Out of descriptors: the client waits in the queue until one is free.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
      std::this_thread::sleep_for(milliseconds(20));
    return;
  }
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  MutexLock lock(mutex_);
  if (closing_.stop_requested()) return;
  const size_t limit = static_cast<size_t>(options_.max_connections);
  if (connections_.size() >= limit + kRefusals) return;
  const Id id = next_++;
  epoll_event event{};
  // Nothing but the news that the client says no more, or left. What it sends is its thread's
  // business.
  event.events = EPOLLRDHUP | EPOLLONESHOT;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) return;
  const auto staying = std::count_if(connections_.begin(), connections_.end(),
                                     [](const auto& one) { return !one.second->leaving; });
  const bool refuse = static_cast<size_t>(staying) >= limit && !MakeRoom();
  try {
    finished_.reserve(connections_.size() + 1);  // so that its end needs no memory
    Connection* connection =
        connections_.emplace(id, std::make_unique<Connection>()).first->second.get();
    connection->socket = std::move(socket);
    connection->refuse = refuse;
    connection->idle_since = ++silences_;
    connection->thread = std::thread([this, id, connection] { Serve(id, connection); });
  } catch (const std::exception&) {  // no thread or memory to be had: as without a descriptor
    connections_.erase(id);
  }
}

// Lets go of the client that has said nothing for the longest time, under the lock. What it sends
// meanwhile is still read and answered.
bool Server::MakeRoom() {
  Connection* longest = nullptr;
  for (const auto& [id, connection] : connections_) {
    if (!connection->idle || connection->leaving || connection->refuse) continue;
    char unread = 0;  // its thread has not come to it
    if (::recv(connection->socket.get(), &unread, 1, MSG_PEEK | MSG_DONTWAIT) > 0) continue;
    if (longest == nullptr || connection->idle_since < longest->idle_since) {
      longest = connection.get();
    }
  }
  if (longest == nullptr) return false;
  longest->leaving = true;
  ::shutdown(longest->socket.get(), SHUT_RD);
  return true;
}

// One by one: it needs no memory.
void Server::Reap() {
  bool any = false;
  while (true) {
    std::unique_ptr<Connection> gone;
    {
      MutexLock lock(mutex_);
      if (finished_.empty()) break;
      gone = std::move(connections_.at(finished_.back()));
      connections_.erase(finished_.back());
      finished_.pop_back();
    }
    gone->thread.join();
    any = true;
  }
  if (any) left_.notify_all();
}

void Server::Serve(Id id, Connection* connection) {
  try {
    std::string buffer;
    while (ServeOne(connection, &buffer)) {
      MutexLock lock(mutex_);
      // Under the lock, so that Stop sees one or the other.
      if (closing_.stop_requested() || connection->leaving) break;
      connection->idle = true;
      connection->idle_since = ++silences_;
    }
  } catch (const std::exception&) {
    // Out of memory while a request came in: this client is let go, the others stay.
  }
  Holds(connection, 0);
  ::shutdown(connection->socket.get(), SHUT_RDWR);
  {
    MutexLock lock(mutex_);
    finished_.push_back(id);
  }
  Wake();
}

// Reads and answers one request. False when the connection has come to its end.
bool Server::ServeOne(Connection* connection, std::string* buffer) {
  RequestParser parser(options_.limits);
  if (!Read(connection, &parser, buffer)) return false;
  const IncomingRequest& request = parser.request();
  SocketExchange exchange(connection->socket.get(), &request, &options_,
                          connection->gone.get_token(), closing_.get_token());
  const Watched watched(&mutex_, connection, &exchange);
  Handle(&exchange);
  const bool more = exchange.End();
  Holds(connection, 0);
  return more;
}

// What one request makes fail must not be the end of the others.
void Server::Handle(SocketExchange* exchange) {
  int status = 500;
  std::string_view why = "the request made the server fail";
  try {
    return handler_(*exchange);
  } catch (const std::bad_alloc&) {
    status = 503;
    why = "the server has no memory left for this request; try again, or make it smaller";
  } catch (const std::exception&) {
  }
  if (exchange->begun()) return exchange->Abort();
  exchange->MakeLast();
  exchange->Respond(options_.refusal(status, why));
}

// Whether a request is worth the reading of its body. If not, the client has been told.
bool Server::Admits(Connection* connection, const RequestParser& parser) {
  const IncomingRequest& head = parser.request();
  if (connection->refuse) {
    Refuse(connection, 503, "too many connections; try again");
    return false;
  }
  if (options_.local_only) {
    const std::string_view host = head.Header("host"), origin = head.Header("origin");
    if (!IsLocalHost(host, options_.local_names) ||
        (!origin.empty() && !IsOwnOrigin(origin, host, options_.local_names))) {
      Refuse(connection, 403, "this service answers only to pages and programs of this machine");
      return false;
    }
  }
  if (!options_.admit) return true;
  const std::optional<ServerResponse> refused = options_.admit(head);
  if (refused) Refuse(connection, *refused);
  return !refused;
}

// Counts a request's body among those in hand; 0 takes it out again. False when they are too many:
// then it counts as before.
bool Server::Holds(Connection* connection, size_t body_bytes) {
  const size_t before = connection->body_bytes;
  size_t all = bodies_bytes_, others = 0;
  do {
    others = all - before;
    if (body_bytes > before && others != 0 && others + body_bytes > options_.max_bodies_bytes) {
      return false;
    }
  } while (!bodies_bytes_.compare_exchange_weak(all, others + body_bytes));
  connection->body_bytes = body_bytes;
  return true;
}

// A whole request into the parser; the bytes behind it stay in the buffer.
bool Server::Read(Connection* connection, RequestParser* parser, std::string* buffer) {
  const int socket = connection->socket.get();
  auto deadline = SteadyClock::now() + options_.idle_deadline;
  bool continued = false, admitted = false;
  while (true) {
    if (!buffer->empty()) {
      if (!parser->started()) {
        deadline = SteadyClock::now() + options_.request_deadline;
        MutexLock lock(mutex_);
        connection->idle = false;
      }
      buffer->erase(0, parser->Feed(*buffer));
    }
    if (parser->refused() != 0) {
      Refuse(connection, parser->refused(), parser->why());
      return false;
    }
    if (parser->has_head() && !admitted) {
      admitted = true;
      if (!Admits(connection, *parser)) return false;
    }
    if (parser->has_head() && !Holds(connection, parser->body_bytes())) {
      Refuse(connection, 503, "other requests fill the memory for them; try again");
      return false;
    }
    if (parser->complete()) return true;
    if (parser->wants_continue() && !continued) {
      continued = true;
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      ::send(socket, kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
    }
    if (!WaitForSocket(socket, POLLIN, deadline)) {
      if (parser->started()) Refuse(connection, 408, "the request did not arrive in time");
      return false;
    }
    char bytes[16384];
    const ssize_t count = ::recv(socket, bytes, sizeof bytes, 0);
    if (count > 0) {
      buffer->append(bytes, static_cast<size_t>(count));
    } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      return false;
    }
  }
}

void Server::Refuse(Connection* connection, int status, std::string_view why) {
  ServerResponse response = options_.refusal(status, why);
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  Refuse(connection, response);
}

void Server::Refuse(Connection* connection, const ServerResponse& response) {
  const IncomingRequest unread;
  SocketExchange exchange(connection->socket.get(), &unread, &options_, {}, {});
  exchange.MakeLast();
  if (exchange.Respond(response)) Linger(connection->socket.get());
}

bool Server::Stop(milliseconds grace) {
  MutexLock stopping(stop_mutex_);
  if (!watcher_.joinable()) return true;
  closing_.request_stop();
  Wake();
  bool all = true;
  std::vector<std::stop_source> cut;
  {
    MutexLock lock(mutex_);
    // A client that says nothing is not waited for; one whose request is coming in is answered.
    for (const auto& entry : connections_) {
      if (entry.second->idle) ::shutdown(entry.second->socket.get(), SHUT_RD);
    }
    all = left_.wait_for(lock, grace, [&]() HONE_REQUIRES(mutex_) { return connections_.empty(); });
    for (const auto& entry : connections_) cut.push_back(entry.second->gone);
  }
  for (std::stop_source& gone : cut) gone.request_stop();
  {
    MutexLock lock(mutex_);
    for (const auto& entry : connections_) ::shutdown(entry.second->socket.get(), SHUT_RDWR);
    left_.wait(lock, [&]() HONE_REQUIRES(mutex_) { return connections_.empty(); });
  }
  ended_ = true;
  Wake();
  watcher_.join();
  return all;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options,
                                                      HttpHandler handler) {
  auto server = std::make_unique<Server>(options, std::move(handler));
  HONE_RETURN_IF_ERROR(server->Listen());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace hone
