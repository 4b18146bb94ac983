#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/file.h"
#include "support/shared_data.h"
#include "tools/json_schema.h"
#include "tools/mcp/mcp_transport.h"

// What goes over the wire between an MCP client and a server, checked against the protocol's own
// schema.

namespace hone {

// The definitions of a version of the protocol, compiled when they are first needed.
class ProtocolSchema {
 public:
  explicit ProtocolSchema(const std::filesystem::path& file)
      : document_(ParseJson(*ReadFile(file)).value()) {}

  std::string ProblemsOf(const std::string& definition, const Json& value) {
    const std::lock_guard lock(mutex_);
    auto found = compiled_.find(definition);
    if (found == compiled_.end()) {
      Json schema = document_;
      schema.Set("$ref", "#/$defs/" + definition);
      auto compiled = JsonSchema::Compile(schema);
      EXPECT_TRUE(compiled.ok()) << definition << ": " << compiled.error().message();
      found = compiled_.emplace(definition, *std::move(compiled)).first;
    }
    std::string out;
    for (const auto& problem : found->second.Check(value)) out += problem.Text() + "\n";
    return out;
  }

 private:
  std::mutex mutex_;
  const Json document_;
  std::map<std::string, JsonSchema> compiled_;
};

// Looks at every message of a connection and checks it against the schema, where there is one.
class Wire {
 public:
  Wire() {
    if (const auto file = SharedData("data/mcp/schema/2025-11-25/schema.json")) {
      schema_ = std::make_unique<ProtocolSchema>(*file);
    } else {
      std::printf("messages are not checked: the public schema of MCP is not here\n");
    }
  }

  McpConnect Tapped(McpConnect connect);

  void See(const std::string& definition, const Json& message) {
    {
      const std::lock_guard lock(mutex_);
      ++seen_[definition];
    }
    if (schema_ == nullptr) return;
    EXPECT_EQ(schema_->ProblemsOf(definition, message), "") << definition << DumpJson(message);
  }

  int seen(const std::string& definition) {
    const std::lock_guard lock(mutex_);
    return seen_[definition];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> seen_;
  std::unique_ptr<ProtocolSchema> schema_;
};

class TappedTransport final : public McpTransport {
 public:
  TappedTransport(Wire* wire, std::unique_ptr<McpTransport> inner)
      : wire_(wire), inner_(std::move(inner)) {}

  McpOutcome Ask(const JsonRpcRequest& request, const McpLimits& limits) override {
    static const std::map<std::string, std::pair<std::string, std::string>> kDefinitions = {
        {"initialize", {"InitializeRequest", "InitializeResult"}},
        {"tools/list", {"ListToolsRequest", "ListToolsResult"}},
        {"tools/call", {"CallToolRequest", "CallToolResult"}},
        {"tasks/result", {"GetTaskPayloadRequest", "CallToolResult"}}};
    const auto& [asked, answered] = kDefinitions.at(request.method);
    wire_->See(asked, JsonRpcToJson(request));
    McpOutcome outcome = inner_->Ask(request, limits);
    if (const auto* result = std::get_if<Json>(&outcome)) {
      wire_->See("JSONRPCResultResponse", JsonRpcToJson(JsonRpcResponse{request.id, *result}));
      wire_->See(request.params.Find("task") != nullptr ? "CreateTaskResult" : answered, *result);
    } else if (const auto* error = std::get_if<JsonRpcError>(&outcome)) {
      wire_->See("JSONRPCErrorResponse", JsonRpcToJson(JsonRpcErrorResponse{request.id, *error}));
    }
    return outcome;
  }
  Result<void> Tell(const JsonRpcNotification& notification, const McpLimits& limits) override {
    wire_->See("ClientNotification", JsonRpcToJson(notification));
    return inner_->Tell(notification, limits);
  }
  void Post(JsonRpcMessage message) override {
    wire_->See(std::holds_alternative<JsonRpcNotification>(message) ? "CancelledNotification"
                                                                    : "ClientRequest",
               JsonRpcToJson(message));
    inner_->Post(std::move(message));
  }
  void SetVersion(const std::string& version) override { inner_->SetVersion(version); }
  bool alive() const override { return inner_->alive(); }

 private:
  Wire* const wire_;
  const std::unique_ptr<McpTransport> inner_;
};

inline McpConnect Wire::Tapped(McpConnect connect) {
  return [this, connect](McpReceive receive) -> Result<std::unique_ptr<McpTransport>> {
    auto inner = connect([this, receive](const JsonRpcMessage& message) {
      const bool is_request = std::holds_alternative<JsonRpcRequest>(message);
      See(is_request ? "ServerRequest" : "ServerNotification", JsonRpcToJson(message));
      std::optional<JsonRpcMessage> reply = receive(message);
      if (reply) {
        See(std::holds_alternative<JsonRpcResponse>(*reply) ? "JSONRPCResultResponse"
                                                            : "JSONRPCErrorResponse",
            JsonRpcToJson(*reply));
      }
      return reply;
    });
    if (!inner.ok()) return inner.error();
    return std::unique_ptr<McpTransport>(
        std::make_unique<TappedTransport>(this, *std::move(inner)));
  };
}

}  // namespace hone
