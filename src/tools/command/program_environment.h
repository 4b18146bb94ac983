#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// What a program that Hone starts is wanted for. It reads it as the variable HONE_ROLE.
inline constexpr std::string_view kToolsRole = "tools";
inline constexpr std::string_view kRewardRole = "reward";
inline constexpr std::string_view kEnvironmentRole = "environment";

// The environment ("NAME=value") of a program that Hone starts and talks to by lines: `added`,
// which wins, ours if it is to `inherit` it, HONE_ROLE, and PYTHONPATH with Hone's Python package
// behind what stands there. The package is that of this very binary, as long as this process lives
// (docs/decisions/0040-the-python-package-travels-in-the-binary.md).
std::vector<std::string> ProgramEnvironment(std::string_view role,
                                            const std::vector<std::string>& added = {},
                                            bool inherit = true);

// Where Python finds the package: an entry of sys.path. Empty when the system refuses memory files.
std::string PythonPackagePath();

}  // namespace hone
