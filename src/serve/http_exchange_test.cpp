#include "serve/http_exchange.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "base/descriptor.h"

namespace hone {
namespace {

// An exchange whose client is the other end of a pair of sockets.
struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    server = Descriptor(ends[0]);
    client = Descriptor(ends[1]);
    options.refusal = [](int status, std::string_view why) {
      return ServerResponse{status, "text/plain", std::string(why), {}};
    };
    request.method = "GET";
  }
  SocketExchange New() {
    return SocketExchange(server.get(), &request, &options, gone.get_token(), closing.get_token());
  }
  // What has arrived, without the date.
  std::string Read() {
    char bytes[4096];
    const ssize_t count = ::recv(client.get(), bytes, sizeof bytes, 0);
    std::string text(bytes, count > 0 ? static_cast<size_t>(count) : 0);
    const size_t date = text.find("Date: ");
    if (date != std::string::npos) text.erase(date, text.find("\r\n", date) + 2 - date);
    return text;
  }

  Descriptor server, client;
  HttpServerOptions options;
  IncomingRequest request;
  std::stop_source gone, closing;
};

TEST(HttpExchange, AnswersWithLengthAndHeaders) {
  Pair pair;
  SocketExchange exchange = pair.New();
  EXPECT_TRUE(exchange.Respond({404, "text/plain", "none", {{"X-A", "b"}}}));
  EXPECT_TRUE(exchange.End());
  EXPECT_EQ(pair.Read(),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nX-A: b\r\n"
            "Content-Length: 4\r\n\r\nnone");
}

TEST(HttpExchange, AHeadGetsTheLengthAndNoBody) {
  Pair pair;
  pair.request.method = "HEAD";
  SocketExchange exchange = pair.New();
  exchange.Respond({200, "", "none", {}});
  EXPECT_TRUE(exchange.End());
  EXPECT_EQ(pair.Read(), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
}

TEST(HttpExchange, AStreamIsChunkedAndEndsWithTheHandler) {
  Pair pair;
  SocketExchange exchange = pair.New();
  exchange.Begin({200, "", "", {}});
  exchange.Write("ab");
  exchange.Write("");  // would end it
  exchange.Write("0123456789abcdef");
  EXPECT_TRUE(exchange.End());
  EXPECT_EQ(pair.Read(),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
            "10\r\n0123456789abcdef\r\n0\r\n\r\n");
}

TEST(HttpExchange, AnOldClientIsStreamedToUntilTheConnectionEnds) {
  Pair pair;
  pair.request.chunks = false;
  SocketExchange exchange = pair.New();
  exchange.Begin({200, "", "", {}});
  exchange.Write("ab");
  EXPECT_FALSE(exchange.End());
  EXPECT_EQ(pair.Read(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nab");
}

TEST(HttpExchange, WhenTheServerClosesTheClientIsTold) {
  Pair pair;
  pair.closing.request_stop();
  SocketExchange exchange = pair.New();
  exchange.Respond({204, "", "", {}});
  EXPECT_FALSE(exchange.End());
  EXPECT_EQ(pair.Read(), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST(HttpExchange, NoAnswerIsA500AndAnAbortNoEnd) {
  Pair silent;
  EXPECT_FALSE(silent.New().End());
  EXPECT_TRUE(silent.Read().starts_with("HTTP/1.1 500 "));

  Pair aborted;
  SocketExchange exchange = aborted.New();
  exchange.Begin({200, "", "", {}});
  exchange.Abort();
  EXPECT_FALSE(exchange.Write("more"));
  EXPECT_FALSE(exchange.End());
  EXPECT_TRUE(aborted.Read().ends_with("chunked\r\n\r\n"));
}

TEST(HttpExchange, AClientThatDoesNotReadIsGivenUp) {
  Pair pair;
  pair.options.write_deadline = std::chrono::milliseconds(20);
  SocketExchange exchange = pair.New();
  EXPECT_FALSE(exchange.Respond({200, "", std::string(8 << 20, 'x'), {}}));
  EXPECT_FALSE(exchange.End());
}

TEST(HttpExchange, AClientThatReadsSlowlyIsWaitedFor) {
  Pair pair;
  pair.options.write_deadline = std::chrono::milliseconds(500);
  SocketExchange exchange = pair.New();
  const size_t size = 8 << 20;
  size_t read = 0;
  std::thread client([&] {
    std::vector<char> buffer(256 << 10);
    const auto begin = std::chrono::steady_clock::now();
    while (read < size &&
           WaitForSocket(pair.client.get(), POLLIN, begin + std::chrono::seconds(30))) {
      const ssize_t count = ::recv(pair.client.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0) break;
      read += static_cast<size_t>(count);
      // The first part takes longer than the deadline.
      if (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(900)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
      }
    }
  });
  EXPECT_TRUE(exchange.Respond({200, "", std::string(size, 'x'), {}}));
  pair.server = Descriptor();
  client.join();
  EXPECT_GE(read, size);
}

TEST(HttpExchange, AWaitEndsAtItsDeadline) {
  Pair pair;
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(WaitForSocket(pair.client.get(), POLLIN, now + std::chrono::milliseconds(5)));
  EXPECT_TRUE(WaitForSocket(pair.client.get(), POLLOUT, now + std::chrono::seconds(30)));
}

}  // namespace
}  // namespace hone
