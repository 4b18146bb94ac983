#include "tools/mcp/mcp_http.h"

#include <gtest/gtest.h>

#include <atomic>

#include "support/loopback_server.h"
#include "tools/mcp/mcp_client.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const McpLimits kPlenty{seconds(20), {}};
constexpr char kJsonType[] = "Content-Type: application/json\r\n";
constexpr char kStreamType[] = "Content-Type: text/event-stream; charset=utf-8\r\n";

std::string ResultFor(const Json& request, Json result) {
  return DumpJson(
      Json::Of({{"jsonrpc", "2.0"}, {"id", *request.Find("id")}, {"result", std::move(result)}}));
}

Json Said(const std::string& text) {
  return Json::Of({{"content", Json::Array{Json::Of({{"type", "text"}, {"text", text}})}}});
}

// A server that behaves, but for how it answers calls. Its session is "s<n>", n counting up.
class Server {
 public:
  using Answer = std::function<std::string(const LoopbackRequest&, const Json& message)>;

  explicit Server(Answer call)
      : call_(std::move(call)), server_([this](const LoopbackRequest& r) { return Reply(r); }) {}

  std::string url() const { return server_.url("/mcp"); }
  std::vector<LoopbackRequest> requests() const { return server_.requests(); }

 private:
  std::string Reply(const LoopbackRequest& request) {
    if (request.method == "DELETE") return LoopbackServer::Reply(200, "", "");
    const Json message = ParseJson(request.body).value();
    const Json* method = message.Find("method");
    if (method != nullptr && *method == Json("initialize")) {
      const std::string session = "Mcp-Session-Id: s" + std::to_string(++sessions_) + "\r\n";
      return LoopbackServer::Reply(
          200, kJsonType + session,
          ResultFor(message,
                    Json::Of({{"protocolVersion", "2025-06-18"},
                              {"capabilities", Json::Of({})},
                              {"serverInfo", Json::Of({{"name", "x"}, {"version", "1"}})}})));
    }
    if (message.Find("id") == nullptr || method == nullptr) {
      return LoopbackServer::Reply(202, "", "");
    }
    return call_(request, message);
  }

  const Answer call_;
  std::atomic<int> sessions_ = 0;
  LoopbackServer server_;
};

McpClient ClientOf(const std::string& url,
                   std::vector<std::pair<std::string, std::string>> headers = {},
                   McpClientOptions client = {}) {
  McpHttpOptions options;
  options.url = url;
  options.headers = headers;
  for (const auto& [name, value] : headers) options.secrets.push_back(value);
  options.max_message_bytes = 100000;
  return McpClient(
      [options](McpReceive receive) { return NewMcpHttp(options, std::move(receive)); }, client);
}

McpOutcome Call(McpClient& client, const McpLimits& limits = kPlenty) {
  return client.CallTool("t", Json::Of({}), limits);
}

std::string TextOf(const McpOutcome& outcome) {
  if (const auto* failure = std::get_if<McpFailure>(&outcome)) return failure->error.message();
  if (const auto* error = std::get_if<JsonRpcError>(&outcome)) return error->message;
  return std::get<Json>(outcome).Find("content")->AsArray().at(0).Find("text")->AsString();
}

const McpFailure& FailureOf(const McpOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<McpFailure>(outcome)) << TextOf(outcome);
  return std::get<McpFailure>(outcome);
}

TEST(McpHttp, EveryRequestSaysSessionVersionAndCredentials) {
  Server server([](const LoopbackRequest&, const Json& message) {
    return LoopbackServer::Reply(200, kJsonType, ResultFor(message, Said("hi")));
  });
  {
    McpClient client = ClientOf(server.url(), {{"Authorization", "Bearer abcdef"}});
    EXPECT_EQ(TextOf(Call(client)), "hi");
    EXPECT_EQ(client.version(), "2025-06-18");
  }
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 4u);  // initialize, initialized, the call, goodbye
  for (const LoopbackRequest& request : requests) {
    EXPECT_EQ(request.path, "/mcp");
    EXPECT_EQ(request.headers.at("authorization"), "Bearer abcdef");
  }
  for (int i : {0, 1, 2}) {
    EXPECT_EQ(requests[i].method, "POST");
    EXPECT_EQ(requests[i].headers.at("accept"), "application/json, text/event-stream");
    EXPECT_EQ(requests[i].headers.at("content-type"), "application/json");
  }
  EXPECT_FALSE(requests[0].headers.contains("mcp-session-id"));
  EXPECT_FALSE(requests[0].headers.contains("mcp-protocol-version"));
  for (int i : {1, 2, 3}) {
    EXPECT_EQ(requests[i].headers.at("mcp-session-id"), "s1");
    EXPECT_EQ(requests[i].headers.at("mcp-protocol-version"), "2025-06-18");
  }
  EXPECT_EQ(requests[3].method, "DELETE");
}

