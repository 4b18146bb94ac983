#include "tools/mcp/mcp_secrets.h"

#include <cstdlib>

#include <fmt/format.h>

namespace hone {
namespace {

constexpr std::string_view kReference = "env:";
constexpr std::string_view kBlot = "***";

// Calls `use` with each word and each blank of the text, in order.
template <typename Use>
void ForEachWord(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const size_t size = blank == 0 ? 1 : std::min(blank, text.size());
    use(text.substr(0, size));
    text.remove_prefix(size);
  }
}

}  // namespace

std::optional<std::string> EnvironmentVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

bool HasReference(std::string_view text) {
  bool found = false;
  ForEachWord(text, [&](std::string_view word) { found |= word.starts_with(kReference); });
  return found;
}

Result<std::string> Resolved(std::string_view text, const ReadVariable& read,
                             std::vector<std::string>* secrets) {
  std::string out;
  std::optional<Error> problem;
  ForEachWord(text, [&](std::string_view word) {
    if (!word.starts_with(kReference)) {
      out += word;
      return;
    }
    const std::string name(word.substr(kReference.size()));
    const std::optional<std::string> value = read(name);
    if (!value || value->empty()) {
      problem = Error(ErrorCode::kNotFound,
                      fmt::format("the environment variable \"{}\" is not set; set it before the "
                                  "start",
                                  name));
      return;
    }
    secrets->push_back(*value);
    out += *value;
  });
  if (problem) return *problem;
  return out;
}

std::string Redacted(std::string text, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    if (secret.size() < 4) continue;
    for (size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
      text.replace(at, secret.size(), kBlot);
      at += kBlot.size();
    }
  }
  return text;
}

McpOutcome RedactedErrors(McpOutcome outcome, const std::vector<std::string>& secrets) {
  if (auto* error = std::get_if<JsonRpcError>(&outcome)) {
    error->message = Redacted(std::move(error->message), secrets);
  } else if (auto* result = std::get_if<Json>(&outcome); result != nullptr) {
    const Json* failed = result->Find("isError");
    if (failed == nullptr || *failed != Json(true)) return outcome;
    Result<Json> redacted = ParseJson(Redacted(DumpJson(*result), secrets));
    if (redacted.ok()) *result = *std::move(redacted);
  }
  return outcome;
}

}  // namespace hone
