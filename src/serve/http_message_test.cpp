#include "serve/http_message.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

RequestParser Parsed(std::string_view bytes, const HttpLimits& limits = {}) {
  RequestParser parser(limits);
  parser.Feed(bytes);
  return parser;
}

int StatusOf(std::string_view bytes, const HttpLimits& limits = {}) {
  return Parsed(bytes, limits).refused();
}

TEST(RequestParser, ReadsMethodPathQueryHeadersAndBody) {
  const RequestParser parser = Parsed(
      "POST /v1/a%20b?x=1&y=a+b%26c HTTP/1.1\r\nHost: localhost\r\nX-Who:  me \t\r\n"
      "Content-Length: 5\r\n\r\nhello");
  ASSERT_TRUE(parser.complete()) << parser.why();
  const IncomingRequest& request = parser.request();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/v1/a b");
  EXPECT_EQ(request.query, "x=1&y=a+b%26c");
  EXPECT_EQ(request.Parameter("x"), "1");
  EXPECT_EQ(request.Parameter("y"), "a b&c");
  EXPECT_EQ(request.Parameter("z"), std::nullopt);
  EXPECT_EQ(request.Header("x-who"), "me");
  EXPECT_EQ(request.Header("absent"), "");
  EXPECT_EQ(request.body, "hello");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_TRUE(request.chunks);
}

TEST(RequestParser, HowTheBytesAreCutChangesNothing) {
  const std::string bytes =
      "\r\nPOST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;note=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\nGET";
  for (size_t step = 1; step <= bytes.size(); ++step) {
    RequestParser parser({});
    size_t used = 0;
    while (used < bytes.size() && !parser.complete()) {
      used += parser.Feed(std::string_view(bytes).substr(used, step));
    }
    ASSERT_TRUE(parser.complete()) << step << " " << parser.why();
    EXPECT_EQ(parser.request().body, "hello world");
    EXPECT_EQ(bytes.substr(used), "GET") << "the next request begins here";
  }
}

TEST(RequestParser, WhoKeepsTheConnection) {
  const auto keeps = [](std::string_view version, std::string_view header) {
    const RequestParser parser =
        Parsed("GET / " + std::string(version) + "\r\nHost: h\r\n" + std::string(header) + "\r\n");
    EXPECT_TRUE(parser.complete());
    return parser.request().keep_alive;
  };
  EXPECT_TRUE(keeps("HTTP/1.1", ""));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: upgrade, Close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0", ""));
  EXPECT_TRUE(keeps("HTTP/1.0", "Connection: Keep-Alive\r\n"));
}

TEST(RequestParser, AClientThatWaitsForTheBodyToBeWantedIsNoticed) {
  RequestParser parser({});
  parser.Feed("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(parser.wants_continue());
  parser.Feed("ab");
  EXPECT_TRUE(parser.complete());
  EXPECT_FALSE(parser.wants_continue());
  EXPECT_EQ(StatusOf("POST / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\nContent-Length: 2\r\n\r\n"),
            417);
}

TEST(RequestParser, WhatIsMalformedIsRefusedWithItsStatus) {
  const std::string host = "Host: h\r\n";
  EXPECT_EQ(StatusOf("GET\r\n"), 400);
  EXPECT_EQ(StatusOf("GET /\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\n"), 400) << "a bare LF";
  EXPECT_EQ(StatusOf("GET  / HTTP/1.1\r\n"), 400);
  EXPECT_EQ(StatusOf("G(T / HTTP/1.1\r\n"), 400);
  EXPECT_EQ(StatusOf("GET x HTTP/1.1\r\n"), 400);
  EXPECT_EQ(StatusOf("GET /%zz HTTP/1.1\r\n"), 400);
  EXPECT_EQ(StatusOf("GET /%00 HTTP/1.1\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / FTP/1.1\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/2.0\r\n"), 505);
  EXPECT_EQ(StatusOf("BREW / HTTP/1.1\r\n"), 501);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n" + host + host + "\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n" + host + " folded\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost : h\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n" + host + "X: a\x01z\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("POST / HTTP/1.1\r\n" + host + "\r\n"), 411);
}

