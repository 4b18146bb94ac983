#include "tools/mcp/json_rpc.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

template <typename T>
T Message(std::string_view text) {
  const auto read = ReadJsonRpc(text);
  EXPECT_TRUE(std::holds_alternative<JsonRpcMessage>(read)) << text;
  const auto& message = std::get<JsonRpcMessage>(read);
  EXPECT_TRUE(std::holds_alternative<T>(message)) << text;
  return std::get<T>(message);
}

JsonRpcProblem Problem(std::string_view text) {
  const auto read = ReadJsonRpc(text);
  EXPECT_TRUE(std::holds_alternative<JsonRpcProblem>(read)) << text;
  return std::get<JsonRpcProblem>(read);
}

TEST(JsonRpc, ReadsTheFourKindsOfMessages) {
  const auto request = Message<JsonRpcRequest>(
      R"({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "x"}})");
  EXPECT_EQ(request.id, JsonRpcId(7));
  EXPECT_EQ(request.method, "tools/call");
  EXPECT_EQ(request.params, Json::Of({{"name", "x"}}));
  EXPECT_EQ(Message<JsonRpcRequest>(R"({"jsonrpc":"2.0","id":"a","method":"ping"})").id,
            JsonRpcId("a"));
  EXPECT_EQ(Message<JsonRpcNotification>(R"({"jsonrpc":"2.0","method":"n"})").params, Json());
  EXPECT_EQ(Message<JsonRpcResponse>(R"({"jsonrpc":"2.0","id":1,"result":null})").result, Json());
  const auto failed = Message<JsonRpcErrorResponse>(
      R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?","data":[1]}})");
  EXPECT_EQ(failed.id, std::nullopt);
  EXPECT_EQ(failed.error, (JsonRpcError{-32700, "what?", Json(Json::Array{1})}));
}

TEST(JsonRpc, WhatIsNoMessageIsAProblemThatSaysWhy) {
  EXPECT_NE(Problem("Server listening").message, "");
  EXPECT_EQ(Problem("[]").message, "a message is an object, not an array");
  EXPECT_EQ(Problem(R"({"id":1,"result":{}})").message, "\"jsonrpc\" is not \"2.0\"");
  EXPECT_EQ(Problem(R"({"jsonrpc":"2.0","method":3})").message, "\"method\" is not a text");
  EXPECT_EQ(Problem(R"({"jsonrpc":"2.0","method":"m","params":3})").message,
            "\"params\" is neither an object nor an array");
  EXPECT_EQ(Problem(R"({"jsonrpc":"2.0","method":"m","id":1.5})").message,
            "the \"id\" of a request is neither a whole number nor a text");
  EXPECT_EQ(Problem(R"({"jsonrpc":"2.0","result":{}})").message,
            "a response whose \"id\" names no request");
}

TEST(JsonRpc, AMalformedAnswerStillSaysWhoseItIs) {
  EXPECT_EQ(Problem(R"({"jsonrpc":"2.0","id":5})").id, JsonRpcId(5));
  EXPECT_EQ(Problem(R"({"jsonrpc":"2.0","id":5,"error":{"code":"x"}})").id, JsonRpcId(5));
  EXPECT_EQ(Problem(R"({"jsonrpc":"2.0","id":5,"result":1,"error":{}})").id, JsonRpcId(5));
  // The id of a call is the server's own.
  EXPECT_EQ(Problem(R"({"jsonrpc":"2.0","id":5,"method":"m","result":1})").id, std::nullopt);
}

TEST(JsonRpc, WhatIsWrittenReadsBack) {
  const JsonRpcMessage messages[] = {
      JsonRpcRequest{"q", "m", Json::Of({{"text", "two\nlines"}})},
      JsonRpcNotification{"n", {}},
      JsonRpcResponse{3, Json::Of({})},
      JsonRpcErrorResponse{4, {-1, "no", {}}},
      JsonRpcErrorResponse{std::nullopt, {-1, "no", "why"}},
  };
  for (const JsonRpcMessage& message : messages) {
    const std::string text = WriteJsonRpc(message);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto again = ReadJsonRpc(text);
    ASSERT_TRUE(std::holds_alternative<JsonRpcMessage>(again)) << text;
    EXPECT_EQ(std::get<JsonRpcMessage>(again), message) << text;
  }
}

}  // namespace
}  // namespace hone
