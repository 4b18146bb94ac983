#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

// The folder in which a server finds the weights of a run. It is replaced as a whole before each
// step, so it must be ours.

namespace hone {

// Lies beside the weights, and says that we wrote them. Servers pass over it.
inline constexpr std::string_view kPushedFile = "pushed.json";

// An error where something is there that we did not write: another file, or a folder with anything
// in it but without kPushedFile.
Result<void> CheckPushFolder(const std::filesystem::path& folder);

// Where such a folder is written before it takes the place of the old one: beside it, empty but for
// kPushedFile. What an attempt that was broken off left there is removed; the same check holds.
Result<std::filesystem::path> NewPushFolder(const std::filesystem::path& folder);

// The same folder without a slash at the end.
std::filesystem::path WithoutTrailingSlash(const std::filesystem::path& folder);

}  // namespace hone