TEST(RequestParser, ABodyHasOneLength) {
  const std::string start = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(StatusOf(start + "Content-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Transfer-Encoding: gzip\r\n\r\n"), 501);
  EXPECT_EQ(StatusOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  const std::string chunked = start + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(StatusOf(chunked + "x\r\n"), 400);
  EXPECT_EQ(StatusOf(chunked + "\r\n"), 400);
  EXPECT_EQ(StatusOf(chunked + "1\r\nab\r\n"), 400);
  EXPECT_EQ(StatusOf(chunked + "ffffffffffffffffffff\r\n"), 413);
}

TEST(RequestParser, LimitsHold) {
  const HttpLimits limits{.max_header_bytes = 100, .max_body_bytes = 8};
  EXPECT_EQ(StatusOf("GET /" + std::string(200, 'a'), limits), 414);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(200, 'a'), limits), 431);
  const std::string start = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(StatusOf(start + "Content-Length: 9\r\n\r\n", limits), 413);
  EXPECT_EQ(StatusOf(start + "Content-Length: 99999999999999999999999\r\n\r\n", limits), 413);
  const std::string chunked = start + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(StatusOf(chunked + "5\r\nhello\r\n4\r\n", limits), 413);
  EXPECT_EQ(StatusOf(chunked + "1;" + std::string(200, 'a'), limits), 431);

  std::string headers = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 200; ++i) headers += "A: b\r\n";
  EXPECT_EQ(StatusOf(headers), 431);
}

TEST(RequestParser, ManySmallChunksAreNoHeader) {
  std::string bytes = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 1000; ++i) bytes += "1\r\nx\r\n";
  const RequestParser parser = Parsed(bytes + "0\r\n\r\n", {.max_header_bytes = 100});
  EXPECT_TRUE(parser.complete()) << parser.why();
  EXPECT_EQ(parser.request().body.size(), 1000u);
}

TEST(HttpMessage, AProxyMayNameTheWholeUrl) {
  const RequestParser parser = Parsed("GET http://h:80/a?b HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(parser.complete());
  EXPECT_EQ(parser.request().path, "/a");
  EXPECT_EQ(parser.request().query, "b");
}

TEST(HttpMessage, WhichNamesAreThisMachine) {
  EXPECT_TRUE(IsLocalHost("localhost"));
  EXPECT_TRUE(IsLocalHost("LOCALHOST:8000"));
  EXPECT_TRUE(IsLocalHost("127.0.0.1:1"));
  EXPECT_TRUE(IsLocalHost("[::1]:8000"));
  EXPECT_TRUE(IsLocalHost("[::1]"));
  EXPECT_FALSE(IsLocalHost("evil.example"));
  EXPECT_FALSE(IsLocalHost("localhost.evil.example:8000"));
  EXPECT_FALSE(IsLocalHost(""));
  EXPECT_TRUE(IsLocalHost("127.0.0.2:8000"));
  EXPECT_FALSE(IsLocalHost("127.evil.example"));
  EXPECT_FALSE(IsLocalHost("127.0.0.1.evil.example:8000"));
  EXPECT_TRUE(IsLocalHost("box:8000", {"box"}));
  EXPECT_TRUE(IsLocalHost("box:8000", {"Box"}));
  EXPECT_TRUE(IsLocalHost("BOX", {"box"}));
  EXPECT_FALSE(IsLocalHost("127.0.0.1:7411@evil.example"));
  EXPECT_FALSE(IsLocalHost("localhost:80:80"));
}

TEST(HttpMessage, APageMayAskOnlyWhoServedItUnlessTheUserSaysSo) {
  EXPECT_TRUE(IsOwnOrigin("http://localhost:8000", "localhost:8000"));
  EXPECT_TRUE(IsOwnOrigin("http://[::1]:8000", "[::1]:8000"));
  EXPECT_FALSE(IsOwnOrigin("http://localhost:5173", "localhost:8000"));
  EXPECT_FALSE(IsOwnOrigin("http://127.0.0.1:8000", "localhost:8000"));
  EXPECT_FALSE(IsOwnOrigin("https://evil.example", "localhost:8000"));
  EXPECT_FALSE(IsOwnOrigin("null", "localhost:8000"));
  EXPECT_TRUE(IsOwnOrigin("http://localhost:3000", "localhost:8000", {"Localhost:3000"}));
  EXPECT_FALSE(IsOwnOrigin("http://localhost:3001", "localhost:8000", {"localhost:3000"}));
  EXPECT_TRUE(IsOwnOrigin("http://box:3001", "localhost:8000", {"box"}));
}

TEST(HttpMessage, EscapesAreDecodedOrRefused) {
  EXPECT_EQ(DecodePercent("a%2Fb+c", false), "a/b+c");
  EXPECT_EQ(DecodePercent("a%2fb+c", true), "a/b c");
  EXPECT_EQ(DecodePercent("%4", true), std::nullopt);
  EXPECT_EQ(DecodePercent("%g0", true), std::nullopt);
}

}  // namespace
}  // namespace hone
