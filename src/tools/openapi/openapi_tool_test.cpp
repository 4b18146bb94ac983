#include "tools/openapi/openapi_tool.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "support/loopback_server.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kYaml[] = R"(
openapi: 3.1.0
info: {title: Notes, version: 1.0}
paths:
  /notes/{id}:
    get:
      operationId: note
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
      responses:
        200: {description: it, content: {application/json: {schema: {type: object}}}}
  /notes:
    post:
      operationId: add_note
      requestBody:
        content: {application/json: {schema: {type: object}}}
)";

std::string Answer(int status, const std::string& body, const std::string& headers = "") {
  return LoopbackServer::Reply(status, headers, body);
}

class OpenApiToolTest : public ::testing::Test {
 protected:
  OpenApiToolTest() {
    options_.file = (folder_.path() / "notes.yaml").string();
    EXPECT_TRUE(WriteFileAtomic(options_.file, kYaml).ok());
  }
  // What a call comes to when the server answers so.
  ToolReply Asked(const std::string& answer, CallLimits limits = {}) {
    LoopbackServer server([&](const LoopbackRequest&) { return answer; });
    options_.base_url = server.url("/api");
    auto toolkit = NewOpenApiToolkit(options_);
    EXPECT_TRUE(toolkit.ok()) << toolkit.error().message();
    ToolReply reply = (*toolkit)->Call("note", Json::Of({{"id", "a b"}}), nullptr, limits);
    requests_ = server.requests();
    return reply;
  }

  TemporaryDirectory folder_;
  OpenApiOptions options_;
  std::vector<LoopbackRequest> requests_;
};

TEST_F(OpenApiToolTest, AsksTheServerAndReturnsItsAnswer) {
  ::setenv("HONE_TEST_TOKEN", "s3cret", 1);
  options_.headers = {"Authorization: env:HONE_TEST_TOKEN", "X-Plain: yes"};
  EXPECT_EQ(Asked(Answer(200, R"({"text":"hi"})")), Answered(R"({"text":"hi"})"));
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].method, "GET");
  EXPECT_EQ(requests_[0].path, "/api/notes/a%20b");
  EXPECT_EQ(requests_[0].headers["authorization"], "s3cret");
  EXPECT_EQ(requests_[0].headers["x-plain"], "yes");
}

TEST_F(OpenApiToolTest, SendsBodies) {
  LoopbackServer server([](const LoopbackRequest&) { return Answer(201, ""); });
  options_.base_url = server.url("");
  const auto toolkit = *NewOpenApiToolkit(options_);
  const Json arguments = Json::Of({{"body", Json::Of({{"text", "é"}})}});
  EXPECT_EQ(toolkit->Call("add_note", arguments, nullptr, {}), Answered(""));
  LoopbackRequest request = server.requests()[0];
  EXPECT_EQ(request.method + " " + request.path, "POST /notes");
  EXPECT_EQ(request.headers["content-type"], "application/json");
  EXPECT_EQ(request.body, "{\"text\":\"é\"}");
}

TEST_F(OpenApiToolTest, StatusesAreTyped) {
  const ToolReply missing = Asked(Answer(404, "no such note"));
  EXPECT_EQ(missing, Refuted("HTTP 404: no such note"));
  const ToolReply busy = Asked(Answer(429, "", "Retry-After: 7\r\n"));
  EXPECT_EQ(busy.status, CallStatus::kUnavailable);
  EXPECT_EQ(busy.blame, Blame::kTool);
  EXPECT_EQ(busy.retry_after, seconds(7));
  EXPECT_TRUE(busy.refused);
  const ToolReply down = Asked(Answer(503, "x", "Retry-After: Wed, 21 Oct\r\n"));
  EXPECT_EQ(down.status, CallStatus::kUnavailable);
  EXPECT_EQ(down.retry_after, std::nullopt);
  EXPECT_FALSE(down.refused);
  EXPECT_EQ(Asked(Answer(401, "")).blame, Blame::kInfrastructure);
  const ToolReply moved = Asked(Answer(302, "", "Location: http://127.0.0.1:1/\r\n"));
  EXPECT_EQ(moved.status, CallStatus::kUnavailable);
  EXPECT_NE(moved.content.find("not followed"), std::string::npos);
  EXPECT_EQ(Asked(Answer(200, "\xff\xfe", "Content-Type: image/png\r\n")),
            Answered("2 bytes that are not text (image/png)"));
  options_.max_body_bytes = 10;
  EXPECT_EQ(Asked(Answer(200, std::string(100, 'x'))).status, CallStatus::kUnavailable);
}

