#include "serve/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/descriptor.h"
#include "base/http_client.h"
#include "base/json.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A client that says exactly what it is told to, well-formed or not.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  // Everything up to this text, or up to the end of the connection.
  std::string ReadUntil(std::string_view end) {
    std::string seen;
    char byte = 0;
    while ((end.empty() || !seen.ends_with(end)) && ::recv(socket_.get(), &byte, 1, 0) == 1) {
      seen += byte;
    }
    return seen;
  }
  std::string ReadAll() { return ReadUntil(""); }
  void Close() { socket_.Close(); }
  void CloseSending() { ::shutdown(socket_.get(), SHUT_WR); }

 private:
  Descriptor socket_;
};

std::unique_ptr<HttpServer> Started(const HttpServerOptions& options, HttpHandler handler) {
  auto server = HttpServer::Start(options, std::move(handler));
  EXPECT_TRUE(server.ok()) << server.error().message();
  return *std::move(server);
}

// Says what it was asked.
void Echo(HttpExchange& exchange) {
  const IncomingRequest& request = exchange.request();
  exchange.Respond(
      {200, "text/plain", request.method + " " + request.path + " " + request.body, {}});
}

std::string Get(std::string_view path, std::string_view headers = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
         "\r\n";
}

std::string Post(std::string_view path, size_t bytes) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
         std::string(bytes, 'x');
}

TEST(HttpServer, AnswersAClient) {
  const auto server = Started({}, Echo);
  HttpRequest request;
  request.method = "POST";
  request.url = server->url() + "/a?b";
  request.body = "hello";
  const auto response = HttpFetch(request);
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "POST /a hello");
  EXPECT_EQ(response->Header("content-type"), "text/plain");
  EXPECT_TRUE(response->Header("date").ends_with(" GMT"));
}

