#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace hone {

// Benchmark data of other projects, which is not part of this repository: ../shared beside the
// checkout, or where HONE_SHARED says. Absent on most machines; tests that need it then skip and
// say so (HONE_NEED_SHARED).
std::optional<std::filesystem::path> SharedData(std::string_view path);

}  // namespace hone

// Declares `path` or skips the test with a sentence that says what is missing.
#define HONE_NEED_SHARED(path, relative)                                                       \
  const auto path##_found = ::hone::SharedData(relative);                                      \
  if (!path##_found) {                                                                         \
    GTEST_SKIP() << "not run: the public benchmark data \"" << (relative)                      \
                 << "\" is not here (set HONE_SHARED to the folder that holds data/)";         \
  }                                                                                            \
  const std::filesystem::path path = *path##_found
