#include "tools/mcp/mcp_tool.h"

#include <fmt/format.h>

#include "tools/json_schema.h"

namespace hone {
namespace {

std::string TextOf(const Json& json, std::string_view key) {
  const Json* value = json.Find(key);
  return value != nullptr && value->is_string() ? value->AsString() : "";
}

bool IsTrue(const Json* json, std::string_view key) {
  const Json* value = json != nullptr ? json->Find(key) : nullptr;
  return value != nullptr && *value == Json(true);
}

Effect EffectOf(const Json* hints) {
  if (IsTrue(hints, "readOnlyHint")) return Effect::kReads;
  if (IsTrue(hints, "destructiveHint") && !IsTrue(hints, "idempotentHint")) {
    return Effect::kIrreversible;
  }
  return Effect::kWrites;
}

// How many bytes a base64 text stands for.
size_t DecodedBytes(std::string_view base64) {
  while (base64.ends_with('=')) base64.remove_suffix(1);
  return base64.size() * 3 / 4;
}

// "image/png, 12 bytes", of what there is.
std::string TypeAndSize(const Json& block, std::string_view bytes_key) {
  std::string out = TextOf(block, "mimeType");
  const Json* bytes = block.Find(bytes_key);
  if (bytes != nullptr && bytes->is_string()) {
    out += fmt::format("{}{} bytes", out.empty() ? "" : ", ", DecodedBytes(bytes->AsString()));
  } else if (bytes != nullptr && bytes->is_integer()) {
    out += fmt::format("{}{} bytes", out.empty() ? "" : ", ", bytes->AsInteger());
  }
  return out.empty() ? out : " (" + out + ")";
}

std::string ResourceText(const Json& resource) {
  const std::string head = "[resource " + TextOf(resource, "uri");
  if (resource.Find("text") != nullptr) {
    const std::string type = TextOf(resource, "mimeType");
    return head + (type.empty() ? "" : " (" + type + ")") + "]\n" + TextOf(resource, "text");
  }
  return head + TypeAndSize(resource, "blob") + "]";
}

std::string BlockText(const Json& block) {
  const std::string type = TextOf(block, "type");
  if (type == "text") return TextOf(block, "text");
  if (type == "image" || type == "audio") return "[" + type + TypeAndSize(block, "data") + "]";
  if (type == "resource") {
    const Json* resource = block.Find("resource");
    return ResourceText(resource != nullptr ? *resource : Json());
  }
  if (type == "resource_link") {
    const std::string description = TextOf(block, "description");
    return fmt::format("[link to resource {} {}{}{}]", TextOf(block, "uri"), TextOf(block, "name"),
                       TypeAndSize(block, "size"), description.empty() ? "" : ": " + description);
  }
  return fmt::format("[content of the unknown type \"{}\"]", type);
}

}  // namespace

Result<ToolSpec> ToolSpecFromMcp(const Json& tool) {
  ToolSpec spec;
  spec.name = TextOf(tool, "name");
  if (spec.name.empty()) {
    return Error(ErrorCode::kUnavailable, "the server lists a tool without a name");
  }
  spec.description = TextOf(tool, "description");
  spec.effect = EffectOf(tool.Find("annotations"));
  const Json* input = tool.Find("inputSchema");
  if (input == nullptr || !input->is_object()) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("the server's tool {} has no \"inputSchema\"", spec.name));
  }
  if (JsonSchema::Compile(*input).ok()) {
    spec.parameters = *input;
  } else {
    spec.parameters = Json::Of({{"type", "object"}});
    spec.description += fmt::format("{}The arguments, by their JSON Schema: {}",
                                    spec.description.empty() ? "" : "\n", DumpJson(*input));
  }
  const Json* output = tool.Find("outputSchema");
  if (output != nullptr && JsonSchema::Compile(*output).ok()) spec.output = *output;
  return spec;
}

bool NeedsTask(const Json& tool) {
  const Json* execution = tool.Find("execution");
  const Json* support = execution != nullptr ? execution->Find("taskSupport") : nullptr;
  return support != nullptr && *support == Json("required");
}

std::string McpResultText(const Json& result, bool has_output_schema) {
  const Json* content = result.Find("content");
  const Json* structured = result.Find("structuredContent");
  const bool has_blocks = content != nullptr && content->is_array() && !content->AsArray().empty();
  const bool is_error = IsTrue(&result, "isError");
  if (structured != nullptr && ((has_output_schema && !is_error) || !has_blocks)) {
    return DumpJson(*structured);
  }
  if (!has_blocks) return "";
  std::string out;
  for (const Json& block : content->AsArray()) {
    if (!out.empty()) out += '\n';
    out += BlockText(block);
  }
  return out;
}

ToolReply ReplyOfMcp(const McpOutcome& outcome, bool has_output_schema) {
  if (const auto* result = std::get_if<Json>(&outcome)) {
    if (!result->is_object()) {
      return Unavailable("the server's answer is " + std::string(result->KindName()) +
                         ", not a result of a call");
    }
    std::string text = McpResultText(*result, has_output_schema);
    return IsTrue(result, "isError") ? Refuted(std::move(text)) : Answered(std::move(text));
  }
  if (const auto* error = std::get_if<JsonRpcError>(&outcome)) {
    if (error->code == kJsonRpcInvalidParams) return Refuted(error->message);
    return Unavailable(
        fmt::format("the server answers with error {}: {}", error->code, error->message));
  }
  const auto& failure = std::get<McpFailure>(outcome);
  ToolReply reply = FromError(failure.error);
  reply.refused = failure.refused;
  reply.retry_after = failure.retry_after;
  return reply;
}

}  // namespace hone
