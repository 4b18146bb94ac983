#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"

namespace hone {

// Messages of JSON-RPC 2.0, as MCP uses it: ids are whole numbers or texts, one message per text.

using JsonRpcId = std::variant<int64_t, std::string>;

struct JsonRpcRequest {
  JsonRpcId id;
  std::string method;
  Json params;  // an object or an array; null: none

  bool operator==(const JsonRpcRequest&) const = default;
};

struct JsonRpcNotification {
  std::string method;
  Json params;  // as above

  bool operator==(const JsonRpcNotification&) const = default;
};

struct JsonRpcResponse {
  JsonRpcId id;
  Json result;

  bool operator==(const JsonRpcResponse&) const = default;
};

// What a JSON-RPC error says.
struct JsonRpcError {
  int64_t code = 0;
  std::string message;
  Json data;  // null: none

  bool operator==(const JsonRpcError&) const = default;
};

// Codes that the standard gives a meaning.
inline constexpr int64_t kJsonRpcMethodNotFound = -32601;
inline constexpr int64_t kJsonRpcInvalidParams = -32602;

struct JsonRpcErrorResponse {
  std::optional<JsonRpcId> id;  // absent: the request could not be read
  JsonRpcError error;

  bool operator==(const JsonRpcErrorResponse&) const = default;
};

using JsonRpcMessage =
    std::variant<JsonRpcRequest, JsonRpcNotification, JsonRpcResponse, JsonRpcErrorResponse>;

// Why a text is no message. When it shows whose answer it would have been, `id` says so.
struct JsonRpcProblem {
  std::string message;
  std::optional<JsonRpcId> id;

  bool operator==(const JsonRpcProblem&) const = default;
};

// Any bytes. Members that the standard does not know are passed over.
std::variant<JsonRpcMessage, JsonRpcProblem> ReadJsonRpc(std::string_view text);

Json JsonRpcToJson(const JsonRpcMessage& message);
// On one line, without the end of the line.
std::string WriteJsonRpc(const JsonRpcMessage& message);

}  // namespace hone