TEST(HttpServer, OneConnectionAsksAsOftenAsItLikes) {
  const auto server = Started({}, Echo);
  RawClient client(server->port());
  client.Send(Get("/1") + Get("/2"));  // without waiting in between
  EXPECT_TRUE(client.ReadUntil("GET /1 ").starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(client.ReadUntil("GET /2 ").starts_with("HTTP/1.1 200 OK\r\n"));
  client.Send(Get("/3", "Connection: close\r\n"));
  const std::string last = client.ReadAll();
  EXPECT_NE(last.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(last.ends_with("GET /3 "));
}

TEST(HttpServer, AnOldClientIsAnsweredAndClosed) {
  const auto server = Started({}, Echo);
  RawClient old(server->port());
  old.Send("GET /x HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(old.ReadAll().ends_with("GET /x "));
}

TEST(HttpServer, StreamsPieceByPiece) {
  std::promise<void> first_was_read;
  const auto server = Started({}, [&](HttpExchange& exchange) {
    EXPECT_TRUE(exchange.Begin({200, "text/event-stream", "", {}}));
    EXPECT_TRUE(exchange.Write("data: 1\n\n"));
    first_was_read.get_future().wait();
    EXPECT_TRUE(exchange.Write("data: 2\n\n"));
  });
  HttpRequest request;
  request.url = server->url();
  std::string seen;
  request.on_data = [&](std::string_view data) {
    if (seen.empty()) first_was_read.set_value();
    seen += data;
    return true;
  };
  const auto response = HttpFetch(request);
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->Header("transfer-encoding"), "chunked");
  EXPECT_EQ(seen, "data: 1\n\ndata: 2\n\n");
}

TEST(HttpServer, AnAbortedStreamIsSeenAsCutOff) {
  const auto server = Started({}, [&](HttpExchange& exchange) {
    exchange.Begin({});
    exchange.Write("half");
    exchange.Abort();
  });
  HttpRequest request;
  request.url = server->url();
  EXPECT_EQ(HttpFetch(request).error().code(), ErrorCode::kUnavailable);
}

TEST(HttpServer, AHandlerThatSaysNothingIsA500) {
  const auto server = Started({}, [](HttpExchange&) {});
  HttpRequest request;
  request.url = server->url();
  EXPECT_EQ(HttpFetch(request)->status, 500);
}

TEST(HttpServer, WhatIsMalformedOrTooLargeGetsItsStatus) {
  HttpServerOptions options;
  options.limits = {.max_header_bytes = 1000, .max_body_bytes = 1000};
  const auto server = Started(options, Echo);
  const auto response = [&](std::string_view bytes) {
    RawClient client(server->port());
    client.Send(bytes);
    return client.ReadAll().substr(0, 12);
  };
  EXPECT_EQ(response("nonsense\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(response("GET / HTTP/3.0\r\n"), "HTTP/1.1 505");
  EXPECT_EQ(response("BREW / HTTP/1.1\r\n"), "HTTP/1.1 501");
  EXPECT_EQ(response("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 411");
  EXPECT_EQ(response("GET / HTTP/1.1\r\nX: " + std::string(100000, 'x') + "\r\n\r\n"),
            "HTTP/1.1 431");
  // The client is told although it has sent far more than the server wants to read.
  EXPECT_EQ(response("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n" +
                     std::string(500000, 'x')),
            "HTTP/1.1 413");
}

TEST(HttpServer, ARefusalCanBeWordedByTheService) {
  HttpServerOptions options;
  options.refusal = [](int status, std::string_view why) {
    return ServerResponse{status, "application/json", DumpJson(Json::Of({{"error", why}})), {}};
  };
  const auto server = Started(options, Echo);
  RawClient client(server->port());
  client.Send("nonsense\r\n");
  EXPECT_TRUE(client.ReadAll().ends_with("\"}"));
}

TEST(HttpServer, AClientThatDawdlesGets408AndAnIdleOneIsClosed) {
  HttpServerOptions options;
  options.request_deadline = milliseconds(50);
  options.idle_deadline = milliseconds(50);
  const auto server = Started(options, Echo);
  RawClient slow(server->port()), idle(server->port());
  slow.Send("GET / HT");
  EXPECT_TRUE(slow.ReadAll().starts_with("HTTP/1.1 408"));
  EXPECT_EQ(idle.ReadAll(), "");
}

TEST(HttpServer, ContinuesWhenTheClientAsksFirst) {
  const auto server = Started({}, Echo);
  RawClient client(server->port());
  client.Send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("ok");
  EXPECT_TRUE(client.ReadUntil("POST / ok").starts_with("HTTP/1.1 200"));
}

TEST(HttpServer, APageFromElsewhereIsRefused) {
  const auto status = [](const HttpServer& server, std::string_view headers) {
    RawClient client(server.port());
    client.Send("GET / HTTP/1.1\r\nConnection: close\r\n" + std::string(headers) + "\r\n");
    return client.ReadAll().substr(9, 3);
  };
  const auto server = Started({}, Echo);
  EXPECT_EQ(status(*server, "Host: localhost:1\r\n"), "200");
  EXPECT_EQ(status(*server, "Host: evil.example\r\n"), "403");
  EXPECT_EQ(status(*server, "Host: localhost\r\nOrigin: https://evil.example\r\n"), "403");
  EXPECT_EQ(status(*server, "Host: localhost\r\nOrigin: http://localhost:5173\r\n"), "403");
  EXPECT_EQ(status(*server, "Host: localhost:1\r\nOrigin: http://localhost:1\r\n"), "200");
  HttpServerOptions open;
  open.local_only = false;
  EXPECT_EQ(status(*Started(open, Echo), "Host: evil.example\r\n"), "200");
}

TEST(HttpServer, AHandlerIsToldThatItsClientLeft) {
  std::promise<void> called, noticed;
  const auto server = Started({}, [&](HttpExchange& exchange) {
    const std::stop_callback callback(exchange.gone(), [&] { noticed.set_value(); });
    called.set_value();
    EXPECT_EQ(noticed.get_future().wait_for(seconds(30)), std::future_status::ready);
  });
  RawClient client(server->port());
  client.Send(Get("/"));
  called.get_future().wait();
  client.Close();
  EXPECT_TRUE(server->Stop(seconds(30)));
}

TEST(HttpServer, AClientThatOnlyClosedItsSendingSideGetsItsAnswer) {
  std::promise<void> called, closed;
  const auto server = Started({}, [&](HttpExchange& exchange) {
    called.set_value();
    closed.get_future().wait();
    // The news of it may still come; it must not be that the client left.
    for (int i = 0; i < 20 && !exchange.gone().stop_requested(); ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_FALSE(exchange.gone().stop_requested());
    exchange.Respond({200, "text/plain", "here", {}});
  });
  RawClient client(server->port());
  client.Send(Get("/"));
  called.get_future().wait();
  client.CloseSending();
  closed.set_value();
  const std::string all = client.ReadAll();
  EXPECT_NE(all.find("HTTP/1.1 200"), std::string::npos) << all;
  EXPECT_TRUE(all.ends_with("here")) << all;
}

TEST(HttpServer, AStreamToAClientThatLeftOrDoesNotReadFails) {
  HttpServerOptions options;
  options.write_deadline = milliseconds(50);
  std::promise<void> ended;
  const auto server = Started(options, [&](HttpExchange& exchange) {
    exchange.Begin({});
    const std::string piece(1 << 20, 'x');
    while (exchange.Write(piece)) {
    }
    ended.set_value();
  });
  RawClient client(server->port());
  client.Send(Get("/"));
  EXPECT_EQ(ended.get_future().wait_for(seconds(30)), std::future_status::ready);
}

TEST(HttpServer, APortInUseIsAClearError) {
  const auto server = Started({}, Echo);
  HttpServerOptions options;
  options.port = server->port();
  const auto second = HttpServer::Start(options, Echo);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message().find("in use"), std::string::npos);
  options.host = "not an address";
  EXPECT_EQ(HttpServer::Start(options, Echo).error().code(), ErrorCode::kInvalidArgument);
}

TEST(HttpServer, AStopLetsAnswersEndAndTakesNoMore) {
  std::promise<void> called;
  const auto server = Started({}, [&](HttpExchange& exchange) {
    exchange.Begin({200, "text/plain", "", {}});
    exchange.Write("first ");
    std::promise<void> closing;
    const std::stop_callback callback(exchange.closing(), [&] { closing.set_value(); });
    called.set_value();
    closing.get_future().wait();
    exchange.Write("last");
  });
  RawClient client(server->port()), idle(server->port());
  client.Send(Get("/"));
  called.get_future().wait();
  EXPECT_TRUE(server->Stop(seconds(30)));
  EXPECT_TRUE(client.ReadAll().ends_with("4\r\nlast\r\n0\r\n\r\n"));
  EXPECT_EQ(idle.ReadAll(), "");
  HttpRequest request;
  request.url = server->url();
  EXPECT_EQ(HttpFetch(request).error().code(), ErrorCode::kUnavailable);
}

TEST(HttpServer, AfterTheGraceAnswersAreCutOff) {
  std::promise<void> called;
  const auto server = Started({}, [&](HttpExchange& exchange) {
    exchange.Begin({200, "text/plain", "", {}});
    std::promise<void> gone;
    const std::stop_callback callback(exchange.gone(), [&] { gone.set_value(); });
    called.set_value();
    gone.get_future().wait();
    exchange.Abort();
  });
  RawClient client(server->port());
  client.Send(Get("/"));
  called.get_future().wait();
  EXPECT_FALSE(server->Stop(milliseconds(10)));
  EXPECT_EQ(client.ReadAll().find("0\r\n\r\n"), std::string::npos);
}

TEST(HttpServer, ForAnotherClientTheLongestSilentOneMakesRoom) {
  HttpServerOptions options;
  options.max_connections = 2;
  const auto server = Started(options, Echo);
  RawClient first(server->port()), second(server->port());
  for (RawClient* client : {&first, &second}) {
    client->Send(Get("/"));
    client->ReadUntil("GET / ");
  }
  RawClient third(server->port());
  third.Send(Get("/third"));
  EXPECT_TRUE(third.ReadUntil("GET /third ").starts_with("HTTP/1.1 200"));
  EXPECT_EQ(first.ReadAll(), "") << "its connection has ended";
  second.Send(Get("/second"));
  EXPECT_TRUE(second.ReadUntil("GET /second ").starts_with("HTTP/1.1 200"));
}

TEST(HttpServer, AHandlerThatThrowsTakesNobodyElseDown) {
  const auto server = Started({}, [](HttpExchange& exchange) {
    if (exchange.request().path == "/memory") throw std::bad_alloc();
    if (exchange.request().path == "/begun") {
      exchange.Begin({200, "text/plain", "", {}});
      exchange.Write("half");
    }
    if (exchange.request().path != "/") throw std::runtime_error("oh");
    Echo(exchange);
  });
  const auto ask = [&](std::string_view path) {
    RawClient client(server->port());
    client.Send(Get(path, "Connection: close\r\n"));
    return client.ReadAll();
  };
  EXPECT_TRUE(ask("/memory").starts_with("HTTP/1.1 503"));
  EXPECT_TRUE(ask("/other").starts_with("HTTP/1.1 500"));
  EXPECT_TRUE(ask("/begun").ends_with("half\r\n")) << "a stream that failed is cut off";
  EXPECT_TRUE(ask("/").starts_with("HTTP/1.1 200"));
}

TEST(HttpServer, ARefusalThatThrowsEndsItsConnectionOnly) {
  HttpServerOptions options;
  options.refusal = [](int, std::string_view) -> ServerResponse { throw std::bad_alloc(); };
  const auto server = Started(options, [](HttpExchange& exchange) {
    if (exchange.request().path != "/") throw std::bad_alloc();
    Echo(exchange);
  });
  RawClient unlucky(server->port()), next(server->port());
  unlucky.Send(Get("/memory"));
  unlucky.CloseSending();
  EXPECT_EQ(unlucky.ReadAll().find("HTTP/1.1 5"), std::string::npos) << "at most 100 Continue";
  next.Send(Get("/"));
  EXPECT_TRUE(next.ReadUntil("GET / ").starts_with("HTTP/1.1 200"));
}

TEST(HttpServer, WhoIsNotAdmittedIsToldBeforeTheBodyIsSent) {
  HttpServerOptions options;
  options.admit = [](const IncomingRequest& head) -> std::optional<ServerResponse> {
    if (head.Header("authorization") == "yes") return std::nullopt;
    return ServerResponse{401, "text/plain", "no key", {}};
  };
  const auto server = Started(options, Echo);
  RawClient client(server->port());
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000000\r\n\r\n");
  EXPECT_TRUE(client.ReadUntil("no key").starts_with("HTTP/1.1 401"));
  RawClient friendly(server->port());
  friendly.Send(Get("/", "Authorization: yes\r\n"));
  EXPECT_TRUE(friendly.ReadUntil("GET / ").starts_with("HTTP/1.1 200"));
}

TEST(HttpServer, BodiesInHandAreBoundedTogether) {
  HttpServerOptions options;
  options.max_bodies_bytes = 100;
  std::promise<void> called, over;
  std::shared_future<void> ended = over.get_future().share();
  const auto server = Started(options, [&](HttpExchange& exchange) {
    if (exchange.request().path == "/long") {
      called.set_value();
      ended.wait();
    }
    Echo(exchange);
  });
  RawClient first(server->port()), second(server->port()), third(server->port());
  first.Send(Post("/long", 300));  // alone it may be larger
  called.get_future().wait();
  second.Send(Post("/", 101));
  EXPECT_TRUE(second.ReadAll().starts_with("HTTP/1.1 503"));
  third.Send(Get("/"));
  EXPECT_TRUE(third.ReadUntil("GET / ").starts_with("HTTP/1.1 200")) << "it has no body";
  over.set_value();
  EXPECT_TRUE(first.ReadUntil("xxx").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(server->Stop(seconds(30)));
  const auto again = Started(options, Echo);
  RawClient later(again->port());
  for (int i = 0; i < 3; ++i) {
    later.Send(Post("/", 90));
    EXPECT_TRUE(later.ReadUntil(std::string(90, 'x')).starts_with("HTTP/1.1 200")) << i;
  }
}

TEST(HttpServer, ARefusedBodyTakesNobodysPlace) {
  HttpServerOptions options;
  options.max_bodies_bytes = 100;
  std::promise<void> called, over;
  const auto server = Started(options, [&](HttpExchange& exchange) {
    if (exchange.request().path == "/long") {
      called.set_value();
      over.get_future().wait();
    }
    Echo(exchange);
  });
  RawClient first(server->port()), refused(server->port()), small(server->port());
  first.Send(Post("/long", 50));
  called.get_future().wait();
  refused.Send(Post("/", 90));
  EXPECT_TRUE(refused.ReadAll().starts_with("HTTP/1.1 503"));  // it is open for a while yet
  small.Send(Post("/", 40));
  EXPECT_TRUE(small.ReadUntil("\r\n").starts_with("HTTP/1.1 200"));
  over.set_value();
}

TEST(HttpServer, AConnectionTooManyIsTold) {
  HttpServerOptions options;
  options.max_connections = 1;
  std::promise<void> called, over;
  const auto server = Started(options, [&](HttpExchange& exchange) {
    called.set_value();
    over.get_future().wait();
    Echo(exchange);
  });
  RawClient first(server->port());
  first.Send(Get("/"));
  called.get_future().wait();
  RawClient second(server->port());
  second.Send(Get("/"));
  const std::string response = second.ReadAll();
  EXPECT_TRUE(response.starts_with("HTTP/1.1 503"));
  EXPECT_NE(response.find("Retry-After: 1\r\n"), std::string::npos);
  over.set_value();
}

TEST(HttpServer, ManyClientsAtATimeLeaveNothingBehind) {
  const auto server = Started({}, [](HttpExchange& exchange) {
    exchange.Begin({200, "text/plain", "", {}});
    for (int i = 0; i < 5; ++i) exchange.Write(exchange.request().body);
  });
  std::atomic<int> good = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) {
        HttpRequest request;
        request.method = "POST";
        request.url = server->url();
        request.body = std::to_string(i * 1000 + j) + " ";
        const auto response = HttpFetch(request);
        std::string wanted;
        for (int k = 0; k < 5; ++k) wanted += request.body;
        good += response.ok() && response->body == wanted;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 320);
  EXPECT_TRUE(server->Stop(seconds(30)));
  EXPECT_EQ(server->connections(), 0);
}

}  // namespace
}  // namespace hone
