#include "base/fetch/web_address.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace hone {
namespace {

// "https" of "HTTPS://host/path"; empty where there is none.
std::string SchemeOf(std::string_view address) {
  const size_t end = address.find("://");
  std::string scheme(end == std::string_view::npos ? "" : address.substr(0, end));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return scheme;
}

// "https://host:1234" of an address.
std::string OriginOf(const std::string& address) {
  const size_t host = address.find("://");
  return host == std::string::npos ? "" : address.substr(0, address.find('/', host + 3));
}

}  // namespace

bool IsWebAddress(std::string_view address) {
  const std::string scheme = SchemeOf(address);
  return scheme == "http" || scheme == "https";
}

Result<std::string> RedirectTarget(const std::string& address, std::string_view location) {
  std::string target(location);
  if (target.starts_with("/") && !target.starts_with("//")) target = OriginOf(address) + target;
  const bool weaker = SchemeOf(address) == "https" && SchemeOf(target) != "https";
  if (!IsWebAddress(target) || weaker) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{} leads to \"{}\", which is not followed", address, location));
  }
  return target;
}

}  // namespace hone
