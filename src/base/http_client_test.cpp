#include "base/http_client.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hone {
namespace {

using std::chrono::milliseconds;

// A server on loopback that answers one connection with fixed bytes and keeps what it was asked.
class OneShotServer {
 public:
  explicit OneShotServer(std::function<std::string(const std::string&)> answer) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_, 4), 0);
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] { Serve(answer); });
  }
  ~OneShotServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  void Serve(const std::function<std::string(const std::string&)>& answer) {
    const int connection = ::accept(socket_, nullptr, nullptr);
    if (connection < 0) return;
    std::string request;
    char buffer[4096];
    while (!Complete(request)) {
      const ssize_t count = ::read(connection, buffer, sizeof buffer);
      if (count <= 0) break;
      request.append(buffer, static_cast<size_t>(count));
    }
    const std::string reply = answer(request);
    size_t sent = 0;
    while (sent < reply.size()) {
      const ssize_t count =
          ::send(connection, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<size_t>(count);
    }
    if (reply.empty()) ::read(connection, buffer, 1);  // hangs until the client gives up
    ::close(connection);
  }

  static bool Complete(const std::string& request) {
    const size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const size_t length = request.find("Content-Length: ");
    if (length == std::string::npos) return true;
    return request.size() >= end + 4 + std::stoul(request.substr(length + 16));
  }

  int socket_;
  int port_ = 0;
  std::thread thread_;
};

TEST(HttpClient, SendsMethodHeadersAndBodyAndReadsTheAnswer) {
  std::string seen;
  OneShotServer server([&](const std::string& request) {
    seen = request;
    return "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nwait";
  });
  HttpRequest request;
  request.method = "POST";
  request.url = server.url("/v1/x");
  request.headers = {{"X-Who", "hone"}};
  request.body = "{\"a\":1}";
  auto response = HttpFetch(request);
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "wait");
  EXPECT_EQ(response->Header("retry-after"), "7");
  EXPECT_NE(seen.find("POST /v1/x HTTP"), std::string::npos);
  EXPECT_NE(seen.find("X-Who: hone"), std::string::npos);
  EXPECT_TRUE(seen.ends_with("{\"a\":1}"));
}

TEST(HttpClient, AServerThatNeverAnswersCostsTheDeadline) {
  OneShotServer server([](const std::string&) { return ""; });
  HttpRequest request;
  request.url = server.url();
  request.deadline = milliseconds(100);
  auto response = HttpFetch(request);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code(), ErrorCode::kDeadline);
}

TEST(HttpClient, ASilentServerIsGivenUpAndTheErrorNamesTheSilence) {
  OneShotServer server([](const std::string&) { return ""; });
  HttpRequest request;
  request.url = server.url();
  request.deadline = std::chrono::hours(24);
  request.silence = std::chrono::seconds(1);
  const auto response = HttpFetch(request);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code(), ErrorCode::kDeadline);
  EXPECT_EQ(response.error().message(), server.url() + ": no answer within 1 s");
}

TEST(HttpClient, HeadersAreToldOnceAlsoWhereTheBodyIsEmpty) {
  for (const std::string body : {"", "bytes"}) {
    OneShotServer server([&](const std::string&) {
      return "HTTP/1.1 200 OK\r\nX-Kind: small\r\nContent-Length: " + std::to_string(body.size()) +
             "\r\n\r\n" + body;
    });
    HttpRequest request;
    request.url = server.url();
    std::string told;
    request.on_headers = [&](const HttpResponse& head) {
      told += std::to_string(head.status) + std::string(head.Header("x-kind"));
    };
    ASSERT_TRUE(HttpFetch(request).ok());
    EXPECT_EQ(told, "200small");
  }
}

TEST(HttpClient, AStopEndsTheExchange) {
  OneShotServer server([](const std::string&) { return ""; });
  HttpRequest request;
  request.url = server.url();
  std::stop_source stop;
  stop.request_stop();
  auto response = HttpFetch(request, stop.get_token());
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code(), ErrorCode::kStopped);
}

TEST(HttpClient, ABodyOverTheLimitIsRefused) {
  OneShotServer server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(100000, 'x');
  });
  HttpRequest request;
  request.url = server.url();
  request.max_body_bytes = 1000;
  EXPECT_EQ(HttpFetch(request).error().code(), ErrorCode::kFull);
}

TEST(HttpClient, StreamsTheBodyWhereAsked) {
  OneShotServer server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  });
  HttpRequest request;
  request.url = server.url();
  std::string streamed;
  request.on_headers = [&](const HttpResponse& head) {
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.Header("transfer-encoding"), "chunked");
    EXPECT_EQ(streamed, "");
  };
  request.on_data = [&](std::string_view data) {
    streamed += data;
    return true;
  };
  auto response = HttpFetch(request);
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(streamed, "abcde");
  EXPECT_EQ(response->body, "");
}

TEST(HttpClient, AStreamEndsWhereItIsEnough) {
  OneShotServer server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(50000, 'x');
  });
  HttpRequest request;
  request.url = server.url();
  request.on_data = [&](std::string_view) { return false; };
  auto response = HttpFetch(request);
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 200);
}

TEST(HttpClient, AStopWhileWaitingEndsTheExchange) {
  std::stop_source stop;
  OneShotServer server([&](const std::string&) {
    stop.request_stop();
    return "";
  });
  HttpRequest request;
  request.url = server.url();
  auto response = HttpFetch(request, stop.get_token());
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code(), ErrorCode::kStopped);
}

TEST(HttpClient, NobodyListeningAndBadUrlsAreTypedErrors) {
  HttpRequest request;
  request.url = "http://127.0.0.1:1/";
  EXPECT_EQ(HttpFetch(request).error().code(), ErrorCode::kUnavailable);
  request.url = "file:///etc/passwd";
  EXPECT_EQ(HttpFetch(request).error().code(), ErrorCode::kInvalidArgument);
}

TEST(HttpClient, ARedirectIsAnAnswerAndNotFollowed) {
  OneShotServer server([](const std::string&) {
    return "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
  });
  HttpRequest request;
  request.url = server.url();
  auto response = HttpFetch(request);
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 302);
}

}  // namespace
}  // namespace hone