TEST_F(OpenApiToolTest, AServerThatHangsOrIsNotThereIsTyped) {
  EXPECT_EQ(Asked("", {.time = milliseconds(100)}).status, CallStatus::kTimeout);
  EXPECT_EQ(Asked("garbage\r\n\r\n").status, CallStatus::kUnavailable);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(Asked("", {.stop = stop.get_token()}).status, CallStatus::kTimeout);
  options_.base_url = "http://127.0.0.1:1";
  EXPECT_EQ(
      (*NewOpenApiToolkit(options_))->Call("note", Json::Of({{"id", "1"}}), nullptr, {}).status,
      CallStatus::kUnavailable);
}

TEST_F(OpenApiToolTest, OnlyWhatIsWantedBecomesATool) {
  options_.base_url = "http://127.0.0.1:1";
  EXPECT_EQ((*NewOpenApiToolkit(options_))->tools().size(), 2u);
  options_.operations = {"add_note"};
  const auto toolkit = *NewOpenApiToolkit(options_);
  ASSERT_EQ(toolkit->tools().size(), 1u);
  EXPECT_EQ(toolkit->tools()[0].effect, Effect::kWrites);
  options_.operations = {"add_nite"};
  EXPECT_NE(NewOpenApiToolkit(options_).error().message().find("did you mean \"add_note\""),
            std::string::npos);
}

