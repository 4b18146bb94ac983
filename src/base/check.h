#pragma once

#include <string_view>

// CHECK(condition) and CHECK(condition, message): a broken invariant of Hone itself, in every
// build. Prints file, line, condition and message to stderr and aborts. Never for bad input: that
// is a Result. DCHECK is the same in debug builds and compiled, but not evaluated, in release
// builds.

namespace hone::internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message = {});
}  // namespace hone::internal

#define CHECK(condition, ...)   \
  (static_cast<bool>(condition) \
       ? static_cast<void>(0)   \
       : ::hone::internal::CheckFailed(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__))

#ifdef NDEBUG
#define DCHECK(condition, ...) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define DCHECK(condition, ...) CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
