#include "tools/mcp/json_rpc.h"

#include <fmt/format.h>

namespace hone {
namespace {

using Read = std::variant<JsonRpcMessage, JsonRpcProblem>;

std::optional<JsonRpcId> IdOf(const Json* json) {
  if (json == nullptr) return std::nullopt;
  if (json->is_integer()) return JsonRpcId(json->AsInteger());
  if (json->is_string()) return JsonRpcId(json->AsString());
  return std::nullopt;
}

Json IdToJson(const JsonRpcId& id) {
  return std::visit([](const auto& value) { return Json(value); }, id);
}

Read ReadCall(const Json& json, const Json& method, const Json* id_json,
              const std::optional<JsonRpcId>& id) {
  if (!method.is_string()) return JsonRpcProblem{"\"method\" is not a text", std::nullopt};
  Json params;
  if (const Json* given = json.Find("params")) {
    if (!given->is_object() && !given->is_array()) {
      return JsonRpcProblem{"\"params\" is neither an object nor an array", std::nullopt};
    }
    params = *given;
  }
  if (id_json == nullptr) {
    return JsonRpcMessage(JsonRpcNotification{method.AsString(), std::move(params)});
  }
  if (!id) {
    return JsonRpcProblem{"the \"id\" of a request is neither a whole number nor a text",
                          std::nullopt};
  }
  return JsonRpcMessage(JsonRpcRequest{*id, method.AsString(), std::move(params)});
}

Read ReadErrorResponse(const Json& error, const std::optional<JsonRpcId>& id) {
  const Json* code = error.Find("code");
  const Json* message = error.Find("message");
  if (code == nullptr || !code->is_integer() || message == nullptr || !message->is_string()) {
    return JsonRpcProblem{"\"error\" wants a whole number \"code\" and a text \"message\"", id};
  }
  const Json* data = error.Find("data");
  return JsonRpcMessage(JsonRpcErrorResponse{
      id, {code->AsInteger(), message->AsString(), data != nullptr ? *data : Json()}});
}

}  // namespace

Read ReadJsonRpc(std::string_view text) {
  const Result<Json> parsed = ParseJson(text);
  if (!parsed.ok()) return JsonRpcProblem{parsed.error().message(), std::nullopt};
  const Json& json = *parsed;
  if (!json.is_object()) {
    return JsonRpcProblem{fmt::format("a message is an object, not {}", json.KindName()),
                          std::nullopt};
  }
  const Json* version = json.Find("jsonrpc");
  if (version == nullptr || *version != Json("2.0")) {
    return JsonRpcProblem{"\"jsonrpc\" is not \"2.0\"", std::nullopt};
  }
  const Json* id_json = json.Find("id");
  const std::optional<JsonRpcId> id = IdOf(id_json);
  const Json* method = json.Find("method");
  const Json* result = json.Find("result");
  const Json* error = json.Find("error");
  const int kinds = (method != nullptr) + (result != nullptr) + (error != nullptr);
  if (kinds != 1) {
    // An id of a message that calls is the caller's, not that of a request of ours.
    return JsonRpcProblem{"a message has one of \"method\", \"result\" and \"error\"",
                          method == nullptr ? id : std::nullopt};
  }
  if (method != nullptr) return ReadCall(json, *method, id_json, id);
  if (error != nullptr) return ReadErrorResponse(*error, id);
  if (!id) return JsonRpcProblem{"a response whose \"id\" names no request", std::nullopt};
  return JsonRpcMessage(JsonRpcResponse{*id, *result});
}

Json JsonRpcToJson(const JsonRpcMessage& message) {
  Json json = Json::Of({{"jsonrpc", "2.0"}});
  if (const auto* request = std::get_if<JsonRpcRequest>(&message)) {
    json.Set("id", IdToJson(request->id));
    json.Set("method", request->method);
    if (!request->params.is_null()) json.Set("params", request->params);
  } else if (const auto* notification = std::get_if<JsonRpcNotification>(&message)) {
    json.Set("method", notification->method);
    if (!notification->params.is_null()) json.Set("params", notification->params);
  } else if (const auto* response = std::get_if<JsonRpcResponse>(&message)) {
    json.Set("id", IdToJson(response->id));
    json.Set("result", response->result);
  } else {
    const auto& failed = std::get<JsonRpcErrorResponse>(message);
    json.Set("id", failed.id ? IdToJson(*failed.id) : Json());
    Json error = Json::Of({{"code", failed.error.code}, {"message", failed.error.message}});
    if (!failed.error.data.is_null()) error.Set("data", failed.error.data);
    json.Set("error", std::move(error));
  }
  return json;
}

std::string WriteJsonRpc(const JsonRpcMessage& message) { return DumpJson(JsonRpcToJson(message)); }

}  // namespace hone