TEST_F(OpenApiToolTest, MistakesAreFoundBeforeTheRun) {
  auto message = [&] {
    const auto toolkit = NewOpenApiToolkit(options_);
    return toolkit.ok() ? "" : toolkit.error().message();
  };
  EXPECT_NE(message().find("set base_url"), std::string::npos);
  options_.base_url = "http://127.0.0.1:1";
  options_.headers = {"X: env:HONE_NO_SUCH_VARIABLE"};
  EXPECT_NE(message().find("HONE_NO_SUCH_VARIABLE"), std::string::npos);
  options_.headers = {"no colon"};
  EXPECT_NE(message().find("Name: value"), std::string::npos);
  options_.headers.clear();
  ASSERT_TRUE(WriteFileAtomic(options_.file, "openapi: 3.1.0\nwebhooks: {}").ok());
  EXPECT_NE(message().find("no operation"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(options_.file, "a: [").ok());
  EXPECT_NE(message().find("notes.yaml: line"), std::string::npos) << message();
  options_.file = "/nowhere/x.json";
  EXPECT_EQ(NewOpenApiToolkit(options_).error().code(), ErrorCode::kNotFound);
}

TEST(OpenApiTool, OptionsAreReadAndChecked) {
  auto recipe = Recipe::Parse("base_url = \"http://x\"\nmax_body_bytes = 0", "tools.toml");
  EXPECT_EQ(ReadOpenApiOptions(recipe->Root()).base_url, "http://x");
  const std::string message = recipe->Finish().error().message();
  EXPECT_NE(message.find("OpenAPI document"), std::string::npos) << message;
  EXPECT_NE(message.find("max_body_bytes"), std::string::npos) << message;
}

TEST_F(OpenApiToolTest, TheServerIsResetBeforeEachTrajectory) {
  LoopbackServer server([](const LoopbackRequest&) { return Answer(200, "{}"); });
  options_.base_url = server.url("/api");
  options_.reset_path = "/reset";
  options_.reset_body = R"({"all":true})";
  const auto toolkit = *NewOpenApiToolkit(options_);
  EXPECT_EQ(toolkit->sharing(), Sharing::kReplay);
  EXPECT_EQ(toolkit->sessions_at_once(), 1);
  EXPECT_EQ(toolkit->tools()[0].resource, "session");
  const Json arguments = Json::Of({{"id", "a"}});
  auto one = *toolkit->Open(7);
  EXPECT_EQ(toolkit->Call("note", arguments, one.get(), {}).status, CallStatus::kOk);
  EXPECT_EQ(toolkit->Call("note", arguments, one.get(), {}).status, CallStatus::kOk);
  // Another has to wait until the first is over.
  const auto two = *toolkit->Open(8);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(toolkit->Call("note", arguments, two.get(), {.stop = stop.get_token()}).status,
            CallStatus::kTimeout);
  one = nullptr;
  EXPECT_EQ(toolkit->Call("note", arguments, two.get(), {}).status, CallStatus::kOk);
  std::vector<std::string> asked;
  for (LoopbackRequest& request : server.requests()) {
    asked.push_back(request.method + " " + request.path + " " + request.headers["x-hone-session"] +
                    request.body);
  }
  const std::vector<std::string> wanted = {"POST /api/reset 7{\"all\":true}", "GET /api/notes/a ",
                                           "GET /api/notes/a ", "POST /api/reset 8{\"all\":true}",
                                           "GET /api/notes/a "};
  EXPECT_EQ(asked, wanted);
}

TEST_F(OpenApiToolTest, AServerThatCannotBeResetIsNotTheAgentsFault) {
  LoopbackServer server([](const LoopbackRequest&) { return Answer(404, "no such page"); });
  options_.base_url = server.url("");
  options_.reset_path = "/reset";
  const auto toolkit = *NewOpenApiToolkit(options_);
  const auto session = *toolkit->Open(7);
  const ToolReply reply = toolkit->Call("note", Json::Of({{"id", "a"}}), session.get(), {});
  EXPECT_EQ(reply.status, CallStatus::kUnavailable);
  EXPECT_EQ(reply.blame, Blame::kTool);
  EXPECT_TRUE(reply.refused);
  EXPECT_EQ(reply.content, "POST /reset: HTTP 404: no such page");
}

// A document at an address, whose servers are on the same host.
TEST_F(OpenApiToolTest, FetchesADocumentByItsAddress) {
  for (const char* format : {"yaml", "json"}) {
    LoopbackServer server([&](const LoopbackRequest& request) {
      if (request.path != "/docs/openapi") return Answer(200, "the note");
      return Answer(200, format == std::string("yaml")
                             ? std::string("servers: [{url: /v2}]") + kYaml
                             : R"({"openapi": "3.1.0", "servers": [{"url": "/v2"}], "paths": {
                                 "/notes/{id}": {"get": {"operationId": "note", "parameters": [
                                 {"name": "id", "in": "path", "required": true,
                                  "schema": {"type": "string"}}], "responses": {}}}}})");
    });
    options_ = {.url = server.url("/docs/openapi"), .headers = {"X-Mine: 7"}};
    auto toolkit = NewOpenApiToolkit(options_);
    ASSERT_TRUE(toolkit.ok()) << toolkit.error().message();
    EXPECT_EQ((*toolkit)->Call("note", Json::Of({{"id", "3"}}), nullptr, {}).content, "the note");
    auto requests = server.requests();
    ASSERT_EQ(requests.size(), 2u);
    EXPECT_EQ(requests[0].headers["x-mine"], "") << "the document is fetched without headers";
    EXPECT_EQ(requests[1].path, "/v2/notes/3");
    EXPECT_EQ(requests[1].headers["x-mine"], "7");
  }
}

TEST_F(OpenApiToolTest, ADocumentThatCannotBeFetchedNamesItsAddress) {
  LoopbackServer server([&](const LoopbackRequest& request) {
    return request.path == "/moved" ? Answer(302, "", "Location: /elsewhere\r\n") : Answer(403, "");
  });
  options_ = {.url = server.url("/secret")};
  const std::string refused = NewOpenApiToolkit(options_).error().message();
  EXPECT_NE(refused.find("/secret: HTTP status 403"), std::string::npos) << refused;
  EXPECT_NE(refused.find("download it and name it as file"), std::string::npos) << refused;
  options_ = {.url = server.url("/moved")};
  EXPECT_NE(NewOpenApiToolkit(options_).error().message().find("redirects to /elsewhere"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
