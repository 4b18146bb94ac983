#pragma once

#include <cstdlib>
#include <filesystem>

namespace hone {

// The small models of tests/golden/models. Where the sources are not (./dev gpu bundle),
// HONE_FIXTURES is what stands for tests/golden.
inline std::filesystem::path GoldenModels() {
  const char* fixtures = std::getenv("HONE_FIXTURES");
  return std::filesystem::path(fixtures != nullptr ? fixtures : HONE_SOURCE_DIR "/tests/golden") /
         "models";
}

}  // namespace hone
