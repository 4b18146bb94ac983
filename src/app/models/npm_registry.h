#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace hone {

// Where packages come from: npm's registry, or the one that npm itself is told to use.

// The value of an environment variable; empty: it is not set.
using EnvironmentVariable = std::function<std::string(const std::string& name)>;

// The address of the registry, without a slash at its end: `given` if there is one, else what
// npm_config_registry or NPM_CONFIG_REGISTRY says, else the line "registry=" of the file .npmrc in
// the home folder, else npm's own. For a package of a scope, the file's "@scope:registry=" comes
// before its "registry=".
std::string NpmRegistry(const std::string& given, const std::string& package,
                        const EnvironmentVariable& variable);

struct NpmTarball {
  std::string url;
  std::string integrity;  // "sha512-..."; empty: the registry does not say
};

// Where the file of one version of a package is, by the registry's metadata. Errors name the
// package and say what to do: the registry cannot be reached, has no such package or version.
Result<NpmTarball> FindNpmTarball(const std::string& registry, const std::string& package,
                                  const std::string& version);

}  // namespace hone
