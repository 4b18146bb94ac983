#include "app/models/npm_registry.h"

#include <fmt/format.h>

#include "base/fetch/download.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr std::string_view kNpmsOwn = "https://registry.npmjs.org";

// "@scope" of "@scope/name"; empty: it has none.
std::string ScopeOfPackage(const std::string& package) {
  return package.starts_with("@") ? package.substr(0, package.find('/')) : "";
}

// The value of a line "key=value" or "key = "value"" of an .npmrc; the last one counts.
std::string NpmrcValue(std::string_view text, const std::string& key) {
  std::string value;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || Trim(line.substr(0, equals)) != key) continue;
    value = std::string(Trim(Trim(line.substr(equals + 1)), "\"'"));
  }
  return value;
}

// Mirrors often pass on metadata that names npm's own host: npm asks the mirror then, and so do we.
std::string ThroughRegistry(const std::string& url, const std::string& registry) {
  if (!url.starts_with(kNpmsOwn) || registry == kNpmsOwn) return url;
  return registry + url.substr(kNpmsOwn.size());
}

Error Unreachable(const Error& error, const std::string& package, const std::string& registry) {
  if (error.code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("the registry {} has no package {}; name another one with --registry",
                             registry, package));
  }
  return Error(error.code(),
               fmt::format("{}. Look whether this machine reaches the registry {}; another one, or "
                           "a mirror of your own, is named with --registry",
                           error.message(), registry));
}

}  // namespace

std::string NpmRegistry(const std::string& given, const std::string& package,
                        const EnvironmentVariable& variable) {
  std::string registry = given;
  for (const char* name : {"npm_config_registry", "NPM_CONFIG_REGISTRY"}) {
    if (registry.empty()) registry = variable(name);
  }
  const std::string home = variable("HOME");
  if (registry.empty() && !home.empty()) {
    if (const auto text = ReadFile(std::filesystem::path(home) / ".npmrc"); text.ok()) {
      const std::string scope = ScopeOfPackage(package);
      if (!scope.empty()) registry = NpmrcValue(*text, scope + ":registry");
      if (registry.empty()) registry = NpmrcValue(*text, "registry");
    }
  }
  if (registry.empty()) registry = kNpmsOwn;
  return std::string(TrimRight(registry, "/"));
}

Result<NpmTarball> FindNpmTarball(const std::string& registry, const std::string& package,
                                  const std::string& version) {
  // A scoped name is one segment of the path.
  std::string segment = package;
  if (const size_t slash = segment.find('/'); slash != std::string::npos) {
    segment.replace(slash, 1, "%2f");
  }
  const std::string url = registry + "/" + segment;
  const Result<std::string> text = FetchText(url, "application/vnd.npm.install-v1+json");
  if (!text.ok()) return Unreachable(text.error(), package, registry);
  const Result<Json> json = ParseJson(*text);
  const Json* versions = json.ok() && json->is_object() ? json->Find("versions") : nullptr;
  if (versions == nullptr || !versions->is_object()) {
    return Error(
        ErrorCode::kParse,
        fmt::format("{} does not answer as a registry of npm does; look at --registry", url));
  }
  const Json* one = versions->Find(version);
  const Json* dist = one != nullptr && one->is_object() ? one->Find("dist") : nullptr;
  const Json* tarball = dist != nullptr && dist->is_object() ? dist->Find("tarball") : nullptr;
  if (tarball == nullptr || !tarball->is_string()) {
    return Error(
        ErrorCode::kNotFound,
        fmt::format("the registry {} has no version {} of the package {}; name another one "
                    "with --registry",
                    registry, version, package));
  }
  const Json* integrity = dist->Find("integrity");
  return NpmTarball{ThroughRegistry(tarball->AsString(), registry),
                    integrity != nullptr && integrity->is_string() ? integrity->AsString() : ""};
}

}  // namespace hone