TEST(McpHttp, AStreamOfEventsEndsWithTheAnswer) {
  Server server([](const LoopbackRequest&, const Json& message) {
    const std::string stream =
        ": hello\n\n"
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"
        "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n"
        "data: what?\n\n"
        "event: message\ndata: " +
        ResultFor(message, Said("streamed")) + "\n\n" +
        "data: " + ResultFor(message, Said("again")) + "\n\n";
    // The stream says that more is to come, which does not keep anybody waiting.
    return "HTTP/1.1 200 OK\r\n" + (kStreamType + ("Content-Length: 1000000\r\n\r\n" + stream));
  });
  McpClient client = ClientOf(server.url());
  EXPECT_EQ(TextOf(Call(client)), "streamed");
  EXPECT_EQ(client.list_changes(), 1);
}

TEST(McpHttp, AskedByTheServerItAnswersWithAPostOfItsOwn) {
  Server server([](const LoopbackRequest&, const Json& message) {
    const std::string stream =
        "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\"}\n\ndata: " +
        ResultFor(message, Said("x")) + "\n\n";
    return LoopbackServer::Reply(200, kStreamType, stream);
  });
  McpClient client = ClientOf(server.url());
  EXPECT_EQ(TextOf(Call(client)), "x");
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  bool answered = false;
  while (!answered && std::chrono::steady_clock::now() < deadline) {
    for (const LoopbackRequest& request : server.requests()) {
      answered = answered || request.body == R"({"jsonrpc":"2.0","id":"q","result":{}})";
    }
  }
  EXPECT_TRUE(answered);
}

TEST(McpHttp, AStreamThatEndsWithoutAnAnswerIsAFailure) {
  Server server([](const LoopbackRequest&, const Json&) {
    return LoopbackServer::Reply(200, kStreamType, "data: {\"jsonrpc\":\"2.0\",\n\n");
  });
  McpClient client = ClientOf(server.url());
  const McpOutcome outcome = Call(client);
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kUnavailable);
  EXPECT_NE(TextOf(outcome).find("holds no answer"), std::string::npos);
}

TEST(McpHttp, AMessageThatIsTooLargeIsRefused) {
  Server server([](const LoopbackRequest&, const Json& message) {
    const std::string big = ResultFor(message, Said(std::string(200000, 'x')));
    const bool stream = *message.Find("id") == Json(2);
    return LoopbackServer::Reply(200, stream ? kStreamType : kJsonType,
                                 stream ? "data: " + big + "\n\n" : big);
  });
  McpClient client = ClientOf(server.url());
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(TextOf(Call(client)).find("more than 100000 bytes"), std::string::npos);
  }
}

TEST(McpHttp, RefusedCredentialsNameTheSettingAndDoNotShow) {
  for (const int status : {401, 403}) {
    LoopbackServer server([&](const LoopbackRequest& request) {
      return LoopbackServer::Reply(status, "", "no: " + request.headers.at("authorization"));
    });
    McpClient client = ClientOf(server.url(), {{"Authorization", "Bearer s3cret"}});
    const McpOutcome outcome = Call(client);
    EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(TextOf(outcome).find("headers = [\"Authorization: Bearer env:MY_TOKEN\"]"),
              std::string::npos);
    EXPECT_EQ(TextOf(outcome).find("s3cret"), std::string::npos);
  }
}

TEST(McpHttp, ALostSessionIsBegunAgainAndTheCallRepeated) {
  for (const int status : {404, 400}) {
    Server server([&](const LoopbackRequest& request, const Json& message) {
      if (request.headers.at("mcp-session-id") == "s1") {
        return LoopbackServer::Reply(status, "", "Bad Request: No valid session ID provided");
      }
      return LoopbackServer::Reply(200, kJsonType, ResultFor(message, Said("back")));
    });
    McpClient client = ClientOf(server.url());
    EXPECT_EQ(TextOf(Call(client)), "back");
    EXPECT_EQ(client.connections(), 2);
  }
}

TEST(McpHttp, WithoutRestartALostSessionIsSaidToBeLost) {
  Server server(
      [](const LoopbackRequest&, const Json&) { return LoopbackServer::Reply(404, "", ""); });
  McpClient client = ClientOf(server.url(), {}, {.startup = seconds(20), .restart = false});
  const McpOutcome outcome = Call(client);
  EXPECT_TRUE(FailureOf(outcome).session_lost);
  EXPECT_TRUE(FailureOf(outcome).refused);
}

TEST(McpHttp, ABusyServerSaysWhenToComeBack) {
  struct Case {
    int status;
    const char* header;
    std::optional<milliseconds> after;
    bool refused;
  };
  for (const Case& one :
       {Case{429, "Retry-After: 7\r\n", seconds(7), true},
        Case{503, "Retry-After: 2\r\n", seconds(2), false}, Case{500, "", std::nullopt, false}}) {
    Server server([&](const LoopbackRequest&, const Json&) {
      return LoopbackServer::Reply(one.status, one.header, "overloaded by s3cret");
    });
    McpClient client = ClientOf(server.url(), {{"X-Api-Key", "s3cret"}});
    const McpOutcome outcome = Call(client);
    EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kUnavailable);
    EXPECT_EQ(FailureOf(outcome).retry_after, one.after) << one.status;
    EXPECT_EQ(FailureOf(outcome).refused, one.refused) << one.status;
    EXPECT_NE(TextOf(outcome).find("overloaded by ***"), std::string::npos) << TextOf(outcome);
  }
}

