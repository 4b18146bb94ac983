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

// Declares `variable`, the path of `relative`, or skips the test with a sentence that says what is
// missing.
#define HONE_NEED_SHARED(variable, relative)                                           \
  const auto variable##_found = ::hone::SharedData(relative);                          \
  if (!variable##_found) {                                                             \
    GTEST_SKIP() << "not run: the public benchmark data \"" << (relative)              \
                 << "\" is not here (set HONE_SHARED to the folder that holds data/)"; \
  }                                                                                    \
  const std::filesystem::path variable = *variable##_found
