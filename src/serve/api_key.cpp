#include "serve/api_key.h"

#include <string_view>

#include "serve/request.h"

namespace hone {
namespace {

// Takes the same time whatever of the key is right.
bool SameSecret(std::string_view a, std::string_view b) {
  unsigned char different = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    different |= static_cast<unsigned char>(a[i] ^ b[b.empty() ? 0 : i % b.size()]);
  }
  return different == 0;
}

bool HasKey(const IncomingRequest& request, const std::string& key) {
  if (key.empty()) return true;
  // What Tinker's clients send it in.
  if (SameSecret(request.Header("x-api-key"), key)) return true;
  std::string_view given = request.Header("authorization");
  constexpr std::string_view kBearer = "Bearer ";
  if (!given.starts_with(kBearer)) return false;
  given.remove_prefix(kBearer.size());
  return SameSecret(given, key);
}

}  // namespace

bool IsHealthPath(const std::string& path) { return path == "/health" || path == "/healthz"; }

std::optional<ServerResponse> KeyRefusal(const IncomingRequest& head, const std::string& key) {
  if (IsHealthPath(head.path) || HasKey(head, key)) return std::nullopt;
  return ApiError(401, "the API key is missing or wrong: send it as \"Authorization: Bearer KEY\"",
                  "invalid_api_key");
}

}  // namespace hone