TEST(McpHttp, AnErrorOfTheProtocolComesWithAnyStatus) {
  Server server([](const LoopbackRequest&, const Json& message) {
    return LoopbackServer::Reply(
        400, kJsonType,
        DumpJson(Json::Of({{"jsonrpc", "2.0"},
                           {"id", *message.Find("id")},
                           {"error", Json::Of({{"code", -32602}, {"message", "no such city"}})}})));
  });
  McpClient client = ClientOf(server.url());
  const McpOutcome outcome = Call(client);
  ASSERT_TRUE(std::holds_alternative<JsonRpcError>(outcome)) << TextOf(outcome);
  EXPECT_EQ(std::get<JsonRpcError>(outcome).code, kJsonRpcInvalidParams);
}

TEST(McpHttp, RedirectsWrongAddressesAndClosedPortsAreSaidPlainly) {
  {
    LoopbackServer server([](const LoopbackRequest&) {
      return LoopbackServer::Reply(307, "Location: http://elsewhere.example/mcp\r\n", "");
    });
    McpClient client = ClientOf(server.url(), {{"Authorization", "Bearer s3cret"}});
    const McpOutcome outcome = Call(client);
    EXPECT_NE(TextOf(outcome).find("redirects (status 307) to \"http://elsewhere.example/mcp\""),
              std::string::npos);
    EXPECT_EQ(server.requests().size(), 1u);
  }
  {
    LoopbackServer server(
        [](const LoopbackRequest&) { return LoopbackServer::Reply(404, "", "?"); });
    McpClient client = ClientOf(server.url());
    EXPECT_EQ(FailureOf(Call(client)).error.code(), ErrorCode::kNotFound);
  }
  McpClient client = ClientOf("http://127.0.0.1:1/mcp");
  const McpOutcome outcome = Call(client);
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(FailureOf(outcome).refused);
}

TEST(McpHttp, ACallThatRunsOutOfTimeIsCancelledAtTheServer) {
  Server server([](const LoopbackRequest&, const Json&) { return ""; });
  McpClient client = ClientOf(server.url());
  EXPECT_EQ(FailureOf(Call(client, {milliseconds(1000), {}})).error.code(), ErrorCode::kDeadline);
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  bool cancelled = false;
  while (!cancelled && std::chrono::steady_clock::now() < deadline) {
    for (const LoopbackRequest& request : server.requests()) {
      cancelled =
          cancelled || request.body.find(R"("params":{"requestId":2,"reason":"timed out"})") !=
                           std::string::npos;
    }
  }
  EXPECT_TRUE(cancelled);
}

TEST(McpHttp, TheVersionWithoutAHandshakeRoutesByHeaders) {
  LoopbackServer server([](const LoopbackRequest& request) {
    const Json message = ParseJson(request.body).value();
    if (*message.Find("method") == Json("initialize")) {
      return LoopbackServer::Reply(
          400, kJsonType,
          R"({"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no",)"
          R"("data":{"requested":"2025-11-25","supported":["2026-07-28"]}}})");
    }
    Json result = Said("stateless");
    result.Set("resultType", "complete");
    if (*message.Find("method") == Json("server/discover")) {
      result = Json::Of({{"supportedVersions", Json::Array{"2026-07-28"}}});
    }
    return LoopbackServer::Reply(200, kJsonType, ResultFor(message, result));
  });
  {
    McpClient client = ClientOf(server.url());
    EXPECT_EQ(TextOf(Call(client)), "stateless");
  }
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3u);  // initialize, server/discover, the call; no goodbye
  EXPECT_EQ(requests[1].headers.at("mcp-method"), "server/discover");
  EXPECT_EQ(requests[2].headers.at("mcp-method"), "tools/call");
  EXPECT_EQ(requests[2].headers.at("mcp-name"), "t");
  EXPECT_EQ(requests[2].headers.at("mcp-protocol-version"), "2026-07-28");
  EXPECT_NE(requests[2].body.find("io.modelcontextprotocol/clientInfo"), std::string::npos);
}

TEST(McpHttp, ReadsRetryAfter) {
  EXPECT_EQ(ParseRetryAfter("120", 0), seconds(120));
  EXPECT_EQ(ParseRetryAfter("Thu, 01 Jan 1970 00:01:00 GMT", 20), seconds(40));
  EXPECT_EQ(ParseRetryAfter("Thu, 01 Jan 1970 00:01:00 GMT", 100), seconds(0));
  EXPECT_EQ(ParseRetryAfter("-5", 0), seconds(0));
  EXPECT_EQ(ParseRetryAfter("999999999999", 0), std::chrono::hours(24));
  for (const char* text : {"", "soon", "5 minutes", "99999999999999999999999"}) {
    EXPECT_EQ(ParseRetryAfter(text, 0), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace hone
