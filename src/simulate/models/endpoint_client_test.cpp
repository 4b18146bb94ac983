#include "simulate/models/endpoint_client.h"

#include <gtest/gtest.h>

#include "support/chat_server.h"

namespace hone {
namespace {

ToolReply PostTo(const ChatServer& server) {
  const EndpointClient client = EndpointClient::New({server.url() + "/", "tiny", ""}).value();
  return client.Post(Json::Of({{"x", 1}}), {}, [](const EndpointClient::Choice& choice) {
    return Answered(DumpJson(choice.message) + (choice.cut ? " cut" : ""));
  });
}

TEST(EndpointClient, TheFirstChoiceIsRead) {
  ChatServer server([](const ChatServer::Request& request) {
    EXPECT_EQ(request.path, "/v1/chat/completions");
    EXPECT_EQ(request.body, Json::Of({{"x", 1}}));
    return ChatServer::Reply{
        .body = R"({"choices": [{"finish_reason": "length", "message": {"content": "a"}}]})"};
  });
  EXPECT_EQ(PostTo(server).content, R"({"content":"a"} cut)");
}

TEST(EndpointClient, WhoseFaultAStatusIsDecidesWhetherItIsAskedAgain) {
  int status = 429;
  ChatServer server([&](const ChatServer::Request&) {
    return ChatServer::Reply{.status = status, .headers = "Retry-After: 0.5\r\n", .body = "no"};
  });
  const ToolReply busy = PostTo(server);
  EXPECT_TRUE(busy.refused);
  EXPECT_EQ(busy.retry_after, std::chrono::milliseconds(500));
  status = 502;
  EXPECT_EQ(PostTo(server).blame, Blame::kTool);
  status = 404;
  EXPECT_EQ(PostTo(server).blame, Blame::kInfrastructure);
}

TEST(EndpointClient, AnswersThatAreNoCompletionsAreTheEndpointsFault) {
  for (const char* body : {"<html>", "{}", R"({"choices": []})", R"({"choices": [{}]})"}) {
    ChatServer server([&](const ChatServer::Request&) { return ChatServer::Reply{.body = body}; });
    EXPECT_EQ(PostTo(server).status, CallStatus::kUnavailable) << body;
  }
}

}  // namespace
}  // namespace hone
